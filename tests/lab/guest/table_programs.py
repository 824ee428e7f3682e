#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Ordinary programs under one governor after the other, on the machine whose CPUs really slow down.

table_programs.py [--seed N] [--governors LIST] [--workloads LIST]: a JSON object a line for each workload
under each governor. A governor is one of cpufreq's, `own` for the one that is there without wakegov
(schedutil, else the driver's powersave), `wakegov` for wakegovd beside that, or `wakegov_BACKEND`; with `+power` it knows
what measure-power found, with `+quiet` or `+performance` it has that profile. A number is a fixed frequency in MHz. A
workload is a row of programs_workloads.py.
"""
import argparse
import contextlib
import functools
import json
import os
import subprocess
import time

import guest
from programs_workloads import WORKLOADS
from workloads import WORK, shell, work_folder

BASE_MHZ = 1000  # at which MPERF counts
EVENTS = ("msr/aperf/", "msr/mperf/", "power:cpu_frequency", "duration_time")
EVENT_SOURCES = "/sys/bus/event_source/devices"

# Governors.

GOVERNORS = ("performance", "powersave", "own", "wakegov")


def own_governor():
    offered = guest.read(guest.policy("policy0", "scaling_available_governors")).split()
    return "schedutil" if "schedutil" in offered else "powersave"


def offered(names):
    """Without the backends that this machine's driver has not."""
    needs = {"wakegov_uclamp": "schedutil", "wakegov_setspeed": "userspace"}
    governors = guest.read(guest.policy("policy0", "scaling_available_governors")).split()
    return [name for name in names if name not in needs or needs[name] in governors]


def policies():
    return [name for name in sorted(os.listdir(guest.CPUFREQ)) if name.startswith("policy")]


def limit(mhz):
    for name in policies():
        khz = mhz * 1000 if mhz else guest.read(guest.policy(name, "cpuinfo_max_freq"))
        guest.write(guest.policy(name, "scaling_max_freq"), khz)


@functools.cache
def measured_power():
    return shell(f"{guest.BUILD}/wakegovctl measure-power --for 12s")


@contextlib.contextmanager
def governed(name):
    if name.isdigit():
        guest.set_governor("performance")
        limit(int(name))
        try:
            yield
        finally:
            limit(None)
        return
    if not name.startswith("wakegov"):
        guest.set_governor(own_governor() if name == "own" else name)
        yield
        return
    name, _, extra = name.partition("+")
    backend = name.partition("_")[2] or "auto"
    # A daemon that only watches is compared with performance: what differs is its cost.
    guest.set_governor("performance" if backend == "observe" else own_governor())
    with guest.Daemon(f"[wakegov]\nbackend = {backend}\n[utilisation]\nchains = {'off' if extra == 'off' else 'on'}\n" +
                      (measured_power() if extra == "power" else "")) as daemon:
        if extra in ("quiet", "performance"):
            daemon.call("ChooseProfile", profile=extra)
        try:
            yield
        finally:
            used = daemon.call("Status")["backend"]
            if backend not in ("auto", used):
                raise AssertionError(f"{name} ran with {used}")


# Measuring.

def events():
    """Those that this machine has: by ports it has no APERF and MPERF."""
    return [event for event in EVENTS if not event.startswith("msr/") or
            os.path.exists(f"{EVENT_SOURCES}/{event[:3]}/events/{event[4:-1]}")]


def counted(path):
    """perf stat's counts by event; None for what this machine has not."""
    counts = {}
    for line in guest.read(path).splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2] in EVENTS:
            counts[fields[2]] = float(fields[0]) if fields[0][0].isdigit() else None
    return counts


def measure(load, seed, governor):
    """One run, as what is printed of it."""
    counts_path = f"{WORK}/counts"
    options = [word for event in events() for word in ("-e", event)]
    with load.fresh() if load.fresh else contextlib.nullcontext():
        time.sleep(0.1)
        before_j = guest.energy_j()
        done = subprocess.run(["perf", "stat", "-a", "-x,", "-o", counts_path, *options, "--", "bash", "-c",
                               load.command], check=False, capture_output=True, text=True)
        joule = before_j and guest.energy_j() - before_j
    if done.returncode:
        raise RuntimeError(f"{load.name}: {done.stdout}{done.stderr}")
    figure, p50_us, p99_us = load.read(done.stdout)
    counts = counted(counts_path)
    busy = counts.get("msr/mperf/")
    # perf's own end, when it waits for the kernel, is not the program's.
    took_s = counts["duration_time"] / 1e9
    figure = took_s * 1000 if figure is None else figure
    work = figure * took_s if load.better == "higher" else 1
    return {"workload": load.name, "governor": governor, "seed": seed, "unit": load.unit,
            "better": load.better, "figure": figure, "p50_us": p50_us, "p99_us": p99_us,
            "took_s": took_s, "mean_mhz": busy and counts["msr/aperf/"] / busy * BASE_MHZ,
            "busy": busy and busy / (BASE_MHZ * 1e6) / took_s,
            "changes_per_s": counts["power:cpu_frequency"] / took_s,
            "joule": joule, "joule_per_work": joule / work if joule and work else None,
            "kernel": os.uname().release,
            "driver": os.environ["LAB_DRIVER"]}


def chosen(names, wanted, what):
    if wanted == "all":
        return list(names)
    unknown = set(wanted.split(",")) - set(names)
    if unknown:
        raise SystemExit(f"{what} {', '.join(sorted(unknown))}: expected some of {', '.join(names)}")
    return wanted.split(",")


def prepare():
    """What every measurement needs: a place, and the counter of energy."""
    work_folder()
    subprocess.run(["modprobe", "-q", "intel_rapl_msr"], check=False)


def set_up(loads):
    """What they need, and a first run of each, so that their programs are in memory."""
    done = set()
    prepare()
    guest.set_governor("performance")
    for load in loads:
        for need in load.needs:
            if need not in done:
                need()
                done.add(need)
        measure(load, 0, "performance")


def main(workloads=WORKLOADS, governors=GOVERNORS, governing=governed,
         setting_up=contextlib.nullcontext):
    """What of these the command line asks for; governing: a governor while the context lasts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--governors", default=",".join(governors))
    parser.add_argument("--workloads", default="all")
    options = parser.parse_args()
    names = chosen([load.name for load in workloads], options.workloads, "workload")
    loads = [load for load in workloads if load.name in names]
    with setting_up():
        set_up(loads)
    for governor in offered(options.governors.split(",")):
        with governing(governor):
            for load in loads:
                print(json.dumps(measure(load, options.seed, governor)), flush=True)


if __name__ == "__main__":
    main()
