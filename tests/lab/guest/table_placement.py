#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table placement: tasks that wake one another, with a placement and without, on two caches.

Usage: table_placement.py ROUNDS. Prints figures, and judges none of them. Give lab table --llcs 2
--packages rt-tests. wakeload, as schbench, has its own eyes; of hackbench wakegovd counts the wake-ups
inside a cache, also for a class without a placement that does anything: none is counted then.
"""
import subprocess
import sys
import time

import guest

CLASS = "together"
SECONDS = 1.5
WAKELOADS = ((1, 100), (2, 100), (16, 100))  # workers, us of work
HACKBENCHES = (1, 8)  # groups of a sender and a receiver


def run(command, hinted):
    run_as = [f"{guest.BUILD}/wakegovctl", "run", "--class", CLASS, "--"] if hinted else []
    return subprocess.Popen([*run_as, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True)


def wakeload(workers, work_us, hinted):
    command = [f"{guest.BUILD}/tests/lab/wakeload", str(workers), str(work_us), str(int(SECONDS * 1000)),
               "2"]
    n, median, p99, inside = run(command, hinted).communicate()[0].split()
    print(f"wakeload {workers:3} x {work_us:4} us  {'wake-affine' if hinted else '-':<12} {n:>7} "
          f"{median:>6} {p99:>6}  {inside:>5}", flush=True)


def groups(daemon):
    return [group for rule in daemon.call("Rules")["rules"] for group in rule["groups"]]


def hackbench(daemon, pairs):
    """For its end: it works for a while and is ended; what it woke is what the daemon counted."""
    task = run(["hackbench", "-g", str(pairs), "-f", "1", "-l", "10000000", "-s", "100"], True)
    time.sleep(3)
    found = next(iter(groups(daemon)), {})
    subprocess.run(["pkill", "-KILL", "hackbench"], check=False)
    task.wait()
    print(f"hackbench {2 * pairs:3} tasks        {'placed' if found.get('placed') else 'let go':<12} "
          f"{'':>7} {'':>6} {found.get('p99_us') or found.get('p99_without_us') or 0:>6}  "
          f"{(found.get('inside_permille') or 0) / 10:5.1f}  {found.get('why')}", flush=True)


def main():
    print("load                    placement   wake-ups    p50    p99  inside\n"
          "                                               us     us       %")
    for _ in range(int(sys.argv[1])):
        with guest.Daemon(f"[class {CLASS}]\nplacement = wake-affine\n") as daemon:
            for workers, work_us in WAKELOADS:
                for hinted in (False, True):
                    wakeload(workers, work_us, hinted)
            for pairs in HACKBENCHES:
                hackbench(daemon, pairs)


if __name__ == "__main__":
    main()
