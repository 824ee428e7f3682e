#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A gnuplot script of a table in CSV: for each load what each governor kept of performance's
throughput, against the mean frequency that it took. Good is the upper left corner.

Usage: table_plot.py CSV SVG TITLE [LOAD=WORDS…]: what to call a load instead of by its name.
"""
import csv
import sys

PANEL, MARGIN, HEIGHT = 290, 80, 400
WAKEGOV = 'pt 7 ps 1.1 lc rgb "#cc3311"'


def unique(names):
    return list(dict.fromkeys(names))


def style(governors, governor):
    if governor.startswith("wakegov"):
        return WAKEGOV
    number = governors.index(governor)
    return f"pt {(4, 6, 8, 10, 12, 14, 3)[number % 7]} ps 1.6 lw 2 lc {number + 1}"


def panel(rows, governors, title):
    """Of one load; a load that did not run under performance is compared with the first governor."""
    by_governor = {row["governor"]: row for row in rows}
    base = float(by_governor.get("performance", rows[0])["iops"])
    points = [(governor, float(row["mean_mhz"]), float(row["iops"]) / base)
              for governor, row in by_governor.items()]
    yield f'set title "{title}" noenhanced'
    for number, (_, mhz, kept) in enumerate(points):
        yield f"$p{number} << EOD\n{mhz} {kept}\nEOD"
    yield "plot " + ", ".join(f"$p{number} with points {style(governors, governor)} notitle"
                              for number, (governor, _, _) in enumerate(points))


def legend(governors):
    """gnuplot's own key is as wide as one panel at most."""
    for number, governor in enumerate(governors):
        at = (number + 0.6) / (len(governors) + 0.4)
        yield (f'set label "{governor}" at screen {at:.3f},0.05 offset 1.5,0 noenhanced '
               f"point {style(governors, governor)}")


def script(rows, svg, title, words):
    loads = unique(row["workload"] for row in rows)
    governors = unique(row["governor"] for row in rows)
    width = MARGIN + PANEL * len(loads)
    most = max(float(row["mean_mhz"]) for row in rows)
    yield f'set terminal svg size {width},{HEIGHT} background rgb "white" font "sans,13"'
    yield f'set output "{svg}"'
    yield (f'set multiplot layout 1,{len(loads)} title "{title}" noenhanced '
           f"margins screen {MARGIN / width:.3f},0.98,0.26,0.80 spacing 0.03")
    yield f'set grid\nset xrange [0:{most * 1.1}]\nset xtics {round(most / 400) * 100}'
    yield 'set yrange [0:1.15]\nset xlabel "mean MHz"\nset ylabel "of performance\'s throughput"'
    yield from legend(governors)
    for load in loads:
        yield from panel([row for row in rows if row["workload"] == load], governors,
                         words.get(load, load))
        yield 'unset ylabel\nunset label\nset format y ""'


def main():
    path, svg, title, *words = sys.argv[1:]
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    print("\n".join(script(rows, svg, title, dict(word.split("=", 1) for word in words))))


if __name__ == "__main__":
    main()
