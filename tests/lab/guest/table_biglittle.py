#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table biglittle --arch arm64: readers and chains on CPUs of unlike capacity, by the kernel's
governors, with a daemon that only watches (+observe), with wakegov, also without chains (+off), and
where the kernel places tasks without its energy model (+unaware, kernel.sched_energy_aware = 0).

Usage: table_biglittle.py ROUNDS WORKLOADS GOVERNORS (lists with commas, or "all"). Prints figures,
and judges none of them: a load's rate; its ratio to the better of performance and schedutil; what
the machine draws; the mean frequency of each domain. Medians of the rounds.
"""
import contextlib
import statistics
import subprocess
import sys
import time

import guest
import table_programs as programs
import workloads

GOVERNORS = ("performance", "schedutil", "wakegov", "wakegov+off", "wakegov_setspeed", "schedutil+observe",
             "performance+observe", "schedutil+unaware", "wakegov+unaware")
ENERGY_AWARE = "/proc/sys/kernel/sched_energy_aware"
# A device that answers after 200 us; one after 100, of one queue of 16 tags; one that is the limit.
DEVICE, TAGS, SLOW = "/dev/nullb1", "/dev/nullb5", "/dev/nullb6"
# Where it is the limit a boost takes some time to be tried.
RAMP_MS, SLOW_RAMP_MS, RUN_MS = 500, 3000, 700


def prepare():
    programs.prepare()
    guest.null_blk("null_blk_create", "completion_nsec=200000")
    workloads.shell(". tests/lab/guest/null-blk.sh; "
                   "null_blk_create nullb5 completion_nsec=100000 hw_queue_depth=16; "
                   "null_blk_create_bound nullb6")


def fio(device, engine, depth, jobs, cpu=None, ramp_ms=RAMP_MS):
    """Measures from the ramp's end to the end of the run, as fio does."""
    command = ["fio", "--name=x", f"--filename={device}", f"--ioengine={engine}", "--direct=1",
               f"--iodepth={depth}", f"--numjobs={jobs}", "--rw=randread", "--bs=4k",
               "--time_based", f"--ramp_time={ramp_ms}ms", f"--runtime={RUN_MS}ms", "--thread",
               "--group_reporting", "--minimal"]
    if cpu is not None:
        command.append(f"--cpus_allowed={cpu}")
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.splitlines()[-1].split(";")[7])


def chain(mode, n=1):
    """Of so many at once, together."""
    runs = [subprocess.Popen(workloads.chainload(mode).split(), text=True, stdout=subprocess.PIPE)
            for _ in range(n)]
    return sum(float(run.communicate()[0]) for run in runs)


def kinds():
    """A CPU of the least capacity, and one of the most."""
    cpus = [guest.cpus_of(name)[0] for name in programs.policies()]
    return min(cpus, key=guest.capacity), max(cpus, key=guest.capacity)


def loads():
    little, big = kinds()
    found = {
        "psync-big": lambda: fio(DEVICE, "psync", 1, 1, big),
        "psync-little": lambda: fio(DEVICE, "psync", 1, 1, little),
    }
    for jobs in 1, 4, 6, 8, 12:
        found[f"psync-{jobs}"] = lambda jobs=jobs: fio(DEVICE, "psync", 1, jobs)
    for jobs, depth in (1, 1), (1, 128), (4, 128):
        found[f"libaio-{jobs}x{depth}"] = lambda jobs=jobs, depth=depth: fio(TAGS, "libaio", depth, jobs)
    for jobs, depth in (1, 1), (1, 128), (4, 64), (5, 32), (6, 4), (6, 128):
        found[f"uring-{jobs}x{depth}"] = lambda jobs=jobs, depth=depth: fio(TAGS, "io_uring", depth, jobs)
    found["slow-4"] = lambda: fio(SLOW, "psync", 1, 4, ramp_ms=SLOW_RAMP_MS)
    for mode in "token", "pipe":
        found[mode] = lambda mode=mode: chain(mode)
    found["token-x2"] = lambda: chain("token", 2)
    return found


@contextlib.contextmanager
def unaware():
    """The kernel has the switch while schedutil governs all."""
    guest.set_governor("schedutil")
    guest.write(ENERGY_AWARE, 0)
    try:
        yield
    finally:
        guest.set_governor("schedutil")
        guest.write(ENERGY_AWARE, 1)


@contextlib.contextmanager
def governed(name):
    kernels, _, observed = name.partition("+")
    if observed == "unaware":
        with unaware(), programs.governed(kernels):
            yield
        return
    if observed != "observe":
        with programs.governed(name):
            yield
        return
    guest.set_governor(kernels)
    with guest.Daemon("[wakegov]\nbackend = observe\n"):
        yield


def measure(run):
    """Its rate, and what the machine drew meanwhile; and the mean frequency of each domain."""
    states = {name: guest.time_in_state(name) for name in programs.policies()}
    before_j, start = guest.energy_j(), time.monotonic()
    rate = run()
    watt = (guest.energy_j() - before_j) / (time.monotonic() - start)
    mhz = []
    for name, before in states.items():
        spent = {khz: s - before[khz] for khz, s in guest.time_in_state(name).items()}
        mhz.append(sum(khz * s for khz, s in spent.items()) / max(sum(spent.values()), 0.01) / 1000)
    return rate, watt, mhz


def chosen(names, known):
    """Of those that are known, by a list that is given."""
    given = known if names == "all" else names.split(",")
    if unknown := set(given) - set(known):
        sys.exit(f"{', '.join(sorted(unknown))}: expected some of {', '.join(known)}")
    return list(given)


def run_all(rounds, workloads, governors):
    """What each load did under each governor: a list of runs."""
    found = {name: {governor: [] for governor in governors} for name in workloads}
    for _ in range(rounds):
        for governor in governors:
            with governed(governor):
                for name in workloads:
                    run = measure(loads()[name])
                    found[name][governor].append(run)
                    print(f"{governor}: {name}: {run[0]:.0f}", file=sys.stderr, flush=True)
    return found


def main():
    workloads, governors = chosen(sys.argv[2], list(loads())), chosen(sys.argv[3], GOVERNORS)
    prepare()
    found = run_all(int(sys.argv[1]), workloads, governors)
    print(f"{'load':<13} {'governor':<20} {'rate':>8} {'ratio':>6} {'W':>5}  MHz of each domain")
    for name, by_governor in found.items():
        rates = {governor: statistics.median(run[0] for run in runs)
                 for governor, runs in by_governor.items()}
        best = max(rates.get(governor, 0) for governor in ("performance", "schedutil"))
        for governor, runs in by_governor.items():
            mhz = " ".join(f"{statistics.median(values):5.0f}"
                           for values in zip(*(run[2] for run in runs)))
            ratio = f"{rates[governor] / best:6.3f}" if best else f"{'-':>6}"
            print(f"{name:<13} {governor:<20} {rates[governor]:8.0f} {ratio} "
                  f"{statistics.median(run[1] for run in runs):5.2f}  {mhz}", flush=True)


if __name__ == "__main__":
    main()
