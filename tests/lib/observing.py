# SPDX-License-Identifier: GPL-2.0-only
"""wakegovd on this machine's own kernel events with a made-up cpufreq, watching only; a server."""
import os
import pathlib
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "lab/guest")]
import fake_cpufreq  # noqa: E402
from guest import wait_for  # noqa: E402

PAIR = """
import os, sys, time
there, here = os.pipe(), os.pipe()
if not os.fork():
    os.close(there[1])  # so that it ends with the other
    os.close(here[0])
    os.sched_setaffinity(0, {0})
    while os.read(there[0], 1):
        os.write(here[1], b"x")
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
rate, next_at = float(sys.argv[1]), time.monotonic()
while True:
    os.write(there[1], b"x")
    os.read(here[0], 1)
    next_at = max(next_at + 1 / rate, time.monotonic())
    while time.monotonic() < next_at - 0.001:
        time.sleep(0.001)
"""
# A load ends with who started it, however that ends.
BOUND = ["setpriv", "--pdeathsig", "KILL"]
# Two tasks that wait for each other in turn, 20,000 switches a second, on two CPUs.
SERVER = [*BOUND, sys.executable, "-c", PAIR, "5000"]


def switches():
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("ctxt"))


class Daemon:
    def __init__(self, build, directory):
        self.socket = f"{directory}/run/io.wakegov"
        config = f"{directory}/wakegov.conf"
        with open(config, "w", encoding="utf-8") as file:
            file.write("[wakegov]\nbackend = observe\n")
        self.process = subprocess.Popen(
            fake_cpufreq.command([str(build / "wakegovd"), "--config", config, "--run-dir",
                                  f"{directory}/run"], 2800000),
            stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(self.socket), 20, "wakegovd")
        time.sleep(1)

    def cpu_ns(self):
        with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])

    def woken(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file
                        if line.startswith("voluntary_ctxt_switches"))
