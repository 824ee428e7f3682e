#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table placement: tasks that wake one another, with a placement and without, on two caches.

Usage: table_placement.py ROUNDS. Prints figures, and judges none of them. Give lab table --llcs 2
--packages rt-tests. wakeload, as schbench, has its own eyes; of hackbench wakegovd counts the wake-ups
inside a cache, also for a class without a placement that does anything: none is counted then.

Each run is shorter than it takes until the daemon begins to try the placement. A round has one run with
the class and one without, in turn the first; p99 is compared within a round.
"""
import math
import statistics
import subprocess
import sys
import time

import guest

CLASS = "together"
SECONDS = 5
WAKELOADS = ((1, 100), (16, 100))  # workers, us of work
HACKBENCHES = (1, 8)  # groups of a sender and a receiver
COLUMNS = "wake-ups", "p50 us", "p99 us", "inside %"


def run(command, hinted):
    run_as = [f"{guest.BUILD}/wakegovctl", "run", "--class", CLASS, "--"] if hinted else []
    return subprocess.Popen([*run_as, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True)


def wakeload(workers, work_us, hinted):
    command = [f"{guest.BUILD}/tests/lab/wakeload", str(workers), str(work_us), str(SECONDS * 1000), "2"]
    return [float(word) for word in run(command, hinted).communicate()[0].split()]


def hackbench(daemon, pairs):
    """For its end: it works for a while and is ended; what it woke is what the daemon counted."""
    task = run(["hackbench", "-g", str(pairs), "-f", "1", "-l", "10000000", "-s", "100"], True)
    time.sleep(SECONDS)
    group = next(rule["groups"][0] for rule in daemon.call("Rules")["rules"] if rule["groups"])
    subprocess.run(["pkill", "-KILL", "hackbench"], check=False)
    task.wait()
    print(f"hackbench {2 * pairs:3} tasks   inside {(group['inside_permille'] or 0) / 10:5.1f} %   "
          f"{'placed' if group['placed'] else group['why']}", flush=True)


def interval(values):
    """Where the median is with 95 % certainty or more, by ranks; with less, where there are too few."""
    n, below = len(values), 0
    while sum(math.comb(n, i) for i in range(below + 2)) / 2 ** n <= 0.025:
        below += 1
    return sorted(values)[below], sorted(values)[n - 1 - below]


def show(workers, work_us, rounds):
    print(f"\nwakeload {workers} x {work_us} us, medians of {len(rounds)}")
    for hinted in False, True:
        medians = [statistics.median(column) for column in zip(*(pair[hinted] for pair in rounds))]
        print(f"  {'wake-affine' if hinted else '-':<12}" +
              "".join(f"{name:>10} {median:<8g}" for name, median in zip(COLUMNS, medians)))
    ratios = [pair[True][2] / pair[False][2] for pair in rounds]
    print(f"  p99, with / without: {statistics.median(ratios):.2f} "
          f"({interval(ratios)[0]:.2f} to {interval(ratios)[1]:.2f})", flush=True)


def main():
    rounds = {load: [] for load in WAKELOADS}
    with guest.Daemon(f"[class {CLASS}]\nplacement = wake-affine\n") as daemon:
        for i in range(int(sys.argv[1])):
            for load, pairs in rounds.items():
                order = [False, True] if i % 2 else [True, False]
                found = {hinted: wakeload(*load, hinted) for hinted in order}
                pairs.append(found)
                print(f"wakeload {load[0]:3} x {load[1]} us   " + "   ".join(
                    f"{'wake-affine' if hinted else '-'}: {found[hinted]}" for hinted in order), flush=True)
            for pairs in HACKBENCHES:
                hackbench(daemon, pairs)
    for load, pairs in rounds.items():
        show(*load, pairs)


if __name__ == "__main__":
    main()
