#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The Debian package where systemd runs, from installation to purge: tests/package has it run.

By dpkg, and by the fleet's playbook from the repository that tests/package made.
Run with lab run --init systemd --packages ansible-core.
"""
import contextlib
import glob
import os
import platform
import shutil
import unittest

import guest
import playbook
import tap
from installed import POLICY, journal, run, show

RIGHT = "[wakegov]\nbackend = setspeed\n"
WRONG = "nonsense = yes\n"
RELEASE = platform.freedesktop_os_release()["VERSION_CODENAME"]
BUILT = f"{guest.BUILD}/package/{RELEASE}"
FLEETS = f"{POLICY}.d/50-fleet.conf"


def dpkg(*arguments):
    """Without triggers: those of the many packages of this root are not ours, and take minutes."""
    run("dpkg", "--no-triggers", *arguments)


def governors():
    return {guest.read(guest.policy(name, "scaling_governor")) for name in ("policy0", "policy2")}


def let_units_start():
    """This root was made as a container: nothing is to be started there."""
    with contextlib.suppress(FileNotFoundError):
        os.remove("/usr/sbin/policy-rc.d")


class Package(unittest.TestCase):
    def test_package(self):
        """under systemd it starts, a wrong policy stops no upgrade, and removal puts all back"""
        before = guest.snapshot()
        package = glob.glob(f"{BUILT}/debs/wakegov_*.deb")[0]
        let_units_start()
        os.makedirs(os.path.dirname(POLICY), exist_ok=True)
        guest.write(POLICY, RIGHT)
        dpkg("-i", package)
        self.assertEqual((show("ActiveState"), show("UnitFileState")), ("active", "enabled"))
        self.assertEqual(governors(), {"userspace"})
        guest.write(POLICY, WRONG)
        dpkg("-i", package)
        self.assertEqual(guest.snapshot(), before)
        self.assertIn(f"{POLICY}:1: ", journal())
        guest.write(POLICY, RIGHT)
        dpkg("-i", package)
        self.assertEqual(governors(), {"userspace"})
        dpkg("-r", "wakegov")
        self.assertEqual(guest.snapshot(), before)
        dpkg("-P", "wakegov")
        self.assertEqual(guest.read(POLICY), RIGHT.strip())
        self.assertFalse(os.path.exists("/run/wakegov"))
        os.remove(POLICY)


class Fleet(unittest.TestCase):
    """The playbook as a fleet's keeper runs it, on the machine itself."""

    def play(self, tags, **variables):
        words = [word for name, value in variables.items() for word in ("-e", f"wakegov_{name}='{value}'")]
        done = playbook.play("/run/ansible", "--tags", tags, *words)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_playbook(self):
        """the fleet's playbook installs from a repository, puts a policy into force, measures, and takes all back"""
        before = guest.snapshot()
        let_units_start()
        # There is no network.
        run("rm", "-rf", "/etc/apt/sources.list", "/etc/apt/sources.list.d")
        run("mkdir", "-p", "/etc/apt/sources.list.d", "/var/lib/prometheus/node-exporter")  # for the metrics' timer
        guest.write("/run/policy.conf", RIGHT)
        # Where apt's own user may read it.
        shutil.copytree(f"{BUILT}/repository", "/run/repository")
        said = self.play("rollout,measure", repository="deb [trusted=yes] file:/run/repository ./",
                         policy="/run/policy.conf", **{"for": "1m", "block": "3s"})
        tap.note(next(line.strip() for line in said.splitlines() if '"msg": "' in line))
        self.assertEqual((show("ActiveState"), show("UnitFileState")), ("active", "enabled"))
        self.assertEqual(run("systemctl", "is-active", "wakegov-metrics.timer").stdout.strip(), "active")
        self.assertEqual(guest.read(FLEETS), RIGHT.strip())
        self.assertEqual(governors(), {"userspace"})
        self.assertIn("changed=0", self.play("rollout", policy="/run/policy.conf"))
        self.play("rollback")
        self.assertFalse(os.path.exists(FLEETS))
        self.assertEqual(show("ActiveState"), "active")
        self.play("rollback", removed="yes")
        self.assertEqual(guest.snapshot(), before)
        self.assertFalse(os.path.exists("/usr/sbin/wakegovd"))


if __name__ == "__main__":
    tap.main()
