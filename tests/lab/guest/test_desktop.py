#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The desktop's switch: powerprofilesctl itself, and power-profiles-daemon beside ours.

Run with lab run --init systemd --packages power-profiles-daemon.
"""
import re
import subprocess
import time

import guest
import tap
from installed import Installed, run

UNIT = "wakegov-desktop.service"
RIVAL = "power-profiles-daemon.service"
NAME = "org.freedesktop.UPower.PowerProfiles"
PATH = "/org/freedesktop/UPower/PowerProfiles"


def switch(*arguments, check=True):
    return run("powerprofilesctl", *arguments, check=check).stdout.strip()


def held():
    return run("wakegovctl", "profile").stdout.splitlines()[0]


def unit(name, what):
    return run("systemctl", "show", "--value", "-p", what, name).stdout.strip()


class Desktop(Installed):
    def setUp(self):
        super().setUp()
        run("systemctl", "stop", RIVAL, check=False)
        run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
            "ReloadConfig")
        self.addCleanup(run, "systemctl", "stop", UNIT, check=False)

    def start(self):
        run("systemctl", "start", "wakegovd.service", UNIT)
        run("wakegovctl", "profile", "auto")
        # It hears of that within a tenth of a second.
        guest.wait_for(lambda: switch("get") == "balanced", 5, "balanced to begin with")

    def assert_held(self, line):
        guest.wait_for(lambda: held() == line, 5, f"{line}, not {held()}")

    def test_switch(self):
        """powerprofilesctl lists, gets and sets wakegov's profiles, and the domains follow"""
        self.start()
        listed = switch("list")
        self.assertEqual(re.findall(r"(\S+):$", listed, re.M),
                         ["performance", "balanced", "power-saver"])
        self.assertEqual(listed.count("Driver:     wakegov"), 3)
        self.assertEqual(switch("get"), "balanced")
        switch("set", "power-saver")
        self.assert_held("quiet is in force: chosen")
        with guest.busy_loop(0):
            guest.wait_for(lambda: guest.frequency("policy0") == 1000000, 10, "the ceiling")
            switch("set", "performance")
            guest.wait_for(lambda: guest.frequency("policy0") == 1800000, 10, "no ceiling")
        self.assertEqual(switch("get"), "performance")
        run("wakegovctl", "profile", "quiet")
        guest.wait_for(lambda: switch("get") == "power-saver", 5, "what wakegovctl chose")

    def test_hold(self):
        """launch holds a profile while its command runs; a kill of either side ends the hold"""
        self.start()
        self.assertIn("held by a client", switch("launch", "-p", "performance", "wakegovctl", "profile"))
        self.assert_held("balanced is in force: no condition is true")

        def launch():
            holder = subprocess.Popen(["powerprofilesctl", "launch", "-p", "power-saver", "sleep", "1000"])
            self.addCleanup(holder.wait)
            self.addCleanup(holder.kill)
            self.assert_held("quiet is in force: held by a client")
            return holder

        launch().kill()
        self.assert_held("balanced is in force: no condition is true")
        launch()
        self.assertIn("power-saver", switch("list-holds"))
        run("systemctl", "kill", "-s", "KILL", UNIT)
        self.assert_held("balanced is in force: no condition is true")
        guest.wait_for(lambda: unit(UNIT, "ActiveState") == "active", 10, "it is there again")
        launch()
        # What the user chooses meanwhile ends the hold.
        switch("set", "performance")
        self.assert_held("performance is in force: chosen")
        self.assertEqual(switch("list-holds"), "")

    def test_rights(self):
        """without polkit only root switches and holds, and all may look"""
        self.start()
        nobody = ("setpriv", "--reuid=65534", "--clear-groups", "busctl")
        bus = (NAME, PATH, NAME)
        self.assertIn("balanced", run(*nobody, "get-property", *bus, "ActiveProfile").stdout)
        for refused in (("set-property", *bus, "ActiveProfile", "s", "performance"),
                        ("call", *bus, "HoldProfile", "sss", "performance", "why", "who")):
            done = run(*nobody, *refused, check=False)
            self.assertIn("ccess denied", done.stderr)
        for wrong in (("set-property", *bus, "ActiveProfile", "s", "fast"),
                      ("call", *bus, "HoldProfile", "sss", "balanced", "why", "who"),
                      ("call", *bus, "ReleaseProfile", "u", "77")):
            done = run("busctl", *wrong, check=False)
            self.assertEqual(done.returncode, 1, wrong)
        self.assert_held("balanced is in force: no condition is true")

    def test_conflict(self):
        """the name is left to power-profiles-daemon, whose choice is followed, and taken after it"""
        run("systemctl", "start", RIVAL)
        self.start()
        self.assertNotIn("wakegov", switch("list"))
        switch("set", "power-saver")
        self.assert_held("quiet is in force: chosen")
        switch("set", "balanced")
        self.assert_held("balanced is in force: chosen")
        run("systemctl", "stop", RIVAL)
        guest.wait_for(lambda: "Driver:     wakegov" in switch("list", check=False), 10, "the name")
        switch("set", "power-saver")
        self.assert_held("quiet is in force: chosen")

    def test_cost(self):
        """it takes less than 2 MiB, does not wake up while nothing happens, and ends with wakegovd"""
        self.start()
        switch("get")
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
