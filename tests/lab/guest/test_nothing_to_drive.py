#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Machines on which there is nothing to drive; argv[1] says which: no-cpufreq, no-userspace, no-tick."""
import sys
import time
import unittest

import guest
import tap


class NoCpufreq(unittest.TestCase):
    def test_auto(self):
        """without cpufreq the daemon watches, says so, and sees I/O"""
        with guest.Daemon() as daemon:
            self.assertIn("no cpufreq domains", daemon.log())
            status = daemon.call("Status")
            self.assertEqual((status["mode"], status["domains"]), ("observing", []))
            device = guest.null_blk()
            load = guest.ended_with(self, guest.start_load("psync", "--file", device, "--time", "1000"))
            guest.wait_for(lambda: daemon.call("Tasks")["tasks"], 2, "the task seen")

    def test_setspeed(self):
        """without cpufreq, backend = setspeed is refused with what to do"""
        status, log = guest.Daemon("[wakegov]\nbackend = setspeed\n").run_to_end()
        self.assertEqual(status, 1)
        self.assertIn("see wakegovctl doctor", log)


class NoUserspace(unittest.TestCase):
    def setUp(self):
        self.before = guest.snapshot()

    def test_setspeed(self):
        """without the userspace governor, backend = setspeed says which module is missing"""
        status, log = guest.Daemon("[wakegov]\nbackend = setspeed\n").run_to_end()
        self.assertEqual(status, 1)
        self.assertIn("modprobe cpufreq_userspace", log)
        self.assertEqual(guest.snapshot(), self.before)

    def test_auto(self):
        """without the userspace governor, auto takes the next backend, and says what is missing"""
        guest.set_governor("performance")
        try:
            before = guest.snapshot()
            with guest.Daemon("[domain]\nmax-frequency = 1GHz\n", ["--debug"]) as daemon:
                self.assertEqual(daemon.domain("policy0")["backend"], "limits")
                self.assertIn("cpufreq_userspace", daemon.log())
                guest.wait_for(lambda: guest.frequency("policy2") == 1000000, 10, "the ceiling")
            guest.wait_for(lambda: guest.snapshot() == before, 2, "everything restored")
        finally:
            guest.set_governor("schedutil")
        self.assertEqual(guest.snapshot(), self.before)


class NoTick(unittest.TestCase):
    """CPUs 2 and 3 have no tick: nohz_full=2-3."""

    def setUp(self):
        for name in ("policy0", "policy2"):
            before = guest.read(guest.policy(name, "scaling_governor"))
            self.addCleanup(guest.write, guest.policy(name, "scaling_governor"), before)
            guest.write(guest.policy(name, "scaling_governor"), "performance")
        self.before = guest.snapshot()

    def test_named(self):
        """setspeed and limits refuse a domain whose CPUs have no tick, and leave it as it was"""
        for backend in ("setspeed", "limits"):
            status, log = guest.Daemon(f"[wakegov]\nbackend = {backend}\n").run_to_end()
            self.assertEqual(status, 1)
            self.assertIn(f"policy2: cannot be governed by {backend}: CPU 2 has no scheduler tick",
                          log)
            self.assertEqual(guest.snapshot(), self.before)

    def test_auto(self):
        """auto leaves the domain to its governor, says why, and drives the other one"""
        with guest.Daemon() as daemon:
            self.assertEqual(daemon.domain("policy0")["backend"], "setspeed")
            self.assertEqual(daemon.domain("policy2")["backend"], "observe")
            self.assertRegex(daemon.log(), "policy2: only observed: .*; not setspeed: CPU 2 has no "
                                           "scheduler tick")
            with guest.busy_loop(2):
                time.sleep(1)
                self.assertEqual(guest.frequency("policy2"), 1400000)
            found = guest.said("doctor")
            self.assertRegex(found, "policy2: scheduler's tick")
            self.assertNotIn("policy0: scheduler's tick", found)
        self.assertEqual(guest.snapshot(), self.before)


class NoHrtimers(unittest.TestCase):
    """highres=off: the scheduler's tick is no timer that is traced."""

    def test_said(self):
        """setspeed refuses; what auto does without ticks is said by status and doctor"""
        status, log = guest.Daemon("[wakegov]\nbackend = setspeed\n").run_to_end()
        self.assertEqual(status, 1)
        self.assertIn("no high-resolution timers", log)
        with guest.Daemon():
            for command in "status", "doctor":
                self.assertRegex(guest.said(command), r"high-resolution timers \(highres=off\)")


if __name__ == "__main__":
    wanted = {"no-cpufreq": "NoCpufreq", "no-userspace": "NoUserspace",
              "no-tick": "NoTick", "no-hrtimers": "NoHrtimers"}[sys.argv.pop(1)]
    sys.argv.append(wanted)
    tap.main()
