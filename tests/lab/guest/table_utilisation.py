#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table utilisation: what a load is accounted as at each OPP, and how fast a CPU gets to the highest.

Usage: table_utilisation.py ROUNDS. Prints figures, and judges none of them.
"""
import json
import os
import statistics
import sys
import time

import efficiency
import guest

DOMAINS = {"policy0": 1, "policy2": 3}  # and the CPU that the load is on
PERIOD_US, SHARE = 20000, 0.33
BUSY_US_AT_MAX = int(PERIOD_US * SHARE)


def set_governor(governor):
    for name in DOMAINS:
        guest.write(guest.policy(name, "scaling_governor"), governor)


def opps(name):
    return sorted(int(khz) for khz in
                  guest.read(guest.policy(name, "scaling_available_frequencies")).split())


def accounted(daemon, name, seconds):
    """The mean of what the domain's busiest CPU uses, of the capacity, in per cent."""
    samples, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        samples.append(daemon.domain(name)["utilisation_cap"] / 10.24)
        time.sleep(0.0973)  # at no fixed place in the period, and seldom: looking is work, too
    return statistics.mean(samples)


def invariance(daemon, name, cpu):
    highest = opps(name)[-1]
    # Where this looks from must not be in the domain that it looks at.
    guest.stay_off({0, 1} if name == "policy0" else {2, 3})
    busy_cycles = BUSY_US_AT_MAX * highest // 1000
    for khz in opps(name):
        guest.write(guest.policy(name, "scaling_setspeed"), khz)
        load = guest.start_load("periodic", "--period-us", str(PERIOD_US), "--busy-cycles",
                                str(busy_cycles), "--cpus", str(cpu), "--time", "6", "--json")
        time.sleep(2.5)
        percent = accounted(daemon, name, 2.5)
        # Periods that it is late for it leaves out. What it did is of its own domain's highest OPP.
        work_per_s = json.loads(load.communicate()[0])["work_per_s"]
        did = 100 * SHARE * work_per_s * PERIOD_US / 1e6
        print(f"{name:8} {khz // 1000:5} MHz   accounted {percent:5.1f} %   work done {did:5.1f} %   "
              f"the OPP has {100 * khz / highest:5.1f} %   "
              f"raw time {min(100, 100 * SHARE * highest / khz):5.1f} %", flush=True)


def step(name, cpu):
    """ms from the start of a busy loop to the highest OPP, and from its end to the lowest."""
    lowest, highest = opps(name)[0], opps(name)[-1]
    with guest.BusyLoop(cpu) as loop:
        guest.wait_for(lambda: guest.frequency(name) == lowest, 10, f"{name} at its lowest OPP")
        time.sleep(0.5)
        began_us = loop.start()
        guest.wait_for(lambda: guest.frequency(name) == highest, 5, f"{name} at its highest")
        up_ms = time.monotonic() * 1e3 - began_us / 1e3
        time.sleep(0.3)
    return up_ms, guest.wait_for(lambda: guest.frequency(name) == lowest, 5, "low") * 1000


def steps(governor, rounds):
    ups, downs = zip(*(step("policy2", 3) for _ in range(rounds)))
    print(f"{governor:10} idle to the highest OPP {statistics.median(ups):6.1f} ms "
          f"({min(ups):.1f} to {max(ups):.1f})   busy to the lowest "
          f"{statistics.median(downs):6.1f} ms", flush=True)


def main(rounds):
    print(f"A load of {SHARE:.0%} at the highest OPP, every {PERIOD_US // 1000} ms, as accounted:")
    set_governor("userspace")
    with guest.Daemon(arguments=["--observe"]) as daemon:
        for name, cpu in DOMAINS.items():
            invariance(daemon, name, cpu)
    print("\nA busy loop on an idle domain, policy2; looked at every 5 ms:")
    guest.stay_off({2, 3})
    set_governor("schedutil")
    steps("schedutil", rounds)
    with guest.Daemon("[wakegov]\nbackend = setspeed\n"):
        steps("wakegov", rounds)
    efficiency.show(rounds)
    print(f"\nKernel {os.uname().release}, emulated; each CPU's time goes by its frequency.")


if __name__ == "__main__":
    main(int(sys.argv[1]))
