#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Frequencies of domains over time, with reasons: as text for a terminal, or as a gnuplot script.

Input is three CSV files with a header line each:
  changes  seconds,domain,from_khz,to_khz,reason,detail   in the order of time; from_khz may be empty
  phases   start,end,label                                in seconds; the timeline is as long as they
  opps     domain,khz
"""
import argparse
import csv
import signal
import sys

WIDTH = 98
SCALE = 12  # columns left of the picture
MAX_DOMAINS = 4
MAX_ROWS = 8
# At the lowest OPP the last reason may be a trace of utilisation: it is no reason for that one.
LOWEST, OTHER = "lowest", "other"
MARKS = {"io-boost": "#", "chain": "&", "utilisation": "=", LOWEST: "-", OTHER: "+"}
COLOURS = {"io-boost": "#d1495b", "chain": "#2a9d8f", "utilisation": "#30638e", LOWEST: "#8a8a8a",
           OTHER: "#8f6bb3"}


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Segment:
    """A stretch of time in which a domain keeps one frequency, and why it went there."""

    def __init__(self, start, end, khz, reason):
        self.start, self.end, self.khz, self.reason = start, end, khz, reason


class Timeline:
    def __init__(self, changes, phases, opps):
        self.phases = [(float(p["start"]), float(p["end"]), p["label"]) for p in phases]
        self.start, self.end = self.phases[0][0], self.phases[-1][1]
        self.opps = {}
        for row in opps:
            self.opps.setdefault(row["domain"], []).append(int(row["khz"]))
        self.before = [c for c in changes if float(c["seconds"]) < self.start]
        self.changes = [c for c in changes if self.start <= float(c["seconds"]) < self.end]
        busiest = sorted(self.opps, key=lambda d: -sum(c["domain"] == d for c in self.changes))
        self.shown = [d for d in self.opps if d in busiest[:MAX_DOMAINS]]

    def rows(self, domain):
        """The OPPs to draw, highest first; some, evenly chosen, when there are many."""
        opps = sorted(self.opps[domain], reverse=True)
        if len(opps) <= MAX_ROWS:
            return opps
        return [opps[i * (len(opps) - 1) // (MAX_ROWS - 1)] for i in range(MAX_ROWS)]

    def segment(self, domain, start, end, khz, reason):
        if khz == min(self.opps[domain]):
            reason = LOWEST
        return Segment(start, end, khz, reason if reason in MARKS else OTHER)

    def segments(self, domain):
        mine = [c for c in self.changes if c["domain"] == domain]
        earlier = [c for c in self.before if c["domain"] == domain]
        if earlier:
            khz, reason = int(earlier[-1]["to_khz"]), earlier[-1]["reason"]
        elif mine and mine[0]["from_khz"]:
            khz, reason = int(mine[0]["from_khz"]), OTHER
        else:
            khz, reason = min(self.opps[domain]), LOWEST
        start = self.start
        for change in mine:
            yield self.segment(domain, start, float(change["seconds"]), khz, reason)
            start, khz, reason = float(change["seconds"]), int(change["to_khz"]), change["reason"]
        yield self.segment(domain, start, self.end, khz, reason)


def draw_domain(timeline, domain):
    """One line per OPP: the mark of the reason where it held for most of a column's time, and a
    colon where it was only passed."""
    columns = WIDTH - SCALE
    step = (timeline.end - timeline.start) / columns
    rows = timeline.rows(domain)
    grid = [[" "] * columns for _ in rows]
    segments = list(timeline.segments(domain))
    for column in range(columns):
        start = timeline.start + column * step
        time_of = {}
        for segment in segments:
            overlap = min(segment.end, start + step) - max(segment.start, start)
            if overlap > 0:
                row = min(range(len(rows)), key=lambda i, s=segment: abs(rows[i] - s.khz))
                seconds, _ = time_of.get(row, (0, ""))
                time_of[row] = (seconds + overlap, MARKS[segment.reason])
        longest = max(time_of, key=lambda row: time_of[row][0])
        for row, (_, symbol) in time_of.items():
            grid[row][column] = symbol if row == longest else ":"
    yield domain
    for khz, line in zip(rows, grid):
        yield f"{khz / 1000:6.0f} MHz |{''.join(line)}".rstrip()


def draw_axis(timeline):
    columns = WIDTH - SCALE
    per_second = columns / (timeline.end - timeline.start)
    labels, seconds = [" "] * columns, [" "] * columns
    for start, end, label in timeline.phases:
        first = round((start - timeline.start) * per_second)
        room = round((end - timeline.start) * per_second) - first
        labels[first:first + room] = ("|" + label)[:room].ljust(room)
    for second in range(int(timeline.end - timeline.start) + 1):
        text = f"{second} s" if second == 0 else str(second)
        first = round(second * per_second)
        if first + len(text) <= columns:
            seconds[first:first + len(text)] = text
    return " " * SCALE + "".join(labels).rstrip(), " " * SCALE + "".join(seconds).rstrip()


def picture(timeline):
    labels, seconds = draw_axis(timeline)
    legend = ", ".join(f"{mark} {reason}" for reason, mark in MARKS.items())
    yield f"Frequency by time; why it was chosen: {legend}, : shortly"
    yield labels
    for domain in timeline.shown:
        yield from draw_domain(timeline, domain)
    yield seconds
    left_out = len(timeline.opps) - len(timeline.shown)
    if left_out:
        yield f"({left_out} domains that changed less are not drawn.)"


def choose(changes, most):
    """The changes to list: those with most to say. A boost counts more than other reasons, and a
    frequency that stayed more than one that was soon left again."""
    def weight(index):
        change = changes[index]
        following = next((c for c in changes[index + 1:] if c["domain"] == change["domain"]), None)
        stay = float(following["seconds"]) - float(change["seconds"]) if following else 9
        return (change["reason"] == "io-boost") * 0.1 + stay

    return set(sorted(range(len(changes)), key=weight, reverse=True)[:most])


def listing(timeline, most):
    chosen = choose(timeline.changes, most)
    for index, change in enumerate(timeline.changes):
        if index in chosen:
            before = f"{int(change['from_khz']) / 1000:.0f}" if change["from_khz"] else "?"
            line = (f"t={float(change['seconds']):6.3f} s  {change['domain']}  {before:>5} → "
                    f"{int(change['to_khz']) / 1000:4.0f} MHz  {change['reason']}")
            yield f"{line} ({change['detail']})" if change["detail"] else line
    left_out = len(timeline.changes) - len(chosen)
    if left_out:
        yield f"({left_out} of {len(timeline.changes)} changes left out: those that were shortest.)"


def plot_panel(timeline, domain, is_last):
    rows = timeline.rows(domain)
    yield f'set ylabel "{domain}, MHz"'
    yield f"set yrange [0:{rows[0] / 1000 * 1.12:.0f}]"
    yield "set ytics (" + ", ".join(f"{khz / 1000:.0f}" for khz in rows) + ")"
    yield 'set xlabel "seconds"' if is_last else 'unset xlabel'
    segments = list(timeline.segments(domain))
    block = "$" + domain.replace("-", "_")
    for number, reason in enumerate(COLOURS):
        yield f"{block}_{number} << END"
        yield "-1 nan\n"
        for segment in segments:
            if segment.reason == reason:
                yield f"{segment.start:.6f} {segment.khz / 1000}"
                yield f"{segment.end:.6f} {segment.khz / 1000}\n"
        yield "END"
    yield f"{block}_steps << END"
    for segment in segments:
        yield f"{segment.start:.6f} {segment.khz / 1000}\n{segment.end:.6f} {segment.khz / 1000}"
    yield "END"
    plots = [f'{block}_steps with lines lc rgb "#c8c8c8" lw 1 notitle']
    plots += [f'{block}_{number} with lines lc rgb "{colour}" lw 4 notitle'
              for number, colour in enumerate(COLOURS.values())]
    yield "plot " + ", ".join(plots)


def plot_legend(height):
    """In a line of its own: gnuplot's key is of one panel, and wraps below the picture's edge."""
    y = 18 / height
    for number, (reason, colour) in enumerate(COLOURS.items()):
        x = (number + 0.5) / (len(COLOURS) + 0.5)
        yield (f"set arrow from screen {x:.3f},{y:.4f} to screen {x + 0.03:.3f},{y:.4f} nohead lw 4 "
               f'lc rgb "{colour}"')
        yield f'set label "{reason}" at screen {x + 0.04:.3f},{y:.4f} noenhanced'


def gnuplot(timeline, svg, title):
    count = len(timeline.shown)
    bottom, top = 88, 64
    height = bottom + top + 190 * count
    yield (f'set terminal svg size 1000,{height} background rgb "white" font "sans,13"\n'
           f"set output '{svg}'")
    yield "unset key"
    yield f'set multiplot title "{title}" noenhanced'
    yield f"set xrange [{timeline.start}:{timeline.end}]"
    yield "set lmargin 11\nset rmargin 3\nset grid ytics lc rgb '#e4e4e4'\nset border 3\nset tics nomirror"
    for index, domain in enumerate(timeline.shown):
        upper = 1 - (top + 190 * index) / height
        lower = upper - 160 / height
        yield f"set tmargin at screen {upper:.4f}\nset bmargin at screen {lower:.4f}"
        yield "unset arrow\nunset label"
        for start, end, label in timeline.phases:
            if start > timeline.start:
                yield (f"set arrow from {start}, graph 0 to {start}, graph 1 nohead dt 2 "
                       "lc rgb '#777777'")
            if index == 0:
                yield (f'set label "{label}" at {(start + end) / 2}, graph 1.06 center noenhanced '
                       'font ",12"')
        if index == count - 1:
            yield from plot_legend(height)
        yield from plot_panel(timeline, domain, index == count - 1)
    yield "unset multiplot"


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # into head
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("changes")
    parser.add_argument("phases")
    parser.add_argument("opps")
    parser.add_argument("--most", type=int, default=30, help="lines of the listing; default 30")
    parser.add_argument("--gnuplot", metavar="SVG", help="print a gnuplot script that draws SVG")
    parser.add_argument("--title", default="Frequencies by time")
    arguments = parser.parse_args()
    timeline = Timeline(*map(read_csv, (arguments.changes, arguments.phases, arguments.opps)))
    sys.stdout.reconfigure(encoding="utf-8")
    if arguments.gnuplot:
        lines = gnuplot(timeline, arguments.gnuplot, arguments.title)
    else:
        lines = [*picture(timeline), "", *listing(timeline, arguments.most)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
