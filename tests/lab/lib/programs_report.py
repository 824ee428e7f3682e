#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table programs, for people: reads the runs that programs.py printed, from standard input.

Ratios are made within one start of the machine, and are to the better of performance and of the
machine's own governor, for speed and for the 99th percentile of latency; to the own one for energy
per unit of work. Of five starts, the lowest and the highest ratio hold the median with 94 %.
"""
import collections
import csv
import json
import math
import statistics
import sys

# What is to be named: by which ratios of the starts, and how that is said.
MISSES = (("own_speed", lambda ratios: max(ratios) < 1, "slower than the own governor in each start"),
          ("own_p99", lambda ratios: statistics.median(ratios) > 1.1, "a p99 over 1.1 of the own's"),
          ("speed", lambda ratios: statistics.median(ratios) < 0.97, "under 0.97 of the better"),
          ("p99", lambda ratios: statistics.median(ratios) > 1.1, "a p99 over 1.1 of the better's"))
COLUMNS = ("workload", "governor", "figure", "unit", "speed", "p50_us", "p99_us", "p99", "mean_mhz",
           "changes_per_s", "joule", "energy")


def speed(run):
    """The more the better."""
    return run["figure"] if run["better"] == "higher" else 1 / run["figure"]


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def ratios(runs, references):
    """For each start of the machine what a governor has of the references, by what is compared."""
    found = collections.defaultdict(list)
    for run in runs:
        others = [references[run["seed"], name] for name in ("performance", "own")
                  if (run["seed"], name) in references]
        own = references.get((run["seed"], "own"))
        if others:
            found["speed"].append(speed(run) / max(speed(other) for other in others))
            if run["p99_us"]:
                found["p99"].append(run["p99_us"] / min(other["p99_us"] for other in others))
        if own:
            found["own_speed"].append(speed(run) / speed(own))
            if run["p99_us"]:
                found["own_p99"].append(run["p99_us"] / own["p99_us"])
        if own and run["joule_per_work"]:
            found["energy"].append(run["joule_per_work"] / own["joule_per_work"])
    return found


def rows(runs):
    groups = collections.defaultdict(list)
    for run in runs:
        groups[run["workload"], run["governor"]].append(run)
    for (workload, governor), group in groups.items():
        references = {(run["seed"], run["governor"]): run
                      for name in ("performance", "own") for run in groups.get((workload, name), ())}
        row = {column: median(run[column] for run in group)
               for column in ("figure", "p50_us", "p99_us", "mean_mhz", "changes_per_s", "joule")}
        yield {**row, "workload": workload, "governor": governor, "unit": group[0]["unit"],
               "ratios": ratios(group, references)}


def number(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(values):
    if not values:
        return "-"
    text = f"{statistics.median(values):.3f}"
    return text if len(values) == 1 else f"{text} ({min(values):.3f}-{max(values):.3f})"


def cells(row):
    values = {column: row.get(column) for column in COLUMNS}
    for column, value in values.items():
        if column in ("speed", "p99", "energy"):
            values[column] = spread(row["ratios"][column])
        elif not isinstance(value, str):
            values[column] = number(value)
    return [values[column] for column in COLUMNS]


def show(found):
    table = [list(COLUMNS)] + [cells(row) for row in found]
    widths = [max(len(line[i]) for line in table) for i in range(len(COLUMNS))]
    before = None
    for line in table:
        if before not in (None, line[0], COLUMNS[0]):
            print()
        before = line[0]
        print("  ".join(f"{cell:{'<' if i < 2 or i == 3 else '>'}{width}}"
                        for i, (cell, width) in enumerate(zip(line, widths))).rstrip())


def show_findings(found):
    """How each governor does over all workloads."""
    print()
    for governor in dict.fromkeys(row["governor"] for row in found):
        if governor in ("performance", "own"):
            continue
        mine = [row for row in found if row["governor"] == governor]
        energies = [statistics.median(row["ratios"]["energy"]) for row in mine
                    if row["ratios"]["energy"]]
        text = [f"energy {math.exp(statistics.mean(map(math.log, energies))):.3f} of the own "
                "governor's (geometric mean)"] if energies else []
        for column, misses, what in MISSES:
            missed = [f"{row['workload']} {statistics.median(row['ratios'][column]):.3f}"
                      for row in mine if row["ratios"][column] and misses(row["ratios"][column])]
            text.append(f"{what}: {', '.join(missed) or 'none'}")
        print(f"{governor}:", *text, sep="\n  ")


def main():
    runs = [json.loads(line) for line in sys.stdin]
    found = list(rows(runs))
    if sys.argv[1:] == ["--csv"]:
        writer = csv.writer(sys.stdout)
        writer.writerow(COLUMNS)
        writer.writerows(cells(row) for row in found)
        return
    show(found)
    show_findings(found)
    print(f"\nKernel {runs[0]['kernel']}, {runs[0]['driver']}, timed machine, "
          f"{len({run['seed'] for run in runs})} start(s) of it.\n{__doc__.split(chr(10) * 2)[1]}"
          "joule: of the whole command, its start and end included, by the machine's counter.")


if __name__ == "__main__":
    main()
