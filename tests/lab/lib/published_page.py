# SPDX-License-Identifier: GPL-2.0-only
"""The tables of tests/bench/published.md, from what was published and what was measured.

A figure is the median of its starts; of several, the lowest and the highest follow, which of five
hold the median with 94 %. After each table come its goals, and what misses them.
"""
import csv
import pathlib
import statistics
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import measured  # noqa: E402

BENCH = TESTS / "bench"
PAGE = BENCH / "published.md"


def kept_path(name):
    return TESTS.parent / "build/published" / f"{name}.csv"


def published(name):
    with open(BENCH / "data" / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


class Figures:
    """What the starts of a part gave, by workload, governor and field."""

    def __init__(self, starts):
        self.starts = starts
        names = [name.split() for start in starts.values() for name in start]
        self.workloads = list(dict.fromkeys(workload for workload, _, _ in names))
        self.governors = list(dict.fromkeys(governor for _, governor, _ in names))

    def values(self, workload, governor, field):
        name = f"{workload} {governor} {field}"
        return [start[name] for start in self.starts.values() if name in start]

    def has(self, workload, field, *governors):
        return all(self.values(workload, governor, field) for governor in governors)

    def median(self, workload, governor, field):
        return statistics.median(self.values(workload, governor, field))

    def ratios(self, workload, governor, base, field):
        """To the base's of the same start."""
        mine, bases = (f"{workload} {one} {field}" for one in (governor, base))
        return [start[mine] / start[bases] for start in self.starts.values()
                if mine in start and bases in start]

    def shown(self, workload, governor, field, form, factor=1):
        return shown([factor * value for value in self.values(workload, governor, field)], form)

    def shown_all(self, workload, governor, fields, factor=1):
        """fields: each with its form."""
        cells = [self.shown(workload, governor, field, form, factor) for field, form in fields]
        return NONE if set(cells) == {NONE} else "; ".join(cells)


NONE = "–"  # not measured


def shown(values, form):
    if not values:
        return NONE
    text = f"{statistics.median(values):{form}}"
    return text if len(values) == 1 else f"{text} ({min(values):{form}} to {max(values):{form}})"


def percent(share, digits=1):
    return f"{100 * share:.{digits}f} %"


def table(header, rows):
    return "\n".join([f"| {' | '.join(header)} |", "|---" * len(header) + "|",
                      *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def goal(what, figures, fits, form):
    """figures: of each row; fits: whether that reaches the goal."""
    misses = [f"{row} {form(figure)}" for row, figure in figures.items() if not fits(figure)]
    said = "not measured"
    if figures:
        said = f"reached in {len(figures) - len(misses)} of {len(figures)}"
    return f"- {what}: {said}{'; **missed**: ' if misses else ''}{', '.join(misses)}.\n"


def command(figures, name):
    runs = len(figures.starts)
    return (f"\n`sudo tests/lab/lab table published --of {name} --runs {runs}`: "
            f"{'one start' if runs == 1 else f'medians of {runs} starts'} of the machine.\n\n")


BOOST_GOVERNORS = ("performance", "powersave", "schedutil", "wakegov")
BOOST_FIELDS = (("little_mhz", ".0f"), ("big_mhz", ".0f"), ("uj_per_read", ".0f"),
                ("changes_per_s", ".0f"))
FITTED = ("performance", "powersave")
KEPT_OUT = ("psyncx8", "psyncx10", "io_uring1x1")  # of the fit
FIT, BETTER = 0.10, 0.99
WASTE, WASTE_MHZ = "io_uring6x128", 400


def fit_of_boost(figures, rows, governor):
    """How well the device gives a column that it was fitted to."""
    off = {name: figures.median(name, governor, "iops") / float(row[governor]) - 1
           for name, row in rows.items() if figures.has(name, "iops", governor)}
    out = ", ".join(f"{name} {percent(off[name])}" for name in KEPT_OUT if name in off)
    return goal(f"the disk under {governor}, within {percent(FIT, 0)} of what was published "
                f"(kept out of the fit: {out})", off, lambda error: abs(error) <= FIT, percent)


def better_of_boost(figures, rows):
    """Of each row wakegov's share of the better of performance and schedutil."""
    others = ("performance", "schedutil")
    return {name: min(figures.median(name, "wakegov", "iops") / figures.median(name, other, "iops")
                      for other in others)
            for name in rows if figures.has(name, "iops", "wakegov", *others)}


def draw_boost(figures):
    rows = {row["workload"]: row for row in published("rk3399-nvme")}
    text = table(
        ["reads/s", "published: schedutil", "per-task boost", *FITTED,
         *(f"here: {governor}" for governor in BOOST_GOVERNORS)],
        [[name, *(row[column] for column in ("schedutil", "proposal", *FITTED)),
          *(figures.shown(name, governor, "iops", ".0f") for governor in BOOST_GOVERNORS)]
         for name, row in rows.items()])
    text += "\n" + table(
        ["MHz of the little, the big CPUs; µJ a read; changes/s", *BOOST_GOVERNORS],
        [[name, *(figures.shown_all(name, governor, BOOST_FIELDS) for governor in BOOST_GOVERNORS)]
         for name in rows])
    text += command(figures, "boost")
    text += "".join(fit_of_boost(figures, rows, governor) for governor in FITTED)
    text += goal(f"wakegov has {BETTER} of the better of performance and schedutil",
                 better_of_boost(figures, rows), lambda share: share >= BETTER, "{:.3f}".format)
    mhz = {cpus: figures.median(WASTE, "wakegov", f"{cpus}_mhz") for cpus in ("little", "big")
           if figures.has(WASTE, "iops", "wakegov")}
    return text + goal(f"wakegov has {WASTE} at {WASTE_MHZ} MHz", mhz,
                       lambda value: value <= 1.01 * WASTE_MHZ, "{:.0f} MHz".format)


LESS_IS_BETTER = ("make", "gitsource", "hackbench")  # ms
AS_GOOD, LEAST = 0.99, {"tbench1": 3, "gitsource": 1.5}
PUBLISHED_GOVERNORS = ("1C", "4C", "I_PSTATE")
# By clients or jobs, on machines of 48, 80 and 8 CPUs; the others are the summary's, of 8 CPUs.
DETAILED = {"tbench": "invariance-tbench", "make": "invariance-kernbench",
            "gitsource": "invariance-gitsource"}
COLUMNS = {"1C": ("1C-turbo",), "4C": ("4C-turbo",),
           "I_PSTATE": ("intel_pstate", "intel_pstate/hwp")}
SUMMARISED = {"dbench4": "dbench4", "pgbench-read": "pgbench-ro", "pgbench-write": "pgbench-rw",
              "netperf-tcp": "netperf-tcp", "netperf-udp": "netperf-udp"}


def detailed(name, number, governor):
    """Of the base; None where there is none."""
    for row in published(DETAILED[name]):
        if row["n"] == (number or "1"):
            value = next(float(row[column]) for column in COLUMNS[governor] if column in row)
            return value / float(row["vanilla"])
    return None


def summarised(benchmark, governor):
    for row in published("invariance-summary"):
        if row["benchmark"] == benchmark:
            return float(row[governor])
    return None


def published_ratios(workload):
    """Of the base, the more the better; empty where there is none."""
    name = workload.rstrip("0123456789")
    for governor in PUBLISHED_GOVERNORS:
        ratio = detailed(name, workload.removeprefix(name), governor) if name in DETAILED else \
            summarised(SUMMARISED.get(workload), governor)
        if ratio and workload.startswith(LESS_IS_BETTER):
            ratio = 1 / ratio
        yield f"{ratio:.2f}" if ratio else ""


def rates(figures, workload, governor, base):
    ratios = figures.ratios(workload, governor, base, "figure")
    return [1 / ratio for ratio in ratios] if workload.startswith(LESS_IS_BETTER) else ratios


def draw_invariance(figures):
    governors = [name for name in figures.governors if name != "base"]
    rows = []
    for workload in figures.workloads:
        cells = [workload, *published_ratios(workload)]
        for governor in governors:
            energies = figures.ratios(workload, governor, "base", "joule_per_work")
            cells.append(f"{shown(rates(figures, workload, governor, 'base'), '.2f')}; "
                         f"{shown([1 / energy for energy in energies], '.2f')}")
        rows.append(cells)
    text = table(["rate; work per joule", "published: 1C", "4C", "powersave", *governors], rows)
    text += command(figures, "invariance")
    of_others = {}
    for workload in figures.workloads:
        others = [statistics.median(ratios) for other in figures.governors if other != "wakegov"
                  and (ratios := rates(figures, workload, "wakegov", other))]
        if others:
            of_others[workload] = min(others)
    text += goal(f"wakegov has {AS_GOOD} of each other governor", of_others,
                 lambda share: share >= AS_GOOD, "{:.3f}".format)
    for workload, least in LEAST.items():
        ratios = rates(figures, workload, "wakegov", "own")
        text += goal(f"wakegov has {least} times schedutil's rate in {workload}",
                     {workload: statistics.median(ratios)} if ratios else {},
                     lambda ratio, least=least: ratio >= least, "{:.2f}".format)
    return text


CLUSTERS = ("little", "mid", "big")
CAPS_FIELDS = (("cap_share", ".1f"), ("max_share", ".1f"))
LEAST_CAPPED, MOST_HIGHEST, MOST_LATENCY = 0.97, 0.005, 1.05


def goals_of_caps(figures, governor):
    capped, highest = ({cluster: figures.median(cluster, governor, field) for cluster in CLUSTERS}
                       for field in ("cap_share", "max_share"))
    slower = {burst: statistics.median(ratios) for burst in figures.workloads
              if (ratios := figures.ratios(burst, governor, "schedutil", "p95_us"))}
    return "".join((
        goal(f"{governor}: {percent(LEAST_CAPPED, 0)} of the time at or below the capped OPP",
             capped, lambda share: share >= LEAST_CAPPED, percent),
        goal(f"{governor}: at most {percent(MOST_HIGHEST)} at the highest", highest,
             lambda share: share <= MOST_HIGHEST, percent),
        goal(f"{governor}: p95 at most {MOST_LATENCY} of schedutil's", slower,
             lambda ratio: ratio <= MOST_LATENCY, "{:.2f}".format)))


def draw_caps(figures):
    known = {(row["cluster"], row["opp"]): row for row in published("uclamp-max-residency")}
    rows = []
    for cluster in CLUSTERS:
        cells = ["; ".join(f"{float(known[cluster, opp][column]):.1f}" for opp in ("cap", "max"))
                 for column in ("baseline_pct", "proposal_pct")]
        cells += [figures.shown_all(cluster, governor, CAPS_FIELDS, 100)
                  for governor in figures.governors]
        rows.append([f"{cluster} CPUs: % of the time at or below the capped OPP; at the highest",
                     *cells])
    rows.append(["of the eight tasks, most on one CPU: mean of looks", "", "",
                 *(figures.shown("browser", governor, "crowd", ".1f")
                   for governor in figures.governors)])
    for burst in figures.workloads:
        if burst.startswith("burst"):
            rows.append([f"bursts of {burst.removeprefix('burst')} µs: p95, µs", "", "",
                         *(figures.shown(burst, governor, "p95_us", ".0f")
                           for governor in figures.governors)])
    text = table(["", "published: max-aggregation", "without", *figures.governors], rows)
    return text + command(figures, "caps") + "".join(
        goals_of_caps(figures, governor) for governor in figures.governors
        if governor != "schedutil")


SPREAD = "fork-spread"
DOUBT, LET_GO = 0.03, 1.1


def published_spread(workload):
    """How many times as much as with no hint; None: it was not published."""
    for row in published("placement-2022"):
        if row["benchmark"] + row["row"] == workload:
            return float(row[SPREAD]) / float(row["no-hint"])
    return None


def gain(workload, ratio):
    """How many times as good: of hackbench and schbench a time, of tbench what is done in one."""
    return ratio if workload.startswith("tbench") else 1 / ratio


def draw_placement(figures):
    rows, gains, losses = [], {}, {}
    for workload in figures.workloads:
        known = published_spread(workload)
        ratios = figures.ratios(workload, SPREAD, "none", "figure")
        rows.append([workload, f"{known:.2f}" if known else "",
                     figures.shown(workload, "none", "figure", ".4g"),
                     figures.shown(workload, SPREAD, "figure", ".4g"), shown(ratios, ".2f")])
        if ratios:
            ours = gain(workload, statistics.median(ratios))
            losses[workload] = 1 / ours
            if known and gain(workload, known) > 1 + DOUBT:
                gains[workload] = ours
    text = table(["", f"published: {SPREAD}, of none", "here: none", SPREAD, "of none"], rows)
    text += command(figures, "placement")
    text += goal(f"better than with none where that was published, by more than {percent(DOUBT, 0)}",
                 gains, lambda good: good > 1, "{:.2f}".format)
    return text + goal(f"at most {LET_GO} times as bad as with none", losses,
                       lambda bad: bad <= LET_GO, "{:.2f}".format)


CRUDE_FIELDS = (("mean_mhz", ".0f"), ("changes_per_s", ".0f"))


def draw_crude(figures):
    rows = []
    for workload in figures.workloads:
        cells = [workload, figures.shown(workload, "powersave", "figure", ".0f")]
        for governor in figures.governors:
            if governor != "powersave":
                cells.append("; ".join(
                    [*(shown(figures.ratios(workload, governor, "powersave", field), ".3f")
                       for field in ("figure", "joule_per_work")),
                     figures.shown_all(workload, governor, CRUDE_FIELDS)]))
        rows.append(cells)
    others = [governor for governor in figures.governors if governor != "powersave"]
    text = table(["requests/s, J each, of powersave's; MHz; changes/s", "powersave: requests/s", *others], rows)
    text += command(figures, "crude")
    shares = {workload: min(statistics.median(figures.ratios(workload, "wakegov", other, "figure"))
                            for other in ("performance", "own"))
              for workload in figures.workloads
              if figures.has(workload, "figure", "wakegov", "performance", "own")}
    return text + goal(f"wakegov has {AS_GOOD} of the better of performance and schedutil", shares,
                       lambda share: share >= AS_GOOD, "{:.3f}".format)


DRAW = {"boost": draw_boost, "invariance": draw_invariance, "placement": draw_placement,
        "caps": draw_caps, "crude": draw_crude}


def drawn(name):
    return DRAW[name](Figures(measured.kept(kept_path(name))))


def write(name):
    before, _, after = measured.split(PAGE.read_text(encoding="utf-8"), name)
    PAGE.write_text(before + drawn(name) + after, encoding="utf-8")
