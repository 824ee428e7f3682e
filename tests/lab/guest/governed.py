# SPDX-License-Identifier: GPL-2.0-only
"""A daemon that governs before something goes on for a while, and after it; what that cost it."""
import contextlib
import os
import random
import time
import unittest

import guest
import tap

# Every task with I/O is looked at.
POLICY = ("[wakegov]\nbackend = {}\n[io-boost]\nmin-rate = 1/s\n"
          "[rule low]\ncomm = capped\ncap = 30%\n")
DOMAINS = ("policy0", "policy2")
CPU_SHARE = 0.6  # of one CPU
GROWTH_KIB = 1024
LINES = 10  # of the log, however long it lasts


class Governed(unittest.TestCase):
    def setUp(self):
        random.seed(self._testMethodName)
        guest.restart_governors()
        self.before = guest.snapshot()
        self.daemon = None

    @contextlib.contextmanager
    def governed(self, backend="setspeed", lines_most=LINES):
        """The daemon, from before a storm until its end; it is to govern then."""
        with guest.Daemon(POLICY.format(backend)) as daemon:
            self.daemon = daemon
            self.drives()
            began, kib, cpu_s = time.monotonic(), daemon.memory_kib()["Anonymous"], self.cpu_s()
            yield daemon
            took = time.monotonic() - began
            share = (self.cpu_s() - cpu_s) / max(took, 1)  # of none, what a look takes would be all
            self.drives()
            growth = daemon.memory_kib()["Anonymous"] - kib
            lines = len(daemon.log().splitlines())
            tap.note(f"{took:.1f} s: {100 * share:.0f} % of a CPU, {growth:+} KiB, {lines} lines")
            self.assertLessEqual(share, CPU_SHARE)
            self.assertLessEqual(growth, GROWTH_KIB)
            self.assertLessEqual(lines, lines_most, daemon.log())
            self.assertEqual(daemon.stop(), 0)
        guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything put back")
        self.assertFalse(os.path.exists("/run/wakegov/originals"))

    def cpu_s(self):
        return int(guest.read(f"/proc/{self.daemon.process.pid}/schedstat").split()[0]) / 1e9

    def drives(self):
        """Each domain goes up with a load and down again."""
        for name, cpu in zip(DOMAINS, (0, 2)):
            highest = int(guest.read(guest.policy(name, "cpuinfo_max_freq")))
            with guest.busy_loop(cpu):
                guest.wait_for(lambda: guest.frequency(name) == highest, 10, f"{name} up")
            guest.wait_for(lambda: guest.frequency(name) < highest, 10, f"{name} down")

    def give_back(self, governor="schedutil"):
        """Another program, which had taken the domains, sets that governor and gives them back."""
        for name in DOMAINS:
            guest.shell_write(guest.policy(name, "scaling_governor"), governor)
        guest.wait_for(lambda: {self.daemon.domain(name)["state"] for name in DOMAINS} == {"yielded"},
                       10, "yielded")
        self.assertEqual(self.daemon.call("Adopt")["adopted"], 2)
