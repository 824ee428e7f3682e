# SPDX-License-Identifier: GPL-2.0-only
"""For lab table utilisation: governors by rt-app's own method, and with many short processes.

rt-app's method (its examples/cpufreq_governor_efficiency): a thread runs for a while and sleeps for
a while; a governor's efficiency is 100 % if a run takes as long as under performance, and 0 % if
as long as under powersave.
"""
import json
import re
import statistics
import subprocess
import tempfile

import guest

DOMAIN, CPU = "policy0", 1
RUNS = ((10, 100), (30, 100), (100, 200))  # ms of work at 1800 MHz, ms of the period
LOOPS = 12
GOVERNORS = ("performance", "powersave", "schedutil", "wakegov")


def mean_mhz(before, after):
    spent = {khz: after[khz] - before[khz] for khz in after}
    return sum(khz * time for khz, time in spent.items()) / sum(spent.values()) / 1000


def rt_app(directory, calibration_ns, run_ms, period_ms):
    """How long the runs took on average, in ms."""
    thread = {"instance": 1, "cpus": [CPU], "loop": LOOPS, "phases": {
        "sleep": {"loop": 1, "timer": {"ref": "tick", "period": period_ms * 1000}},
        "run": {"loop": 1, "run": run_ms * 1000}}}
    settings = {"default_policy": "SCHED_OTHER", "calibration": calibration_ns, "lock_pages": False,
                "ftrace": False, "logdir": directory, "log_basename": "log", "log_size": 2}
    path = f"{directory}/load.json"
    guest.write(path, json.dumps({"tasks": {"thread": thread}, "global": settings}))
    subprocess.run(["rt-app", path], check=True, stderr=subprocess.DEVNULL)
    lines = guest.read(f"{directory}/log-thread-0.log").splitlines()
    took_us = [int(fields[2]) for fields in (line.split() for line in lines if line[0] != "#")
               if int(fields[1])]
    return statistics.mean(took_us) / 1000


def loop_ns():
    """What a loop of rt-app takes at 1800 MHz. Its own calibration runs as SCHED_FIFO."""
    guess_ns, run_ms = 1000, 10
    with tempfile.TemporaryDirectory() as directory:
        took_ms, _ = under("performance", rt_app, directory, guess_ns, run_ms, 100)
    return round(guess_ns * took_ms / run_ms)


def serial(seconds=3):
    done = subprocess.run([f"{guest.BUILD}/tests/lab/freqload", "serial", "--cycles", "3600000",
                           "--time", str(seconds), "--cpus", "0-1", "--json"], check=True,
                          capture_output=True, text=True)
    return json.loads(re.search(r"{.*}", done.stdout).group(0))["work_per_s"]


def measured(work, *arguments):
    """What work says, and the domain's mean MHz meanwhile."""
    before = guest.time_in_state(DOMAIN)
    result = work(*arguments)
    return result, mean_mhz(before, guest.time_in_state(DOMAIN))


def under(governor, work, *arguments):
    for name in ("policy0", "policy2"):
        guest.write(guest.policy(name, "scaling_governor"),
                    "schedutil" if governor == "wakegov" else governor)
    if governor != "wakegov":
        return measured(work, *arguments)
    with guest.Daemon("[wakegov]\nbackend = setspeed\n"):
        return measured(work, *arguments)


def show_rt_app():
    print("\nrt-app's efficiency: 100 % is as fast as performance, 0 % as slow as powersave")
    found_ns = loop_ns()
    for run_ms, period_ms in RUNS:
        with tempfile.TemporaryDirectory() as directory:
            found = {governor: under(governor, rt_app, directory, found_ns, run_ms, period_ms)
                     for governor in GOVERNORS}
        slow, fast = found["powersave"][0], found["performance"][0]
        for governor, (took_ms, mhz) in found.items():
            print(f"run {run_ms:3} of {period_ms} ms  {governor:12} {took_ms:6.1f} ms a run  "
                  f"{100 * (slow - took_ms) / (slow - fast):4.0f} %   mean {mhz:5.0f} MHz",
                  flush=True)


def show_serial(rounds):
    print("\nOne short process after the other, each 2 ms at 1800 MHz, on CPUs 0-1:")
    found = {governor: [] for governor in GOVERNORS}
    for _ in range(rounds):
        for governor in GOVERNORS:
            found[governor].append(under(governor, serial))
    for governor, results in found.items():
        rates, mhz = zip(*results)
        print(f"{governor:12} {statistics.median(rates):6.1f} processes/s "
              f"({min(rates):.1f} to {max(rates):.1f})   mean {statistics.median(mhz):5.0f} MHz",
              flush=True)


def show(rounds):
    guest.stay_off({0, 1})
    show_rt_app()
    show_serial(rounds)
