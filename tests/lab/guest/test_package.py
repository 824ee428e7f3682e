#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The Debian package where systemd runs, from installation to purge: tests/package has it run.

Run with lab run --init systemd.
"""
import contextlib
import glob
import os
import platform
import unittest

import guest
import tap
from installed import POLICY, journal, run, show

RIGHT = "[wakegov]\nbackend = setspeed\n"
WRONG = "nonsense = yes\n"


def dpkg(*arguments):
    """Without triggers: those of the many packages of this root are not ours, and take minutes."""
    run("dpkg", "--no-triggers", *arguments)


class Package(unittest.TestCase):
    def governors(self):
        return {guest.read(guest.policy(name, "scaling_governor")) for name in ("policy0", "policy2")}

    def test_package(self):
        """under systemd it starts, a wrong policy stops no upgrade, and removal puts all back"""
        before = guest.snapshot()
        release = platform.freedesktop_os_release()["VERSION_CODENAME"]
        package = glob.glob(f"{guest.BUILD}/package/{release}/debs/wakegov_*.deb")[0]
        # Of a root that was made as a container: nothing is to be started there.
        with contextlib.suppress(FileNotFoundError):
            os.remove("/usr/sbin/policy-rc.d")
        os.makedirs(os.path.dirname(POLICY))
        guest.write(POLICY, RIGHT)
        dpkg("-i", package)
        self.assertEqual((show("ActiveState"), show("UnitFileState")), ("active", "enabled"))
        self.assertEqual(self.governors(), {"userspace"})
        guest.write(POLICY, WRONG)
        dpkg("-i", package)
        self.assertEqual(guest.snapshot(), before)
        self.assertIn(f"{POLICY}:1: ", journal())
        guest.write(POLICY, RIGHT)
        dpkg("-i", package)
        self.assertEqual(self.governors(), {"userspace"})
        dpkg("-r", "wakegov")
        self.assertEqual(guest.snapshot(), before)
        dpkg("-P", "wakegov")
        self.assertEqual(guest.read(POLICY), RIGHT.strip())
        self.assertFalse(os.path.exists("/run/wakegov"))


if __name__ == "__main__":
    tap.main()
