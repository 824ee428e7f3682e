#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table references: what full capacity is taken for, and what comes of it.

Usage: table_references.py ROUNDS. A compile with four jobs, which uses all cores, and a player, which
takes a part of one, with each frequency-reference. Work per joule is that of the load and reference
to that of performance. Prints figures, and judges none of them. Give lab table --machine timed
--driver pstate --turbo 1800,1700,1600,1500.
"""
import contextlib
import functools
import statistics
import sys

import guest
import programs_workloads
import table_programs as programs

GOVERNORS = ("performance", "schedutil")
REFERENCES = ("turbo-1c", "turbo-4c", "base", "auto")
LOADS = [programs_workloads.named(name) for name in ("make", "sox")]


def measure(name, rounds, daemon=contextlib.nullcontext):
    """By load: medians of what was measured under the governor, or with the daemon beside the own one."""
    found = {load.name: [] for load in LOADS}
    for seed in range(rounds):
        programs.set_governor(name if name in GOVERNORS else programs.own_governor())
        with daemon():
            for load in LOADS:
                found[load.name].append(programs.measure(load, seed, name))
    return {load: {key: statistics.median(run[key] for run in runs)
                   for key in ("took_s", "mean_mhz", "joule")} for load, runs in found.items()}


def main():
    rounds = int(sys.argv[1])
    programs.set_up(LOADS)
    rows = {name: measure(name, rounds) for name in GOVERNORS}
    for reference in REFERENCES:
        policy = ("[wakegov]\nbackend = setspeed\n[domain]\n"
                  f"frequency-reference = {reference}\n")
        rows[reference] = measure(reference, rounds, functools.partial(guest.Daemon, policy))
    print("load  reference       s    MHz   joule   work per joule")
    for load in LOADS:
        best = rows["performance"][load.name]["joule"]
        for name, row in rows.items():
            run = row[load.name]
            print(f"{load.name:5} {name:<12} {run['took_s']:5.2f} {run['mean_mhz']:6.0f} "
                  f"{run['joule']:7.3f}   {best / run['joule']:.3f}")


if __name__ == "__main__":
    main()
