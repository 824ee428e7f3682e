#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Machines on which there is nothing to drive; argv[1] says which: no-cpufreq, no-userspace."""
import sys
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
            load = guest.start_load("psync", "--khz", "1800000", "--file", device, "--time", "2")
            guest.wait_for(lambda: daemon.call("Tasks")["tasks"], 2, "the task seen")
            load.wait()

    def test_setspeed(self):
        """without cpufreq, backend = setspeed is refused with what to do"""
        status, log = guest.Daemon("[wakegov]\nbackend = setspeed\n").run_to_end()
        self.assertEqual(status, 1)
        self.assertIn("modprobe", log)


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
        """without the userspace governor, auto takes the next lever, and says what is missing"""
        for name in ("policy0", "policy2"):
            guest.write(guest.policy(name, "scaling_governor"), "performance")
        try:
            before = guest.snapshot()
            with guest.Daemon("[domain]\nmax-frequency = 1GHz\n", ["--debug"]) as daemon:
                self.assertEqual(daemon.domain("policy0")["backend"], "limits")
                self.assertIn("cpufreq_userspace", daemon.log())
                guest.wait_for(lambda: guest.frequency("policy2") == 1000000, 10, "the ceiling")
            guest.wait_for(lambda: guest.snapshot() == before, 2, "everything restored")
        finally:
            for name in ("policy0", "policy2"):
                guest.write(guest.policy(name, "scaling_governor"), "schedutil")
        self.assertEqual(guest.snapshot(), self.before)

    def test_observe(self):
        """asked to observe, it decides and writes nothing"""
        with guest.Daemon("[wakegov]\nbackend = observe\n") as daemon:
            self.assertEqual(daemon.domain("policy0")["state"], "observed")
            with guest.busy_loop(2):
                guest.wait_for(lambda: daemon.domain("policy2")["target_khz"] > 400000, 2,
                               "a decision")
            self.assertEqual(daemon.domain("policy2")["writes"], 0)
        self.assertEqual(guest.snapshot(), self.before)


if __name__ == "__main__":
    wanted = {"no-cpufreq": "NoCpufreq", "no-userspace": "NoUserspace"}[sys.argv.pop(1)]
    sys.argv.append(wanted)
    tap.main()
