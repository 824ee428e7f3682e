#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table published --of boost: random reads on a model of the rk3399 with its NVMe disk.

Usage: published_boost.py [--seed N] [--governors LIST] [--workloads LIST]. A JSON object a line for
each workload under each governor: IOPS, mean MHz of the little and the big CPUs, joules for a read,
changes of frequency a second.
"""
import argparse
import json
import re

import guest
import table_biglittle as biglittle
import table_caps as caps
import table_programs as programs
import workloads

WORKLOADS = ("psyncx1", "psyncx4", "psyncx6", "psyncx8", "psyncx10", "psyncx12", "io_uring1x1",
             "io_uring1x128", "io_uring6x128")
GOVERNORS = ("performance", "powersave", "schedutil", "wakegov")
# The model of the disk, fitted as published.md says: each channel serves one read at a time, and a
# read goes to one of them by chance; a limit, of queues that are never empty; and what a read costs
# its task besides the kernel's part.
CHANNELS, SERVICE_NS, CHANNEL_MBPS, CYCLES = 11, 200000, 12, 3400
MARGIN_MS, SECONDS = 400, 1


def channels():
    """The paths of the devices, as freqload takes them."""
    for channel in range(CHANNELS):
        workloads.shell(f". {guest.REPO}/tests/lab/guest/null-blk.sh; "
                       f"null_blk_create channel{channel} submit_queues=1 hw_queue_depth=1 "
                       f"completion_nsec={SERVICE_NS} mbps={CHANNEL_MBPS}")
        # A scheduler's own queue costs a task of the kernel's for each read that waits.
        guest.write(f"/sys/block/channel{channel}/queue/scheduler", "none")
    return ",".join(f"/dev/channel{channel}" for channel in range(CHANNELS))


def load(name, device):
    engine, threads, depth = re.fullmatch(r"([a-z_]+?)x?(\d+)(?:x(\d+))?", name).groups()
    return guest.start_load(engine, "--file", device, "--threads", threads, "--depth", depth or "1",
                            "--cycles", str(CYCLES), "--margin-ms", str(MARGIN_MS), "--time",
                            str(SECONDS), "--json")


def measure(name, device):
    little, big = sorted(programs.policies(), key=lambda one: guest.capacity(guest.cpus_of(one)[0]))
    running = load(name, device)
    running.stdout.readline()  # begin
    before_j, changes = guest.energy_j(), sum(map(guest.changes, (little, big)))
    states = {one: guest.time_in_state(one) for one in (little, big)}
    running.stdout.readline()  # end
    joule = guest.energy_j() - before_j
    spent = {one: {khz: s - states[one][khz] for khz, s in guest.time_in_state(one).items()}
             for one in states}
    changes = sum(map(guest.changes, (little, big))) - changes
    mhz = {one: sum(khz * s for khz, s in by_khz.items()) / sum(by_khz.values()) / 1000
           for one, by_khz in spent.items()}
    iops = caps.measured(running)["iops"]
    return {"iops": iops, "little_mhz": mhz[little], "big_mhz": mhz[big],
            "uj_per_read": joule / SECONDS / iops * 1e6, "changes_per_s": changes / SECONDS}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)  # which only the machine needs
    parser.add_argument("--workloads", default="all")
    parser.add_argument("--governors", default="all")
    options = parser.parse_args()
    names = biglittle.chosen(options.workloads, WORKLOADS)
    programs.prepare()
    device = channels()
    for governor in biglittle.chosen(options.governors, GOVERNORS):
        with programs.governed(governor):
            for name in names:
                row = measure(name, device)
                print(json.dumps({"workload": name, "governor": governor} | row), flush=True)


if __name__ == "__main__":
    main()
