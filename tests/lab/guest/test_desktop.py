#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The desktop's switch: what power-profiles-daemon has in force is wakegov's profile.

Run with lab run --init systemd --packages power-profiles-daemon.
"""
import re
import subprocess
import time

import guest
import tap
from installed import Installed, run

UNIT = "wakegov-desktop.service"
SWITCH = "power-profiles-daemon.service"


def switch(*arguments, check=True):
    return run("powerprofilesctl", *arguments, check=check).stdout.strip()


def held():
    return run("wakegovctl", "profile").stdout.splitlines()[0]


def unit(name, what):
    return run("systemctl", "show", "--value", "-p", what, name).stdout.strip()


class Desktop(Installed):
    def setUp(self):
        super().setUp()
        self.addCleanup(run, "systemctl", "stop", UNIT, SWITCH, check=False)
        run("systemctl", "start", SWITCH)
        switch("set", "balanced")
        run("systemctl", "start", "wakegovd.service", UNIT)
        self.assert_held("balanced is in force: chosen")

    def assert_held(self, line):
        guest.wait_for(lambda: held() == line, 5, f"{line}, not {held()}")

    def test_follow(self):
        """powerprofilesctl sets wakegov's profile, and the domains follow; the switch's end leaves the conditions"""
        switch("set", "power-saver")
        self.assert_held("quiet is in force: chosen")
        with guest.busy_loop(0):
            guest.wait_for(lambda: guest.frequency("policy0") == 1000000, 10, "the ceiling")
            switch("set", "balanced")
            guest.wait_for(lambda: guest.frequency("policy0") == 1800000, 10, "no ceiling")
        self.assert_held("balanced is in force: chosen")
        switch("set", "power-saver")
        self.assert_held("quiet is in force: chosen")
        run("systemctl", "stop", SWITCH)
        self.assert_held("balanced is in force: no condition is true")
        self.assertEqual(unit(SWITCH, "ActiveState"), "inactive")
        run("wakegovctl", "profile", "performance")
        run("systemctl", "start", SWITCH)
        # It remembers what it had.
        self.assert_held("quiet is in force: chosen")

    def test_hold(self):
        """a profile that a program holds at the switch is in force until the program ends"""
        holder = guest.ended_with(self, subprocess.Popen(["powerprofilesctl", "launch", "-p", "power-saver", "sleep", "1000"]))
        self.assert_held("quiet is in force: chosen")
        holder.kill()
        self.assert_held("balanced is in force: chosen")

    def test_restart(self):
        """killed, it begins anew with what the switch has in force"""
        switch("set", "power-saver")
        self.assert_held("quiet is in force: chosen")
        run("wakegovctl", "profile", "performance")
        run("systemctl", "kill", "-s", "KILL", UNIT)
        self.assert_held("quiet is in force: chosen")

    def test_cost(self):
        """it takes less than 2 MiB, does not wake up while nothing happens, and ends with wakegovd"""
        pid = int(unit(UNIT, "MainPID"))
        pss = int(re.search(r"^Pss:\s+(\d+)", guest.read(f"/proc/{pid}/smaps_rollup"), re.M)[1])
        tap.note(f"{pss} KiB")
        self.assertLess(pss, 2048)

        def switches():
            status = guest.read(f"/proc/{pid}/status")
            return sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", status))

        before = switches()
        time.sleep(10)
        self.assertLessEqual(switches() - before, 1)
        run("systemctl", "stop", "wakegovd.service")
        guest.wait_for(lambda: unit(UNIT, "ActiveState") == "inactive", 10, "it ends with wakegovd")
        self.assertEqual(unit(UNIT, "Result"), "success")


if __name__ == "__main__":
    tap.main()
