#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table published --of placement: the loads of the hints for task placement, on two caches.

Usage: published_placement.py [--seed N] [--governors LIST] [--workloads LIST]. A JSON object a line
for each workload by each placement, as table_programs.py prints it. All CPUs are kept at their
highest frequency, so that nothing but the placement differs.
"""
import contextlib

import guest
import table_programs as programs
import workloads

CLASS = "apart"
PLACEMENTS = ("none", "fork-spread")
GROUPS = WORKERS = (1, 2, 4, 8, 16)
CLIENTS = (1, 2, 4, 8)
MESSAGES = 200000  # of all groups
WORK_US, PAUSE_US, SCHBENCH_MS = 100, 100, 1500
RUN = f"{guest.BUILD}/wakegovctl run --class {CLASS} --"


def hackbench(groups):
    """A group is one sender and one receiver, threads with a pipe: four CPUs are few."""
    return workloads.workload(
        f"hackbench{groups}", "ms", "lower",
        f"{RUN} hackbench -T -p -f 1 -g {groups} -l {MESSAGES // groups}", workloads.hackbench)


def schbench(workers):
    """wakeload is schbench's way to wake: the figure is the 99th percentile of the waits."""
    return workloads.workload(
        f"schbench{workers}", "us", "lower",
        f"{RUN} {guest.BUILD}/tests/lab/wakeload {workers} {WORK_US} {SCHBENCH_MS} {PAUSE_US}",
        lambda text: (float(text.split()[2]), None, None))


def tbench_server():
    return workloads.server([*RUN.split(), "tbench_srv"], workloads.listens(7003))


def tbench(clients):
    return workloads.workload(f"tbench{clients}", "MB/s", "higher",
                             f"{RUN} {workloads.tbench_command(clients, 2)}", workloads.tbench, (),
                             tbench_server)


WORKLOADS = (*map(hackbench, GROUPS), *map(schbench, WORKERS), *map(tbench, CLIENTS))


@contextlib.contextmanager
def placed(name):
    with guest.Daemon(f"[domain]\nmin-frequency = 100%\n[class {CLASS}]\nplacement = {name}\n"):
        yield


if __name__ == "__main__":
    programs.main(WORKLOADS, PLACEMENTS, placed, lambda: placed("none"))
