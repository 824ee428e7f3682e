#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What outlasts the daemon, over minutes in which nothing happens. In virtual time."""
import signal
import tempfile
import time
import unittest

import guest
import tap

HIGHEST, LOWEST = 1800000, 400000


class Past(unittest.TestCase):
    def test_saved_once(self):
        """what was counted is on disk a minute after the last change, and nothing wakes the daemon again"""
        with tempfile.TemporaryDirectory() as state, \
                guest.Daemon("[wakegov]\nbackend = limits\n", ("--state-dir", state)) as daemon:
            with guest.busy_loop(0):
                guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST, 10, "the highest")
                time.sleep(3)
            guest.wait_for(lambda: guest.frequency("policy0") == LOWEST, 10, "the lowest")
            time.sleep(70)
            before = daemon.switches()
            time.sleep(200)
            woken = daemon.switches() - before
            tap.note(f"{woken} wake-ups in 200 s")
            self.assertLess(woken, 20)
            daemon.stop(signal.SIGKILL)
            daemon.start()
            domain = next(d for d in daemon.call("Stats", period="today")["domains"]
                          if d["domain"] == "policy0")
            busy_us = sum(t["time_us"] for t in domain["times"] if t["khz"] == HIGHEST)
            self.assertGreater(busy_us, 2_900_000)  # it is looked at ten times a second


if __name__ == "__main__":
    tap.main()
