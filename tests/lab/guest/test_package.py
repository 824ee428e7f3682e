#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The Debian package where systemd runs, from installation to purge: tests/package has it run.

Run with lab run --init systemd.
"""
import contextlib
import os
import platform
import unittest

import guest
import tap
from installed import POLICY, journal, run, show

RIGHT = "[wakegov]\nbackend = setspeed\n"
WRONG = "nonsense = yes\n"


def apt(*arguments, repository="repository"):
    """From the packages' own repository alone.

    Without triggers: those of the many packages of this root are not ours, and take minutes.
    """
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    sources = "/run/wakegov.list"
    guest.write(sources, f"deb [trusted=yes] file:{guest.BUILD}/package/{release}/{repository} ./\n")
    options = (f"Dir::Etc::SourceList={sources}", "Dir::Etc::SourceParts=-", "APT::Sandbox::User=root",
               "DPkg::NoTriggers=true", "DPkg::ConfigurePending=false", "DPkg::TriggersPending=false")
    for command in (("update",), arguments):
        run("apt-get", "-qq", "-y", *(word for option in options for word in ("-o", option)), *command)


class Package(unittest.TestCase):
    def governors(self):
        return {guest.read(guest.policy(name, "scaling_governor")) for name in ("policy0", "policy2")}

    def test_package(self):
        """by apt under systemd it starts, a wrong policy stops no upgrade, and removal puts all back"""
        before = guest.snapshot()
        # Of a root that was made as a container: nothing is to be started there.
        with contextlib.suppress(FileNotFoundError):
            os.remove("/usr/sbin/policy-rc.d")
        os.makedirs(os.path.dirname(POLICY))
        guest.write(POLICY, RIGHT)
        apt("install", "wakegov")
        self.assertEqual((show("ActiveState"), show("UnitFileState")), ("active", "enabled"))
        self.assertEqual(self.governors(), {"userspace"})
        guest.write(POLICY, WRONG)
        apt("install", "wakegov", repository="repository-next")
        self.assertEqual(guest.snapshot(), before)
        self.assertIn(f"{POLICY}:1: ", journal())
        guest.write(POLICY, RIGHT)
        apt("install", "--reinstall", "wakegov", repository="repository-next")
        self.assertEqual(self.governors(), {"userspace"})
        self.assertIn("+next", run("dpkg-query", "-f", "${Version}", "-W", "wakegov").stdout)
        apt("remove", "wakegov")
        self.assertEqual(guest.snapshot(), before)
        apt("purge", "wakegov")
        self.assertEqual(guest.read(POLICY), RIGHT.strip())
        self.assertFalse(os.path.exists("/run/wakegov"))


if __name__ == "__main__":
    tap.main()
