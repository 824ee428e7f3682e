#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The workloads of tests/bench/sim-vs-machine by fio, under each governor: a JSON object a line.

sim_workloads.py [--seed N]: wakegov's backend is setspeed, which is what the simulator's does.
"""
import argparse
import json

import table_programs as programs
import workloads

GOVERNORS = ("performance", "powersave", "schedutil", "wakegov_setspeed")
LATENCY, BOUND = "/dev/nullb1", "/dev/nullb2"


def fio(name, engine, *options, device=LATENCY):
    """Of an option that is given twice fio takes the last."""
    command = " ".join((workloads.fio_command(engine, device), "--group_reporting", *options))
    return workloads.workload(name, "IOPS", "higher", command, read_fio)


def read_fio(text):
    job = json.loads(text[text.index("{"):])["jobs"][0]
    return job["read"]["iops"] + job["write"]["iops"], None, None


WORKLOADS = (
    fio("psync", "psync"),
    fio("psync-four", "psync", "--numjobs=4", "--cpus_allowed_policy=split", "--cpus_allowed=0-3"),
    fio("psync-shared", "psync", "--numjobs=2"),
    fio("psync-data", "psync", "--rw=randwrite", "--bs=16k", "--refill_buffers"),
    fio("libaio", "libaio"),
    fio("libaio-32", "libaio", "--iodepth=32"),
    fio("uring", "io_uring"),
    fio("uring-4", "io_uring", "--iodepth=4"),
    fio("uring-16", "io_uring", "--iodepth=16"),
    fio("uring-bound", "io_uring", "--iodepth=64", device=BOUND),
)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    workloads.latency_disk()
    workloads.bound_disk()
    programs.set_up(WORKLOADS)
    for governor in GOVERNORS:
        with programs.governed(governor):
            for load in WORKLOADS:
                print(json.dumps(programs.measure(load, options.seed, governor)), flush=True)


if __name__ == "__main__":
    main()
