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
          ("p99", lambda ratios: statistics.median(ratios) > 1.1, "a p99 over 1.1 of the better's"),
          ("least", lambda ratios: statistics.median(ratios) > 1.06, "over 1.06 of the least in time"))
IN_TIME = 99  # % of what is due
COLUMNS = ("workload", "governor", "figure", "unit", "speed", "p50_us", "p99_us", "p99", "mean_mhz",
           "changes_per_s", "joule", "energy", "least")


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
        in_time = [other["joule"] for (seed, name), other in references.items()
                   if seed == run["seed"] and name.isdigit() and other["figure"] >= IN_TIME]
        if in_time:
            found["least"].append(run["joule"] / min(in_time))
    return found


def rows(runs):
    groups = collections.defaultdict(list)
    for run in runs:
        groups[run["workload"], run["governor"]].append(run)
    workloads = list(dict.fromkeys(run["workload"] for run in runs))
    for (workload, governor), group in sorted(groups.items(), key=lambda item: workloads.index(item[0][0])):
        references = {(run["seed"], run["governor"]): run
                      for (load, name), others in groups.items() if load == workload for run in others}
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
        if column in ("speed", "p99", "energy", "least"):
            values[column] = spread(row["ratios"][column])
        elif not isinstance(value, str):
            values[column] = number(value)
    return [values[column] for column in COLUMNS]


def print_table(table, left):
    """With an empty line where the first column changes; its columns `left` are not numbers."""
    widths = [max(map(len, column)) for column in zip(*table)]
    before = None
    for line in table:
        if before not in (None, line[0], table[0][0]):
            print()
        before = line[0]
        print("  ".join(f"{cell:{'<' if i in left else '>'}{width}}"
                        for i, (cell, width) in enumerate(zip(line, widths))).rstrip())


def mean_energy(ratios_of_workloads):
    """Geometric, of the medians; None without a counter of energy."""
    energies = [statistics.median(one["energy"]) for one in ratios_of_workloads if one["energy"]]
    return f"{math.exp(statistics.mean(map(math.log, energies))):.3f}" if energies else None


def show_findings(found):
    """How each governor does over all workloads."""
    print()
    for governor in dict.fromkeys(row["governor"] for row in found):
        if governor in ("performance", "own"):
            continue
        mine = [row for row in found if row["governor"] == governor]
        energy = mean_energy(row["ratios"] for row in mine)
        text = [f"energy {energy} of the own governor's (geometric mean)"] if energy else []
        for column, misses, what in MISSES:
            missed = [f"{row['workload']} {statistics.median(row['ratios'][column]):.3f}"
                      for row in mine if row["ratios"][column] and misses(row["ratios"][column])]
            text.append(f"{what}: {', '.join(missed) or 'none'}")
        print(f"{governor}:", *text, sep="\n  ")


def worst_p99(ratios_of_workloads):
    found = {name: median(one["p99"]) for name, one in ratios_of_workloads.items() if one["p99"]}
    name = max(found, key=found.get, default=None)
    return f"{found[name]:.2f} {name}" if name else "-"


def by_driver(runs):
    """The same programs under several drivers: what each governor has of the better one's speed."""
    names = list(dict.fromkeys(run["workload"] for run in runs))
    yield ["driver", "governor", *names, "energy", "worst p99"]
    for driver in dict.fromkeys(run["driver"] for run in runs):
        found = {(row["workload"], row["governor"]): row["ratios"]
                 for row in rows([run for run in runs if run["driver"] == driver])}
        for governor in dict.fromkeys(name for _, name in found):
            mine = {name: found[name, governor] for name in names}
            yield [driver, governor, *(spread(one["speed"]) for one in mine.values()),
                   mean_energy(mine.values()) or "-", worst_p99(mine)]


def main():
    runs = [json.loads(line) for line in sys.stdin]
    drivers = list(dict.fromkeys(run["driver"] for run in runs))
    found = list(rows(runs))
    table = [list(COLUMNS)] + [cells(row) for row in found]
    if len(drivers) > 1:
        table = list(by_driver(runs))
    if sys.argv[1:] == ["--csv"]:
        csv.writer(sys.stdout).writerows(table)
        return
    print_table(table, left=(0, 1, 3) if len(drivers) == 1 else (0, 1))
    if len(drivers) == 1:
        show_findings(found)
    print(f"\nKernel {runs[0]['kernel']}, {', '.join(drivers)}, timed machine, "
          f"{len({run['seed'] for run in runs})} start(s) of it.\n{__doc__.split(chr(10) * 2)[1]}"
          "joule: of the whole command, its start and end included, by the machine's counter.")


if __name__ == "__main__":
    main()
