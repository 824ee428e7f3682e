#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table response: SQLite requests every 5 and 50 ms, by the kernel's governors and with a response.

Usage: table_response.py ROUNDS. Prints figures, and judges none of them. Give lab table --machine timed.
"""
import os
import sys

import guest
import paced_requests as requests
from table_programs import governed, own_governor, prepare

PERIODS = ((0.005, 400), (0.05, 100))  # s, requests
GOALS = ("0.7ms", "2ms")
POLICY = "policy0"  # of requests.CPU, where its statistics are
BACKENDS = ("uclamp", "setspeed", "limits")


def lowest(before, after):
    return f"{guest.share_at_lowest(before, after):.2f}" if before else "-"


def states():
    """None with intel_pstate, which keeps none."""
    name = guest.policy(POLICY, "stats/time_in_state")
    return guest.time_in_state(POLICY) if os.path.exists(name) else None


def measure(who, period_s, n):
    before, joule = states(), guest.energy_j()
    took_us = requests.serve(period_s, n)
    joule = joule and guest.energy_j() - joule
    print(f"{period_s * 1000:6.0f}  {who:<18} {requests.percentile(took_us, 50):6.0f} "
          f"{requests.percentile(took_us, 90):6.0f} {requests.percentile(took_us, 99):6.0f}  "
          f"{lowest(before, states()):>6} {f'{joule:.2f}' if joule else '-':>6}", flush=True)


def backends():
    return [name for name in BACKENDS if name != "uclamp" or own_governor() == "schedutil"]


def main():
    prepare()
    print("period  by                    p50    p90    p99  lowest  joule\n"
          "    ms                         us     us     us")
    for _ in range(int(sys.argv[1])):
        for period_s, n in PERIODS:
            for name in "performance", "powersave", "own":
                with governed(name):
                    measure(name, period_s, n)
            for backend in backends():
                with governed(f"wakegov_{backend}"):
                    measure(backend, period_s, n)
                for goal in GOALS:
                    guest.set_governor(own_governor())
                    with guest.Daemon(f"[wakegov]\nbackend = {backend}\n[rule requests]\n"
                                      f"comm = {requests.NAME}\nresponse = {goal}\n"):
                        measure(f"{backend}, {goal}", period_s, n)


if __name__ == "__main__":
    main()
