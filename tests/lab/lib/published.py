#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table published: tables of published work on cpufreq beside our own figures.

Usage: lab table published [--of LIST] [--runs N] [--seed N] [--governors LIST] [--workloads LIST]

Measures each part of LIST (PARTS, below; by default all) in N starts of the timed machine, keeps
what each start gave in build/published/PART.csv, and writes the tables of
tests/bench/published.md from what is kept. With a list of governors or workloads the others stay as
they are kept.
"""
import argparse
import collections
import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import measured  # noqa: E402
import published_page  # noqa: E402

# On which machine, what is run there, and which fields of the objects that it prints are kept.
Part = collections.namedtuple("Part", "machine script fields")
PARTS = {
    "boost": Part("--arch arm64 --clusters 4x1400x960,2x1800x1024", "published_boost.py",
                  ("iops", "little_mhz", "big_mhz", "uj_per_read", "changes_per_s")),
    "invariance": Part("--driver pstate --turbo 1800,1700,1600,1500 --packages " +
                       os.environ["TABLE_PROGRAMS"], "published_invariance.py",
                       ("figure", "joule_per_work")),
    "placement": Part("--driver pstate --stalls --llcs 2 --packages rt-tests,dbench",
                      "published_placement.py", ("figure",)),
    "crude": Part("--driver pstate", "published_crude.py",
                  ("figure", "mean_mhz", "joule_per_work", "changes_per_s")),
    "caps": Part("--arch arm64 --clusters 4x1400x485,2x1800x800,2x1800x1024", "published_caps.py",
                 ("cap_share", "max_share", "crowd", "p95_us")),
}
RUN_SECONDS = 7200  # of a CPU that one start may take


def start(name, seed, options):
    """All figures of one start: WORKLOAD GOVERNOR FIELD and its value."""
    part = PARTS[name]
    lists = {key: getattr(options, key) for key in ("governors", "workloads")}
    text = measured.lab("run", "--machine", "timed", *part.machine.split(), "--seed", str(seed),
                        "--timeout", str(RUN_SECONDS), "--", "/usr/bin/python3",
                        f"tests/lab/guest/{part.script}", "--seed", str(seed),
                        *(f"--{key}={value}" for key, value in lists.items() if value))
    return {f"{row['workload']} {row['governor']} {field}": row[field]
            for row in measured.objects(text)
            for field in part.fields if row.get(field) is not None}


def measure(name, options):
    path = published_page.kept_path(name)
    starts = measured.kept(path) if options.governors or options.workloads else {}
    for seed in range(options.seed, options.seed + options.runs):
        starts[seed] = starts.get(seed, {}) | start(name, seed, options)
    measured.keep(path, starts, dict.fromkeys(figure for one in starts.values() for figure in one))


def parse():
    parser = argparse.ArgumentParser(prog="lab table published",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--of", default=",".join(PARTS), help="default %(default)s")
    parser.add_argument("--runs", type=int, default=1, help="starts, default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the first, default %(default)s")
    parser.add_argument("--governors", help="only these")
    parser.add_argument("--workloads", help="only these")
    options = parser.parse_args()
    options.of = options.of.split(",")
    if unknown := set(options.of) - set(PARTS):
        parser.error(f"--of {', '.join(sorted(unknown))}: expected some of {', '.join(PARTS)}")
    return options


def main():
    options = parse()
    for name in options.of:
        measure(name, options)
        published_page.write(name)


if __name__ == "__main__":
    main()
