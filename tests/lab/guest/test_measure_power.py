#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl measure-power finds what the timed machine's CPUs draw, and its lines are a policy."""
import json
import os
import signal
import subprocess
import time
import unittest

import guest
import tap

OPPS = os.path.join(guest.REPO, "tests/lab/opps")


def start(*arguments):
    return subprocess.Popen([f"{guest.BUILD}/wakegovctl", "measure-power", *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, encoding="utf-8")


def table():
    """What a busy CPU draws above an idle one at the lowest OPP, in mW: {kHz: mW}. Between two rows of the
    table its voltage is on the line between theirs."""
    with open(OPPS, encoding="utf-8") as file:
        rows = sorted([int(field) for field in line.split()] for line in file if line[0].isdigit())
    found = {}
    for (low, low_mv, *_), (high, high_mv, *_) in zip(rows, rows[1:]):
        for mhz in range(low, high + 1, 100):
            volt = (low_mv + (high_mv - low_mv) * (mhz - low) / (high - low)) / 1000
            found[mhz * 1000] = volt**2 * mhz + 100 * (volt**2 - (rows[0][1] / 1000)**2)
    return found


class Power(unittest.TestCase):
    def setUp(self):
        subprocess.run(["modprobe", "intel_rapl_msr"], check=True)
        # Limits of somebody's own, which are those to put back.
        guest.write(guest.policy("policy2", "scaling_max_freq"), 1400000)
        self.addCleanup(guest.write, guest.policy("policy2", "scaling_max_freq"), 1800000)
        self.before = guest.snapshot()

    def test_table(self):
        """the table's power within 3 %, at the OPP that each window is of"""
        said, complaints = start("--json", "--for", "12s").communicate()
        self.assertEqual((guest.snapshot(), complaints), (self.before, ""))
        answer = json.loads(said)
        (group,) = answer["groups"]
        self.assertEqual(group["domains"], [f"policy{n}" for n in range(0, 4, len(guest.cpus_of("policy0")))])
        found, expected = {opp["khz"]: opp for opp in group["opps"]}, table()
        for khz, opp in found.items():
            tap.note(f"{khz} kHz: {1000 * opp['watts']:.1f} ± {1000 * opp['within_watts']:.1f} mW, "
                     f"{expected[khz]:.1f} by the table; ran at {opp['ran_khz']:.0f}")
            self.assertLess(abs(1000 * opp["watts"] / expected[khz] - 1), 0.03)
            self.assertEqual(opp["ran_khz"], khz)
            self.assertIsNone(opp["better_khz"])  # of this table each has the least energy for its work

    def test_policy(self):
        """what it prints is a policy, by which an idle domain has its lowest OPP; one that takes more is skipped"""
        lines, complaints = start("--for", "4s").communicate()
        self.assertEqual(complaints, "")
        self.assertIn("= 400MHz ", lines)
        for policy, lowest in ((lines, 400000), (lines.replace("= 400MHz ", "= 400MHz 9"), 500000)):
            with guest.Daemon("[wakegov]\nbackend = setspeed\n" + policy) as daemon:
                self.assertNotIn("opp-power", daemon.log())
                time.sleep(1)
                targets = [daemon.domain("policy2")["target_khz"] for _ in range(20) if not time.sleep(0.05)]
                self.assertEqual(min(targets), lowest)

    def test_ended(self):
        """Ctrl-C, and a signal to end, leave no limit and no loop behind, and wakegovd governs again"""
        with guest.Daemon() as daemon:
            for number in (signal.SIGINT, signal.SIGTERM):
                process = start()
                guest.wait_for(lambda: daemon.domain("policy0")["state"] == "handed-back", 10, "lent")
                time.sleep(1)
                process.send_signal(number)
                said, complaints = process.communicate()
                self.assertEqual((process.returncode, said), (1, ""))
                self.assertIn(f"ended by {signal.Signals(number).name}", complaints)
                guest.wait_for(lambda: daemon.domain("policy0")["state"] == "driven", 5, "taken back")
        self.assertEqual(guest.snapshot(), self.before)
        self.assertEqual(subprocess.run(["pgrep", "-f", "wakegov-measure-power"], check=False).returncode, 1)


if __name__ == "__main__":
    tap.main()
