# SPDX-License-Identifier: GPL-2.0-only
"""The installed unit, for tests under a real systemd as PID 1."""
import os
import subprocess
import unittest

import guest

DROPIN = "/run/systemd/system/wakegovd.service.d/test.conf"
POLICY = "/etc/wakegov/wakegov.conf"
SETSPEED = f"{POLICY}.d/setspeed.conf"
NOBODY = 65534


def run(*command, check=True):
    """On a busy host wakegovctl's own 10 s may be short."""
    if "wakegovctl" in command:
        after = command.index("wakegovctl") + 1
        command = *command[:after], "--timeout", str(30 * guest.PATIENCE), *command[after:]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=90 * guest.PATIENCE)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}: {done.stderr}")
    return done


def show(name):
    return run("systemctl", "show", "--value", "-p", name, "wakegovd.service").stdout.strip()


def journal():
    run("journalctl", "--sync")
    return run("journalctl", "-u", "wakegovd.service", "-o", "cat", "--no-pager").stdout


def drop_in(text):
    os.makedirs(os.path.dirname(DROPIN), exist_ok=True)
    guest.write(DROPIN, f"[Service]\n{text}\n")
    run("systemctl", "daemon-reload")


def remove_drop_in():
    if os.path.exists(DROPIN):
        os.remove(DROPIN)
        run("systemctl", "daemon-reload")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # What meson install put into the stage, as a package would.
        run("cp", "-a", f"{guest.BUILD}/stage/.", "/")
        # What auto would take depends on the kernel; what the tests look at is setspeed's.
        os.makedirs(os.path.dirname(SETSPEED), exist_ok=True)
        guest.write(SETSPEED, "[wakegov]\nbackend = setspeed\n")
        run("systemctl", "daemon-reload")

    def setUp(self):
        self.before = guest.snapshot()
        # Nothing is installed there.
        self.assertFalse(os.path.exists(POLICY))
        self.addCleanup(lambda: os.path.exists(POLICY) and os.remove(POLICY))
        self.addCleanup(run, "systemctl", "reset-failed", "wakegovd.service", check=False)
        self.addCleanup(remove_drop_in)
        self.addCleanup(run, "systemctl", "stop", "wakegovd.service", check=False)

    def wait_active(self, pid_before=0):
        guest.wait_for(lambda: show("ActiveState") == "active" and
                       int(show("MainPID")) not in (0, pid_before), 30, "the unit active")
