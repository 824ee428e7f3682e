#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The timed machine itself: speed is what the driver was asked for, and the counters tell it."""
import hashlib
import os
import sqlite3
import struct
import subprocess
import time
import unittest

import guest
import tap

DRIVERS = {"acpi": "acpi-cpufreq", "msr": "acpi-cpufreq", "pstate": "intel_cpufreq",
           "hwp-passive": "intel_cpufreq", "pstate-active": "intel_pstate", "hwp": "intel_pstate"}
OPPS_MHZ = (1800, 1400, 1000, 600, 400)
APERF, MPERF, BASE_MHZ = 0xe8, 0xe7, 1000
# A work takes less than a millisecond at the highest OPP: some repetitions are free of ticks.
REPETITIONS = 12
DATA = b"x" * 8192


def set_mhz(cpu, mhz):
    """By the limits, which every driver obeys; an HWP looks at them each half a millisecond."""
    name = f"policy{cpu}"
    for control in ("scaling_min_freq", "scaling_max_freq", "scaling_min_freq"):
        guest.write(guest.policy(name, control), mhz * 1000)
    time.sleep(0.01)


def counter(cpu, number):
    with open(f"/dev/cpu/{cpu}/msr", "rb") as file:
        file.seek(number)
        return struct.unpack("Q", file.read(8))[0]


def timed_ns(work):
    start = time.monotonic_ns()
    work()
    return time.monotonic_ns() - start


def least_ns(work):
    return min(timed_ns(work) for _ in range(REPETITIONS))


def loop():
    for _ in range(1000):
        pass


def hashing():
    for _ in range(5):
        hashlib.sha256(DATA).digest()


def database_work():
    """Rows are read from memory: what is written would grow SQLite's own memory, now and then."""
    database = sqlite3.connect(":memory:")
    database.execute("create table t(a, b)")
    database.executemany("insert into t values (?, ?)", ((x, x * 7919 % 101) for x in range(500)))
    return lambda: database.execute("select sum(a) from t where b % 3 = 1").fetchall()


SHELL = ("while read -r count; do a=$EPOCHREALTIME; for ((i = 0; i < count; i++)); do :; done;"
         " b=$EPOCHREALTIME; echo $((${b/./} - ${a/./})); done")


class Program:
    """A program that does its work for each line, and answers how long that took."""

    def __init__(self, unit_ns, *command):
        self.unit_ns = unit_ns
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def least_ns(self):
        found = []
        for _ in range(4 * REPETITIONS):
            self.process.stdin.write("10\n")
            found.append(int(self.process.stdout.readline().split()[0]) * self.unit_ns)
        return min(found)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Timed(unittest.TestCase):
    def setUp(self):
        for cpu in range(os.cpu_count()):
            set_mhz(cpu, OPPS_MHZ[0])
        os.sched_setaffinity(0, {0})

    def check_scales(self, name, measure, delta=0.01):
        measure()
        cycles = {}
        for mhz in OPPS_MHZ:
            set_mhz(0, mhz)
            cycles[mhz] = measure() * mhz / 1000
            tap.note(f"{name} at {mhz} MHz: {cycles[mhz]:.3f} cycles")
        for mhz, count in cycles.items():
            self.assertAlmostEqual(count / cycles[OPPS_MHZ[0]], 1, delta=delta, msg=f"{mhz} MHz")

    def test_loop(self):
        """A loop takes as many cycles at each OPP, within 1 %"""
        self.check_scales("loop", lambda: least_ns(loop))

    def test_hashing(self):
        """OpenSSL's SHA-256 takes as many cycles at each OPP, within 1 %"""
        self.check_scales("hashing", lambda: least_ns(hashing))

    def test_rows(self):
        """SQLite takes as many cycles at each OPP, within 1 %"""
        work = database_work()
        self.check_scales("rows", lambda: least_ns(work))

    def test_shell(self):
        """A shell's loop takes as many cycles at each OPP, within 2 %: its clock has microseconds"""
        shell = Program(1000, "bash", "-c", SHELL)
        self.addCleanup(shell.end)
        self.check_scales("shell", shell.least_ns, 0.02)

    def test_two(self):
        """Two busy CPUs do not slow each other"""
        alone = least_ns(loop)
        set_mhz(2, OPPS_MHZ[-1])
        with guest.busy_loop(2):
            beside = least_ns(loop)
        tap.note(f"alone {alone} ns, beside a slow one {beside} ns")
        self.assertAlmostEqual(beside / alone, 1, delta=0.01)

    def test_counters(self):
        """APERF and MPERF give the frequency of a busy CPU, within 0.5 %"""
        subprocess.run(["modprobe", "msr"], check=True)
        for mhz in OPPS_MHZ:
            set_mhz(0, mhz)
            aperf, mperf = counter(0, APERF), counter(0, MPERF)
            for _ in range(20):
                loop()
            found = (counter(0, APERF) - aperf) / (counter(0, MPERF) - mperf) * BASE_MHZ
            tap.note(f"{mhz} MHz: {found:.3f} by APERF and MPERF")
            self.assertAlmostEqual(found / mhz, 1, delta=0.005)


class Driver(unittest.TestCase):
    def test_driver(self):
        """The driver binds, and its limits decide the speed"""
        name = guest.read(guest.policy("policy0", "scaling_driver"))
        self.assertEqual(name, DRIVERS[os.environ["LAB_DRIVER"]])
        guest.write(guest.policy("policy0", "scaling_governor"), "performance")
        os.sched_setaffinity(0, {0})
        set_mhz(0, 1800)
        loop()
        fast = least_ns(loop)
        set_mhz(0, 600)
        slow = least_ns(loop)
        tap.note(f"{os.environ['LAB_DRIVER']}: {fast} ns at 1800 MHz, {slow} ns at 600 MHz")
        self.assertAlmostEqual(slow / fast, 3, delta=0.03)


if __name__ == "__main__":
    tap.main()
