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


# From the packages' own repository alone. Without triggers: those of the many packages of this root are not
# ours, and take minutes.
SOURCES = "/etc/apt/sources.list.d/wakegov.list"
APT_CONF = f"""Dir::Etc::SourceList "{SOURCES}";
Dir::Etc::SourceParts "/nonexistent";
APT::Sandbox::User "root";
DPkg::NoTriggers "true";
DPkg::TriggersPending "false";
"""


def repository(name):
    """The line of sources.list for it."""
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    return f"deb [trusted=yes] file:{guest.BUILD}/package/{release}/{name} ./"


def apt(*arguments, of="repository"):
    guest.write(SOURCES, repository(of) + "\n")
    run("apt-get", "-qq", "update")
    run("apt-get", "-qq", "-y", *arguments)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        guest.write("/run/apt.conf", APT_CONF)
        os.environ["APT_CONFIG"] = "/run/apt.conf"
        # Of a root that was made as a container: nothing is to be started there.
        with contextlib.suppress(FileNotFoundError):
            os.remove("/usr/sbin/policy-rc.d")

    def governors(self):
        return {guest.read(guest.policy(name, "scaling_governor")) for name in ("policy0", "policy2")}

    def test_package(self):
        """by apt under systemd it starts, a wrong policy stops no upgrade, and removal puts all back"""
        before = guest.snapshot()
        os.makedirs(os.path.dirname(POLICY))
        guest.write(POLICY, RIGHT)
        apt("install", "wakegov")
        self.assertEqual((show("ActiveState"), show("UnitFileState")), ("active", "enabled"))
        self.assertEqual(self.governors(), {"userspace"})
        guest.write(POLICY, WRONG)
        apt("install", "wakegov", of="repository-next")
        self.assertEqual(guest.snapshot(), before)
        self.assertIn(f"{POLICY}:1: ", journal())
        guest.write(POLICY, RIGHT)
        apt("install", "--reinstall", "wakegov", of="repository-next")
        self.assertEqual(self.governors(), {"userspace"})
        self.assertIn("+next", run("dpkg-query", "-f", "${Version}", "-W", "wakegov").stdout)
        apt("remove", "wakegov")
        self.assertEqual(guest.snapshot(), before)
        apt("purge", "wakegov")
        self.assertEqual(guest.read(POLICY), RIGHT.strip())
        self.assertFalse(os.path.exists("/run/wakegov"))

    def test_playbook(self):
        """the fleet's playbook rolls out a policy that is good, measures, and takes policy and package back"""
        def play(tags, **variables):
            words = [word for name, value in variables.items() for word in ("-e", f"wakegov_{name}={value}")]
            return run("ansible-playbook", "-i", "localhost,", "-c", "local", "--tags", tags, *words,
                       "conf/fleet/wakegov.yml", check=False)

        before, policy = guest.snapshot(), "/run/policy.conf"
        guest.write(policy, WRONG)
        lines = f"'{repository('repository-next')}'"
        refused = play("rollout", repository=lines, policy=policy)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("nonsense", refused.stdout)
        guest.write(policy, RIGHT + "[rule fleet]\ncomm = x\ncap = 50%\n")
        done = play("rollout,measure", repository=lines, policy=policy, block="1s", **{"for": "8s"})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("What it is worth", done.stdout)
        self.assertEqual((show("ActiveState"), show("UnitFileState")), ("active", "enabled"))
        self.assertEqual(run("systemctl", "is-enabled", "wakegov-metrics.timer").stdout.strip(), "enabled")
        self.assertIn("fleet", run("wakegovctl", "rules").stdout)
        older = run("apt-cache", "madison", "wakegov").stdout.splitlines()[-1].split("|")[1].strip()
        done = play("rollback", version=older)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(run("dpkg-query", "-f", "${Version}", "-W", "wakegov").stdout, older)
        self.assertNotIn("fleet", run("wakegovctl", "rules").stdout)
        done = play("rollback", removed="yes")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertFalse(os.path.exists("/usr/sbin/wakegovd"))
        self.assertEqual(guest.snapshot(), before)


if __name__ == "__main__":
    tap.main()
