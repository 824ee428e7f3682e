#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What moves a domain: the backends limits and uclamp, what auto picks, and what is put back."""
import os
import signal
import subprocess
import time
import unittest

import guest
import tap

LIMITS = "[wakegov]\nbackend = limits\n[io-boost]\nmin-rate = 200/s\n"


def limits(name):
    return tuple(int(guest.read(guest.policy(name, f"scaling_{end}_freq"))) for end in
                 ("min", "max"))


def shell_write(path, value):
    """As an administrator does: another process that opens, writes and closes."""
    subprocess.run(["sh", "-c", f"echo {value} > {path}"], check=True)


class Limits(unittest.TestCase):
    def setUp(self):
        self.before = guest.snapshot()

    def test_ceiling(self):
        """limits: max-frequency becomes scaling_max_freq under schedutil, and reload moves it"""
        with guest.Daemon(LIMITS + "[domain policy2]\nmax-frequency = 1GHz\n") as daemon:
            domain = daemon.domain("policy2")
            self.assertEqual((domain["backend"], domain["state"]), ("limits", "driven"))
            guest.wait_for(lambda: limits("policy2") == (400000, 1000000), 10, "the ceiling")
            self.assertEqual(limits("policy0"), (400000, 1800000))
            with guest.busy_loop(2):
                guest.wait_for(lambda: guest.frequency("policy2") == 1000000, 10, "the ceiling run")
            daemon.set_policy(LIMITS + "[domain policy2]\nmax-frequency = 600MHz\n")
            daemon.call("Reload")
            guest.wait_for(lambda: limits("policy2") == (400000, 600000), 10, "the new ceiling")
            daemon.set_policy(LIMITS)
            daemon.call("Reload")
            guest.wait_for(lambda: limits("policy2") == (400000, 1400000), 10, "no ceiling")
            self.assertEqual(guest.read(guest.policy("policy2", "scaling_governor")), "schedutil")
            self.assertEqual(daemon.domain("policy2")["limiter"], "none")
        self.assertEqual(guest.snapshot(), self.before)

    def test_user_limit(self):
        """limits: a limit that the user sets meanwhile is obeyed, and put back at the end"""
        path = guest.policy("policy2", "scaling_max_freq")
        with guest.Daemon(LIMITS + "[domain policy2]\nmin-frequency = 600MHz\n") as daemon:
            guest.wait_for(lambda: limits("policy2") == (600000, 1400000), 10, "the floor")
            shell_write(path, 1000000)
            guest.wait_for(lambda: daemon.domain("policy2")["max_khz"] == 1000000, 10, "obeyed")
            self.assertEqual(daemon.domain("policy2")["state"], "driven")
        self.assertEqual(limits("policy2"), (400000, 1000000))
        shell_write(path, 1400000)
        self.assertEqual(guest.snapshot(), self.before)

    def test_taken_over(self):
        """limits: where another program moves a limit of ours the domain is left to it, said once"""
        with guest.Daemon(LIMITS + "[domain]\nmax-frequency = 1GHz\n") as daemon:
            guest.wait_for(lambda: limits("policy2") == (400000, 1000000), 10, "the ceiling")
            shell_write(guest.policy("policy2", "scaling_max_freq"), 1400000)
            guest.wait_for(lambda: daemon.domain("policy2")["state"] == "yielded", 10, "a yield")
            self.assertIn("scaling_max_freq to 1400000", daemon.domain("policy2")["state_why"])
            guest.start_load("cpu", "--cpus", "2", "--time", "1").wait()
            self.assertEqual(limits("policy2"), (400000, 1400000))
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
            self.assertEqual(daemon.log().count("policy2: "), 1, daemon.log())
        self.assertEqual(guest.snapshot(), self.before)

    def test_killed(self):
        """limits: after SIGKILL wakegovd --restore puts the limits back, and says so"""
        daemon = guest.Daemon(LIMITS + "[domain]\nmax-frequency = 1GHz\n").start()
        guest.wait_for(lambda: limits("policy2") == (400000, 1000000), 10, "the ceiling")
        daemon.stop(signal.SIGKILL)
        done = subprocess.run([f"{guest.BUILD}/wakegovd", "--restore"], check=True,
                              capture_output=True, text=True)
        self.assertIn("restored policy2 scaling_max_freq to 1400000", done.stderr)
        guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything restored")
        self.assertFalse(os.path.exists("/run/wakegov/originals"))

    def test_quiet(self):
        """limits: a load that changes no floor and no ceiling costs no write"""
        with guest.Daemon(LIMITS) as daemon:
            before = daemon.domain("policy2")["writes"]
            guest.start_load("cpu", "--cpus", "2", "--time", "1").wait()
            time.sleep(0.5)
            self.assertEqual(daemon.domain("policy2")["writes"], before)
        self.assertEqual(guest.snapshot(), self.before)


if __name__ == "__main__":
    tap.main()
