#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own cpufreq self-tests, from Debian's linux-source, while wakegovd governs; suspends.

test_selftests.py DIRECTORY [TEST…], as lab selftests prints it, in a lab that was run with --suspend.
"""
import os
import re
import subprocess
import sys

import guest
import tap
from governed import Governed

FAULTS = r"BUG:|WARNING:|Call Trace|INVALID"


def set_suspend(level):
    """How far down: "core" is all but the firmware, after which test_suspend.py looks."""
    guest.write("/sys/power/mem_sleep", "deep")
    guest.write("/sys/power/pm_test", level)
    guest.write("/sys/module/suspend/parameters/pm_test_delay", 1)


class Selftests(Governed):
    directory = ""

    def run_selftest(self, name):
        """What it said; neither it nor the kernel found a fault."""
        subprocess.run(["dmesg", "--clear"], check=True)
        done = subprocess.run(["bash", "main.sh", "-t", name, "-o", "/tmp/selftest"], check=True,
                              cwd=self.directory, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        kernel = subprocess.run(["dmesg"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertNotRegex(done.stdout, FAULTS)
        self.assertNotRegex(kernel, FAULTS)
        return done.stdout

    def test_suspend(self):
        """suspend, basic: after it every file, CPU, frequency and governor"""
        set_suspend("core")
        # Two lines for each time that a domain's CPUs go.
        with self.governed(lines_most=60):
            said = self.run_selftest("suspend")
            self.assertIn("Came out of suspend", said)
            self.assertIn("CPUFreq manages: 4 CPUs", said)
            self.assertEqual(len(re.findall("Running shuffle_", said)), 2, said)
            self.give_back()

    def test_suspends(self):
        """suspends under each backend: the daemon hears of each and governs on"""
        for backend in ("setspeed", "limits", "uclamp"):
            with self.subTest(backend=backend), self.governed(backend, lines_most=60) as daemon:
                for n, level in enumerate(("devices", "core", "core")):
                    set_suspend(level)
                    guest.write("/sys/power/state", "mem")
                    guest.wait_for(lambda: daemon.log().count("resumed from suspend") == n + 1, 10,
                                   "the daemon hears of it")
                    self.drives()

    def test_governors(self):
        """sptest1, sptest2: switches of governors, one after the other and at once"""
        subprocess.run(["modprobe", "-a", "cpufreq_ondemand", "cpufreq_conservative"], check=True)
        for name in ("sptest1", "sptest2"):
            with self.subTest(name=name), self.governed():
                self.run_selftest(name)
                self.give_back()


if __name__ == "__main__":
    Selftests.directory = os.path.abspath(sys.argv.pop(1))
    tap.main()
