#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every fault at every step: what was before is back, the rest goes on, one line says it.

A row is a fault and a test, a column a step of a backend; the table comes at the end. Faults are
the machine's own where it can have them (a full or read-only tmpfs, CPUs offline, limits of
resources, another time of day). A call that fails, or the end of the daemon before its n-th change
of a file or a task, is strace's: +N says that it was at each of N calls in turn.
"""
import resource

from matrix import STEPS, reasons, table
from matrix_domains import Domains
from matrix_tasks import Tasks
import tap

BACKENDS = Domains.BACKENDS + Tasks.BACKENDS


def print_table():
    """As it was seen. The tests are other modules', whose ends unittest calls nothing of this one at."""
    rows = {name: getattr(Class, name).__doc__ for Class in (Domains, Tasks) for name in dir(Class)
            if name.startswith("test_")}
    tap.note(f"{'':26}" + "  ".join(f"{name:40}" for name in BACKENDS))
    tap.note(f"{'':26}" + "  ".join("".join(f"{step:8}" for step in STEPS) for _ in BACKENDS))
    for name, row in rows.items():
        cells = ["".join(f"{table.get((name, backend, step), '-'):8}" for step in STEPS)
                 for backend in BACKENDS]
        if any(key[0] == name for key in table):
            tap.note(f"{row:26}" + "  ".join(cells))
    for reason, number in reasons.items():
        tap.note(f"-{number}: {reason}")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        tap.main()
    finally:
        print_table()
