#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table published --of crude: fio's random reads and writes at depth 256, as for a boost in scx_rusty.

Usage: published_crude.py [--seed N] [--governors LIST] [--workloads LIST]. A JSON object a line for
each workload under each governor, as table_programs.py prints it. A workload is a disk and a number
of jobs: bound limits the requests itself, latency serves any number at once.
"""
import json

import table_programs as programs
import workloads

DISKS = {"bound": ("/dev/nullb2", workloads.bound_disk), "latency": ("/dev/nullb1", workloads.latency_disk)}
JOBS = {"bound": (1, 80), "latency": (1,)}


def read(text):
    job = json.loads(text[text.index("{"):])["jobs"][0]
    return job["read"]["iops"] + job["write"]["iops"], None, None


def randrw(disk, jobs):
    device, need = DISKS[disk]
    return workloads.workload(
        f"{disk}-{jobs}x256", "IOPS", "higher",
        f"fio --name=x --filename={device} --ioengine=io_uring --iodepth=256 --direct=1 --rw=randrw "
        f"--bs=4k --numjobs={jobs} --group_reporting --thread --ramp_time=2s --runtime=1s --time_based "
        "--output-format=json", read, (need,))


WORKLOADS = tuple(randrw(disk, jobs) for disk in DISKS for jobs in JOBS[disk])


if __name__ == "__main__":
    programs.main(WORKLOADS)
