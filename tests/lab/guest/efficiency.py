# SPDX-License-Identifier: GPL-2.0-only
"""rt-app's runs under a governor: a thread works for a while and sleeps for a while."""
import json
import statistics
import subprocess

import guest

DOMAIN, CPU = "policy0", 1
LOOPS = 12


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
