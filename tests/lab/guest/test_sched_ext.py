#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A scheduler of sched_ext has all tasks: no clamp is obeyed then, and it calls no schedutil."""
import contextlib
import signal
import subprocess
import unittest

import guest
import tap

SCX = f"{guest.BUILD}/tests/lab/scx"


@contextlib.contextmanager
def scheduler():
    with subprocess.Popen([SCX, f"{SCX}.bpf.o"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "runs\n"
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)


class SchedExt(unittest.TestCase):
    def assert_backend(self, daemon, backend):
        guest.wait_for(lambda: daemon.domain("policy0")["backend"] == backend, 5, backend)

    def test_comes_and_goes(self):
        """auto takes setspeed while the scheduler is there, says so, and holds the cap"""
        with guest.Daemon("[rule capped]\ncomm = python3\ncap = 30%\n") as daemon, guest.busy_loop(1):
            self.assert_backend(daemon, "uclamp")
            self.assertNotIn("sched_ext", guest.said("status"))
            with scheduler():
                self.assert_backend(daemon, "setspeed")
                guest.wait_for(lambda: guest.frequency("policy0") == 600000, 2, "the cap")
                for command in ("status",), ("explain", "policy0"):
                    self.assertIn("sched_ext scheduler plain", guest.said(*command))
                self.assertIn("sched_ext scheduler: plain it has all tasks", guest.said("doctor"))
            self.assert_backend(daemon, "uclamp")
            self.assertEqual(guest.read(guest.policy("policy0", "scaling_governor")), "schedutil")
            self.assertIn("backend setspeed, not uclamp: the sched_ext scheduler plain has all tasks", daemon.log())

    def test_named(self):
        """backend = uclamp watches while the scheduler is there, and drives again after it"""
        with guest.Daemon("[wakegov]\nbackend = uclamp\n") as daemon:
            with scheduler():
                self.assert_backend(daemon, "observe")
                self.assertIn("not uclamp: the sched_ext scheduler plain", daemon.log())
            self.assert_backend(daemon, "uclamp")

    def test_limit_ends(self):
        """a limit that ends, by its override or with the daemon, does not leave the domain slow"""
        with scheduler(), guest.busy_loop(1):
            with guest.Daemon("[wakegov]\nbackend = limits\n") as daemon:
                for _ in range(2):
                    added = daemon.call("AddOverride", domain="policy0", settings={"max-frequency": "600MHz"})["override"]
                    guest.wait_for(lambda: guest.frequency("policy0") == 600000, 2, "the limit")
                    daemon.call("CancelOverride", id=added["id"])
                    guest.wait_for(lambda: guest.frequency("policy0") == 1800000, 2, "its end")
                daemon.call("AddOverride", domain="policy0", settings={"max-frequency": "600MHz"})
                guest.wait_for(lambda: guest.frequency("policy0") == 600000, 2, "the limit")
            guest.wait_for(lambda: guest.frequency("policy0") == 1800000, 2, "the daemon's end")


if __name__ == "__main__":
    tap.main()
