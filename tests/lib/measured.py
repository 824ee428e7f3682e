# SPDX-License-Identifier: GPL-2.0-only
"""Figures of several starts of the timed machine: kept as CSV, and drawn into a document.

A start is a dictionary of a figure's name and its value; starts are a dictionary of seed and start.
"""
import csv
import json
import pathlib
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent.parent
END = "\n<!--end-->"


def lab(*arguments):
    """What the lab prints, run beside other work; shown on stderr as it comes."""
    command = ["nice", "-n", "5", REPO / "tests/lab/lab", *arguments]
    lines = []
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, cwd=REPO) as process:
        for line in process.stdout:
            sys.stderr.write(line)
            lines.append(line)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return "".join(lines)


def objects(text):
    """The lines that are JSON objects."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def keep(path, starts, names):
    """A start that lacks a figure has nothing there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["figure", *(f"seed {seed}" for seed in starts)])
        rows.writerows([name, *(f"{start[name]:.6g}" if name in start else ""
                                for start in starts.values())] for name in names)


def kept(path):
    """What keep() wrote; no starts where there is no file yet."""
    if not path.exists():
        return {}
    with path.open(encoding="ascii") as file:
        header, *rows = csv.reader(file)
    return {int(seed.split()[1]): {row[0]: float(row[column]) for row in rows if row[column]}
            for column, seed in enumerate(header) if column}


def split(text, name):
    """What is before the table of that name in a document, the table, and what is after it."""
    before, rest = text.split(begin := f"<!--{name}-->\n\n")
    between, after = rest.split(END, 1)
    return before + begin, between, END + after
