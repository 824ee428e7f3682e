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
        """a decision is on disk a minute after it was taken, and nothing wakes the daemon again"""
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
            kept = [d["target_khz"] for d in daemon.call("Decisions", since_realtime_us=1)["decisions"]
                    if d["domain"] == "policy0" and d.get("realtime_us")]
            self.assertIn(HIGHEST, kept)
            self.assertEqual(kept[-1], LOWEST)


if __name__ == "__main__":
    tap.main()
