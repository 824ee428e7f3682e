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
                            stderr=subprocess.PIPE, text=True)


def table(cpus_of_domain):
    """What a busy CPU draws above an idle one at the lowest OPP, in mW: {kHz: mW}. Between two rows of the
    table the machine draws as at the next above. All CPUs of a clock leak at its voltage."""
    leaking = 2 / cpus_of_domain  # two share a clock, also where each is a domain of its own
    with open(OPPS, encoding="utf-8") as file:
        rows = sorted([int(field) for field in line.split()] for line in file if line[0].isdigit())
    return {mhz * 1000: row[2] + (row[3] - rows[0][3]) * leaking
            for mhz in range(rows[0][0], rows[-1][0] + 1, 100) for row in [next(r for r in rows if r[0] >= mhz)]}


class Power(unittest.TestCase):
    def setUp(self):
        subprocess.run(["modprobe", "intel_rapl_msr"], check=True)
        # Limits of somebody's own, which are those to put back.
        guest.write(guest.policy("policy2", "scaling_max_freq"), 1400000)
        self.addCleanup(guest.write, guest.policy("policy2", "scaling_max_freq"), 1800000)
        self.before = guest.snapshot()

    def test_table(self):
        """the table's power within 3 %, the OPPs that are inefficient by it, and a policy that skips them"""
        said, complaints = start("--json", "--for", "12s").communicate()
        self.assertEqual((guest.snapshot(), complaints), (self.before, ""))
        answer = json.loads(said)
        (group,) = answer["groups"]
        n_cpus = len(guest.cpus_of("policy0"))
        self.assertEqual(group["domains"], [f"policy{n}" for n in range(0, 4, n_cpus)])
        found, expected = {opp["khz"]: opp for opp in group["opps"]}, table(n_cpus)
        for khz, opp in found.items():
            tap.note(f"{khz} kHz: {1000 * opp['watts']:.1f} ± {1000 * opp['within_watts']:.1f} mW, "
                     f"{expected[khz]:.1f} by the table; ran at {opp['ran_khz']:.0f}")
            self.assertLess(abs(1000 * opp["watts"] / expected[khz] - 1), 0.03)
            self.assertLess(abs(opp["ran_khz"] / khz - 1), 0.02)
        energy = {khz: expected[khz] / khz for khz in found}
        inefficient = {khz for khz, opp in found.items() if opp["better_khz"]}
        for khz in inefficient:
            self.assertLess(energy[found[khz]["better_khz"]], energy[khz])
        # Of 100 MHz steps, which draw as the table's next row.
        self.assertEqual(bool(inefficient), len(found) > 5)
        self.skips("[domain]\n" + "".join(
            f"opp-power = {khz // 1000}MHz {opp['policy_watts'] * 1e6:.0f}uW\n" for khz, opp in found.items()),
            inefficient)

    def skips(self, powers, inefficient):
        """Where the lowest frequency that the policy allows is an inefficient one, the next better is chosen."""
        policy = "[wakegov]\nbackend = setspeed\n"
        with guest.Daemon(policy + powers) as daemon:
            self.assertNotIn("opp-power", daemon.log())
            for khz in sorted(inefficient):
                daemon.set_policy(f"{policy}{powers}min-frequency = {khz // 1000}MHz\n")
                daemon.call("Reload")
                guest.wait_for(lambda khz=khz: daemon.domain("policy0")["min_khz"] == khz and
                               daemon.domain("policy0")["target_khz"] > khz, 5, "a better one")
                self.assertNotIn(daemon.domain("policy0")["target_khz"], inefficient)
                said = subprocess.run([f"{guest.BUILD}/wakegovctl", "explain", "policy0"], check=True,
                                      capture_output=True, text=True).stdout
                self.assertIn("more energy for the same work, says the policy's opp-power", " ".join(said.split()))

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
