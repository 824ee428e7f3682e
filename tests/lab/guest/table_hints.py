#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table hints: requests of a tail-latency task, alone and beside a background build, by each backend.

Usage: table_hints.py ROUNDS. Prints figures, and judges none of them. Give lab table --machine timed. The
build is on the other CPU of the requests' domain, or in the other domain; `above` is the part of the time
in which the domain of the build alone was above the build's cap.
"""
import contextlib
import os
import signal
import subprocess
import sys
import time

import guest
import paced_requests
from table_programs import own_governor, prepare, set_governor
from workloads import WORK, objects

PERIOD_S, N = 0.005, 400
CAP_PERCENT = 40  # of the class background
BESIDE = {"the domain's other CPU": (0, None), "the other domain": (2, "policy2")}
BACKENDS = ("uclamp", "setspeed", "limits")
BUILD = f"cd {WORK}/make; while :; do rm -f *.o *.a; make -s; done"


def run_as(name, command, **options):
    return subprocess.Popen([f"{guest.BUILD}/wakegovctl", "run", "--class", name, "--", *command],
                            start_new_session=True, **options)


def run_tail_latency(command, **options):
    return run_as("tail-latency", command, **options)


@contextlib.contextmanager
def build(cpu, name):
    """By the class of that name, or of none."""
    def pin():
        os.sched_setaffinity(0, {cpu})
    command = ("sh", "-c", BUILD)
    task = (run_as(name, command, preexec_fn=pin) if name else
            subprocess.Popen(command, start_new_session=True, preexec_fn=pin))
    time.sleep(0.5)  # until it is hinted, and what ran before is forgotten
    try:
        yield
    finally:
        os.killpg(task.pid, signal.SIGKILL)
        task.wait()


def capped_khz(name):
    """The lowest OPP at or above the cap, which is of the fastest CPU."""
    opps = sorted(guest.time_in_state(name))
    highest = max(guest.time_in_state("policy0"))
    return next((khz for khz in opps if khz * 100 >= highest * CAP_PERCENT), opps[-1])


def share_above(name, before, after):
    spent = {khz: after[khz] - before[khz] for khz in after}
    return sum(time for khz, time in spent.items() if khz > capped_khz(name)) / sum(spent.values())


def measure(who, where, name, hinted):
    before = guest.time_in_state(name) if name else None
    took_us = paced_requests.serve(PERIOD_S, N, run_tail_latency if hinted else subprocess.Popen)
    above = f"{share_above(name, before, guest.time_in_state(name)):5.3f}" if name else "    -"
    print(f"{who:<12} {where:<24} {paced_requests.percentile(took_us, 50):6.0f} "
          f"{paced_requests.percentile(took_us, 99):6.0f}  {above}", flush=True)


def measure_all(who, hinted):
    measure(who, "alone", None, hinted)
    for where, (cpu, name) in BESIDE.items():
        with build(cpu, "background" if hinted else None):
            measure(who, where, name, hinted)


def main():
    prepare()
    objects()
    subprocess.run(["sh", "-c", f"cd {WORK}/make; make -s"], check=True)
    guest.stay_off({2, 3})
    print("by           build beside                p50    p99  above\n"
          "                                          us     us")
    for _ in range(int(sys.argv[1])):
        set_governor(own_governor())
        measure_all("own", False)
        for backend in BACKENDS:
            set_governor(own_governor())
            with guest.Daemon(f"[wakegov]\nbackend = {backend}\n"):
                measure_all(backend, True)


if __name__ == "__main__":
    main()
