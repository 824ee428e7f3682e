# SPDX-License-Identifier: GPL-2.0-only
"""What a task of known demand does of its CPU, by the kernel's account and by wakegov's."""
import os
import re
import statistics
import time

import guest
import tap

# A task's share of the time, by freqload's periods of 1 ms: short ones, as a sleeper's utilisation
# stands still in the kernel's files.
PERIOD_US, SHARE = 1000, 0.6
FASTEST_MHZ = 1800  # of the machine's fastest CPU, whose capacity is 1024


def set_mhz(name, mhz):
    """Both limits, in an order in which they do not cross."""
    for control in ("scaling_min_freq", "scaling_max_freq", "scaling_min_freq"):
        guest.write(guest.policy(name, control), mhz * 1000)


def keep_limits(test, name):
    """What they are now, they are again after the test."""
    for control in ("scaling_min_freq", "scaling_max_freq"):
        path = guest.policy(name, control)
        test.addCleanup(guest.write, path, guest.read(path))


def of_kernel(tid):
    return int(re.search(r"se\.avg\.util_avg\s+:\s+(\d+)", guest.read(f"/proc/{tid}/sched"))[1])


def worker_of(load):
    """The load's thread that works; the first one waits for it."""
    return max(int(tid) for tid in os.listdir(f"/proc/{load.pid}/task"))


def start_load(cpu, speed):
    """One that takes SHARE of a CPU whose speed is this of 1 of the machine's fastest."""
    cycles = int(PERIOD_US * FASTEST_MHZ * speed * SHARE)
    return guest.start_load("periodic", "--period-us", str(PERIOD_US), "--busy-cycles", str(cycles),
                            "--cpus", str(cpu), "--time", "4")


def check(test, daemon, name, load, right, apart=0.03):
    """
    The kernel's and wakegov's figure of a task that is alone in a domain, and what it has to be; the
    first two are no more apart than this share.
    """
    time.sleep(0.5)
    # Where no event tells of a frequency, looks measure it, and the sum follows it.
    tid, kernel, ours = worker_of(load), [], []
    for _ in range(45):
        kernel.append(of_kernel(tid))
        ours.append(daemon.domain(name)["utilisation_cap"])
        time.sleep(0.0173)
    kernel, ours = statistics.mean(kernel[-20:]), statistics.mean(ours[-20:])
    tap.note(f"{name} at {guest.frequency(name) // 1000} MHz: {kernel:.0f} by the kernel, {ours:.0f} by "
             f"wakegov, {right:.0f} by its cycles")
    test.assertAlmostEqual(kernel, right, delta=0.03 * 1024)
    test.assertAlmostEqual(ours, kernel, delta=apart * kernel)
