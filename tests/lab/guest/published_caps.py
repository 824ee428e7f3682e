#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table published --of caps: a capped loop on each CPU of three clusters, beside a browser.

Usage: published_caps.py [--seed N] [--governors LIST]. A JSON object a line: for each governor and
cluster the shares of the time at or below the capped OPP and at the highest one; for each governor
and length of burst of the browser-like load the 95th percentile of its latency. A governor is
schedutil, whose caps are uclampset's, or wakegov_BACKEND, whose caps are a rule's. +KEY=VALUE adds
a line to [caps], +response=TIME a rule for the browser-like load, +nice=N makes the loops nice.
"""
import argparse
import collections
import contextlib
import glob
import json
import statistics
import time

import guest
import table_caps as caps
import table_programs as programs

CAP = 25  # per cent of the fastest CPU: 1000 MHz on a little CPU, 600 on the others
CLUSTERS = ("little", "mid", "big")  # by capacity
# A browser's frames at 60 Hz: tasks that work for so long at the fastest CPU's highest frequency,
# and are free to run anywhere. None is long enough to raise a cap by itself.
FRAME_US = 16667
BURSTS_US = (200, 470, 730, 1000)
THREADS = 2
SECONDS, LOOKS = 2, 10
GOVERNORS = ("schedutil,wakegov_uclamp,wakegov_setspeed,wakegov_limits,wakegov_setspeed+nice=19,"
             "wakegov_auto+burst-margin=0us,wakegov_auto+response=3ms")


def by_capacity():
    """The domains from little to big."""
    return sorted(programs.policies(), key=lambda name: guest.capacity(guest.cpus_of(name)[0]))


def capped_khz(name):
    """The lowest OPP at or above the cap."""
    opps, capacity = caps.opps(name), guest.capacity(guest.cpus_of(name)[0])
    return next(khz for khz in opps if khz * capacity >= CAP / 100 * 1024 * opps[-1])


def browser():
    return {busy_us: guest.start_load(
        "periodic", "--period-us", str(FRAME_US), "--busy-cycles",
        str(busy_us * caps.HIGHEST_MHZ), "--threads", str(THREADS), "--margin-ms", "300", "--time",
        str(SECONDS), "--json") for busy_us in BURSTS_US}


def crowd(loads):
    """The most threads of the loads whose CPU, where they ran last, is the same: mean of looks."""
    paths = [path for load in loads for path in glob.glob(f"/proc/{load.pid}/task/*/stat")
             if not path.endswith(f"/{load.pid}/stat")]
    most = []
    for _ in range(LOOKS):
        time.sleep(SECONDS / (LOOKS + 1))
        cpus = [guest.read(path).rpartition(")")[2].split()[36] for path in paths]
        most.append(max(collections.Counter(cpus).values()))
    return statistics.mean(most)


def policy(backend, options):
    """Of wakegovd, where +nice is none of its business."""
    text = f"[wakegov]\nbackend = {backend}\n[rule capped]\ncomm = cap{CAP}\ncap = {CAP}%\n"
    for key, value in options.items():
        if key != "nice":
            section = "[rule browser]\ncomm = freqload\n" if key == "response" else "[caps]\n"
            text += f"{section}{key} = {value}\n"
    return text


def measure(governor):
    names = by_capacity()
    guest.set_governor("schedutil")
    kernels, *options = governor.removeprefix("wakegov_").split("+")
    options = dict(option.split("=") for option in options)
    by_kernel = kernels == "schedutil"
    daemon = contextlib.nullcontext() if by_kernel else guest.Daemon(policy(kernels, options))
    loops = {cpu: CAP for name in names for cpu in guest.cpus_of(name)}
    with daemon, caps.capped_loops(loops, by_kernel, int(options.get("nice", 0))):
        time.sleep(0.5)
        loads = browser()
        next(iter(loads.values())).stdout.readline()  # begin
        before = {name: guest.time_in_state(name) for name in names}
        crowded = crowd(loads.values())
        next(iter(loads.values())).stdout.readline()  # end
        for cluster, name in zip(CLUSTERS, names):
            spent = {khz: s - before[name][khz] for khz, s in guest.time_in_state(name).items()}
            low = sum(s for khz, s in spent.items() if khz <= capped_khz(name))
            yield {"workload": cluster, "governor": governor,
                   "cap_share": low / sum(spent.values()),
                   "max_share": spent[max(spent)] / sum(spent.values())}
        yield {"workload": "browser", "governor": governor, "crowd": crowded}
        for busy_us, load in loads.items():
            yield {"workload": f"burst{busy_us}", "governor": governor,
                   "p95_us": caps.measured(load)["lat_p95_us"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)  # which only the machine needs
    parser.add_argument("--governors", default=GOVERNORS)
    for governor in parser.parse_args().governors.split(","):
        for row in measure(governor):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
