#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table biglittle --arch arm64: readers and chains on CPUs of unlike capacity, by the kernel's
governors, with a daemon that only watches, and with wakegov.

Usage: table_biglittle.py ROUNDS. Prints figures, and judges none of them: a load's rate; its ratio
to the better of performance and schedutil; what the machine draws. Medians of the rounds.
"""
import contextlib
import statistics
import subprocess
import sys
import time

import guest
import table_programs as programs

# The last but one is without chains.
GOVERNORS = ("performance", "schedutil", "wakegov", "schedutil, observed", "wakegov+off",
             "performance, observed")
DEVICE, QUEUES = "/dev/nullb1", "/dev/nullb5"


def prepare():
    programs.prepare()
    guest.null_blk("null_blk_create", "completion_nsec=200000")
    programs.shell(". tests/lab/guest/null-blk.sh; "
                   "null_blk_create nullb5 completion_nsec=100000 hw_queue_depth=16")


def fio(device, engine, depth, jobs, cpu=None):
    command = ["fio", "--name=x", f"--filename={device}", f"--ioengine={engine}", "--direct=1",
               f"--iodepth={depth}", f"--numjobs={jobs}", "--rw=randread", "--bs=4k",
               "--time_based", "--ramp_time=500ms", "--runtime=700ms", "--thread",
               "--group_reporting", "--minimal"]
    if cpu is not None:
        command.append(f"--cpus_allowed={cpu}")
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.splitlines()[-1].split(";")[7])


def chain(mode):
    return float(programs.shell(programs.chainload(mode)))


def kinds():
    """A CPU of the least capacity, and one of the most."""
    cpus = [int(guest.read(guest.policy(name, "affected_cpus")).split()[0])
            for name in programs.policies()]
    return min(cpus, key=guest.capacity), max(cpus, key=guest.capacity)


def loads():
    little, big = kinds()
    return {
        "psync, a big CPU": lambda: fio(DEVICE, "psync", 1, 1, big),
        "psync, a little CPU": lambda: fio(DEVICE, "psync", 1, 1, little),
        "psync": lambda: fio(DEVICE, "psync", 1, 1),
        "psync x 4": lambda: fio(DEVICE, "psync", 1, 4),
        "io_uring 6 x 128": lambda: fio(QUEUES, "io_uring", 128, 6),
        "io_uring 6 x 4": lambda: fio(QUEUES, "io_uring", 4, 6),
        "token": lambda: chain("token"),
        "pipe": lambda: chain("pipe"),
    }


@contextlib.contextmanager
def governed(name):
    name, _, observed = name.partition(", ")
    if not observed:
        with programs.governed(name):
            yield
        return
    programs.set_governor(name)
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


def main():
    prepare()
    rounds, found = int(sys.argv[1]), {}
    for _ in range(rounds):
        for governor in GOVERNORS:
            with governed(governor):
                for name, run in loads().items():
                    runs = found.setdefault(name, {}).setdefault(governor, [])
                    runs.append(measure(run))
                    print(f"{governor}: {name}: {runs[-1][0]:.0f}", file=sys.stderr, flush=True)
    print(f"{'load':<20} {'governor':<22} {'rate':>8} {'ratio':>6} {'W':>5}  MHz of each domain")
    for name, by_governor in found.items():
        rates = {governor: statistics.median(run[0] for run in runs)
                 for governor, runs in by_governor.items()}
        best = max(rates["performance"], rates["schedutil"])
        for governor, runs in by_governor.items():
            mhz = " ".join(f"{statistics.median(values):5.0f}"
                           for values in zip(*(run[2] for run in runs)))
            print(f"{name:<20} {governor:<22} {rates[governor]:8.0f} {rates[governor] / best:6.3f} "
                  f"{statistics.median(run[1] for run in runs):5.2f}  {mhz}", flush=True)


if __name__ == "__main__":
    main()
