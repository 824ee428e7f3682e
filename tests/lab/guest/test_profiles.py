#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Profiles: each way to one, what it does to the CPUs, and that all is as before without it."""
import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

import guest
import tap

SCRATCH = 0x3FF  # see image_acpi_line in tests/lab/lib/image.sh
LINE = "/sys/class/power_supply/ADP1"
EXAMPLES = f"{guest.REPO}/conf/examples"
LIMITS = "[wakegov]\nbackend = limits\n"


ON_LINE, UNPLUGGED, WEAK_LINE = b"\0", b"\xba", b"\xbb"


def load_supplies():
    subprocess.run(["modprobe", "ac"], check=True)
    # It would repeat what it read a second ago.
    subprocess.run(["modprobe", "battery", "cache_time=0"], check=True)


def supply(state):
    with open("/dev/port", "r+b", buffering=0) as port:
        port.seek(SCRATCH)
        port.write(state)
    guest.write(f"{LINE}/uevent", "change")


def unplug(is_out):
    supply(UNPLUGGED if is_out else ON_LINE)


def set_clock(text):
    subprocess.run(["date", "-s", text], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def running(name, nice=0, unit=""):
    """A task of that name which does nothing but run, on CPU 1; in the cgroup of a unit."""
    folder = f"/tmp/programs/{os.path.dirname(name)}"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{os.path.basename(name)}"
    shutil.copy("/bin/dash", path)
    task = subprocess.Popen([path, "-c", "while :; do :; done"], preexec_fn=lambda: (
        os.sched_setaffinity(0, {1}), os.nice(nice)))
    group = f"/sys/fs/cgroup/{unit}"
    os.makedirs(group, exist_ok=True)
    guest.write(f"{group}/cgroup.procs", task.pid)
    try:
        yield task
    finally:
        task.kill()
        task.wait()


class Profiles(unittest.TestCase):
    def setUp(self):
        self.before = guest.snapshot()
        self.addCleanup(self.assert_restored)

    def assert_restored(self):
        self.assertEqual(guest.snapshot(), self.before)

    def assert_holds(self, daemon, profile, why=None):
        guest.wait_for(lambda: daemon.call("Profiles")["active"] == profile, 5, profile)
        if why:
            self.assertEqual(daemon.call("Profiles")["why"], why)

    def assert_runs(self, khz, cpu_domain="policy0"):
        try:
            guest.wait_for(lambda: guest.frequency(cpu_domain) == khz, 10, f"{khz} kHz")
        except AssertionError:
            guest.tell_domain(cpu_domain)
            raise

    def test_chosen(self):
        """a profile that is chosen holds, also for the next daemon, until auto; the files are not read"""
        with guest.Daemon(LIMITS) as daemon, guest.busy_loop(0):
            self.assert_runs(1800000)
            daemon.set_policy("nonsense")
            daemon.call("ChooseProfile", profile="quiet")
            # 60 % of 1800 MHz, and the next OPP below.
            self.assert_runs(1000000)
            daemon.set_policy(LIMITS)
            daemon.stop(signal.SIGKILL)
            daemon.start()
            self.assert_holds(daemon, "quiet", "chosen")
            self.assert_runs(1000000)
            daemon.call("ChooseProfile")
            self.assert_holds(daemon, "balanced", "no condition is true")
            self.assert_runs(1800000)
        self.assertFalse(os.path.exists("/run/wakegov/profile"))

    def test_each_backend(self):
        """quiet holds its ceiling, and performance its floor, whatever moves the domains"""
        for backend in ("uclamp", "setspeed", "limits"):
            with self.subTest(backend), guest.Daemon(f"[wakegov]\nbackend = {backend}\n") as daemon:
                daemon.call("ChooseProfile", profile="performance")
                # 60 % of 1800 MHz, and the next OPP above.
                self.assert_runs(1400000)
                daemon.call("ChooseProfile", profile="quiet")
                with guest.busy_loop(0):
                    self.assert_runs(1000000)
                daemon.call("ChooseProfile")

    def test_battery(self):
        """when = battery holds while the line is out, by the kernel's own word"""
        load_supplies()
        self.addCleanup(unplug, False)
        with guest.Daemon("[profile quiet]\nwhen = battery\n") as daemon:
            self.assert_holds(daemon, "balanced")
            before = daemon.switches()
            time.sleep(2)
            self.assertLess(daemon.switches() - before, 10)
            unplug(True)
            self.assert_holds(daemon, "quiet", "its condition is true")
            unplug(False)
            self.assert_holds(daemon, "balanced")
            unplug(True)
            self.assert_holds(daemon, "quiet")
        with guest.Daemon("[profile quiet]\nwhen = battery\n") as daemon:
            self.assert_holds(daemon, "quiet")

    def test_advised(self):
        """doctor names the key for a machine with a battery"""
        load_supplies()
        self.addCleanup(unplug, False)
        with guest.Daemon(""):
            said = guest.said("doctor")
        self.assertIn("when = battery below [profile quiet]", said)
        self.assertIn(" verdict wakegov ", said)

    def test_supply_removed(self):
        """a line that is removed is no longer one, as one that is unplugged"""
        load_supplies()
        self.addCleanup(unplug, False)
        self.addCleanup(subprocess.run, ["modprobe", "ac"], check=True)
        supply(WEAK_LINE)
        with guest.Daemon("[profile quiet]\nwhen = battery\n") as daemon:
            self.assert_holds(daemon, "balanced")
            subprocess.run(["rmmod", "ac"], check=True)
            self.assert_holds(daemon, "quiet", "its condition is true")

    def test_times(self):
        """a time of day begins and ends, over midnight too, and the clock may be set meanwhile"""
        set_clock("2026-11-23 12:00:00")
        with guest.Daemon("[profile night]\nwhen = 22:00-06:00\n") as daemon:
            self.assert_holds(daemon, "balanced")
            set_clock("2026-11-23 21:59:57")
            self.assert_holds(daemon, "night")
            set_clock("2026-11-24 05:59:58")
            self.assert_holds(daemon, "balanced")
            set_clock("2026-11-24 00:30:00")
            self.assert_holds(daemon, "night")
            set_clock("2026-11-24 12:00:00")
            self.assert_holds(daemon, "balanced")

    def test_time_zone(self):
        """a profile by time of day follows when the time zone changes"""
        zones = "/usr/share/zoneinfo/Etc"
        self.addCleanup(os.symlink, os.readlink("/etc/localtime"), "/etc/localtime")
        self.addCleanup(os.remove, "/etc/localtime")
        subprocess.run(["ln", "-sfn", f"{zones}/UTC", "/etc/localtime"], check=True)
        set_clock("2026-11-23 12:00:00")
        with guest.Daemon(LIMITS + "[profile quiet]\nwhen = 22:00-06:00\n") as daemon:
            self.assert_holds(daemon, "balanced")
            subprocess.run(["ln", "-sfn", f"{zones}/GMT-12", "/etc/localtime"], check=True)
            self.assert_holds(daemon, "quiet")
            os.remove("/etc/localtime")
            os.symlink(f"{zones}/UTC", "/etc/localtime")
            self.assert_holds(daemon, "balanced")

    def test_rule(self):
        """when = rule NAME holds while there is a task that the rule is for"""
        text = "[rule game]\ncomm = doom\n[profile games]\nwhen = rule game\n"
        with guest.Daemon(LIMITS + text + "domain.max-frequency = 600MHz\n") as daemon:
            self.assert_holds(daemon, "balanced")
            with running("doom"):
                self.assert_holds(daemon, "games")
                self.assert_runs(600000)
                # By another name the rule is for the same task.
                daemon.set_policy(LIMITS + text.replace("rule game", "rule play"))
                daemon.call("Reload")
                self.assert_runs(1800000)
                self.assert_holds(daemon, "games")
            self.assert_holds(daemon, "balanced")
            # A shell that takes the name without running another program.
            renamed = subprocess.Popen(["sh", "-c", "printf doom > /proc/$$/comm; read line"],
                                       stdin=subprocess.PIPE)
            self.assert_holds(daemon, "games")
            renamed.communicate(b"\n")
            self.assert_holds(daemon, "balanced")
            self.assertNotIn("has no effect", daemon.log())

    def test_comes_and_goes(self):
        """tasks of a rule that come and go a hundred times a second change it once a second at most"""
        text = "[rule game]\ncomm = doom\n[profile games]\nwhen = rule game\n"
        with guest.Daemon(text) as daemon:
            with running("doom") as task:
                path = os.readlink(f"/proc/{task.pid}/exe")
            start = time.monotonic()
            while time.monotonic() < start + 5:
                subprocess.run([path, "-c", ":"], check=True)
                time.sleep(0.005)
            changes = daemon.log().count("profile ")
            self.assertLessEqual(changes, time.monotonic() - start + 2)
            self.assert_holds(daemon, "balanced")

    def test_held(self):
        """a policy that a client holds ends with the client, and the chosen profile is as before"""
        with guest.Daemon(LIMITS) as daemon:
            daemon.call("ChooseProfile", profile="performance")
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(daemon.socket)
                client.sendall(b'{"method": "io.wakegov.HoldPolicy", "more": true, '
                               b'"parameters": {"text": "[domain]\\nheadroom = 150%\\n"}}\0')
                client.recv(1 << 16)
                self.assertTrue(daemon.call("Status")["policy_is_held"])
            guest.wait_for(lambda: "the policy of the files is in force again" in daemon.log(), 5, "its end")
            self.assert_holds(daemon, "performance", "chosen")
            daemon.call("ChooseProfile")

    def test_refused(self):
        """one that the policy has not is refused, and one that a reload takes away holds no longer"""
        with guest.Daemon("[profile mine]\ndomain.headroom = 110%\n") as daemon:
            with self.assertRaisesRegex(RuntimeError, "NoSuchProfile.*none"):
                daemon.call("ChooseProfile", profile="none")
            daemon.call("ChooseProfile", profile="mine")
            daemon.set_policy("")
            daemon.call("Reload")
            self.assert_holds(daemon, "balanced")
            self.assertIn("is no longer in the policy", daemon.log())
            daemon.call("ChooseProfile")


class Examples(unittest.TestCase):
    """Each does what its comment says."""

    def start(self, name):
        with open(f"{EXAMPLES}/{name}.conf", encoding="utf-8") as file:
            daemon = guest.Daemon(LIMITS + file.read())
        daemon.start()
        self.addCleanup(daemon.stop)
        return daemon

    def given(self, daemon, task):
        """The caps and floors that it has, by the rule that gives them."""
        rules = daemon.call("ExplainRules", pid=task.pid)["rules"]
        return {key: found["rule"][key] for found in rules for key in ("cap", "floor")
                if found[f"gives_{key}"]}

    def assert_given(self, daemon, task, **levels):
        guest.wait_for(lambda: self.given(daemon, task) == levels, 5,
                       f"{levels}, not {self.given(daemon, task)}")

    def test_all_parse(self):
        """every example is good by itself, without a word about it"""
        for path in glob.glob(f"{EXAMPLES}/*.conf"):
            done = subprocess.run([f"{guest.BUILD}/wakegovd", "--check-config", path],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_games(self):
        """games: while one runs it has its floor, and what is niced its cap"""
        daemon = self.start("games")
        with running("niced", nice=10) as niced:
            self.assert_given(daemon, niced)
            with running("steamapps/common/doom/doom") as game:
                self.assert_given(daemon, niced, cap="30%")
                self.assert_given(daemon, game, floor="60%")
            self.assert_given(daemon, niced)
            slice_of_user = "user.slice/user-1000.slice/user@1000.service/background.slice"
            with running("wine64-preloader") as game, running("indexer", unit=slice_of_user) as beside:
                self.assert_given(daemon, game, floor="60%")
                self.assert_given(daemon, beside, cap="30%")

    def test_battery(self):
        """laptop and backup: on battery what is niced, and a backup, has less; the domains have a ceiling"""
        load_supplies()
        self.addCleanup(unplug, False)
        for name, task, nice, usual, less in (("laptop", "niced", 10, "40%", "30%"),
                                              ("backup", "borg", 0, "40%", "20%")):
            with self.subTest(name), running(task, nice=nice) as running_task:
                daemon = self.start(name)
                self.assert_given(daemon, running_task, cap=usual)
                unplug(True)
                self.assert_given(daemon, running_task, cap=less)
                # 60 % of 1400 MHz, and the next OPP below.
                ceiling = guest.policy("policy2", "scaling_max_freq")
                guest.wait_for(lambda p=ceiling: guest.read(p) == "600000", 5, "the ceiling")
                unplug(False)
                self.assert_given(daemon, running_task, cap=usual)
                daemon.stop()

    def test_hours(self):
        """database and build-server: their hours of the day"""
        for name, task, before, within, hour in (
                ("database", "pg_dump", {"cap": "40%"}, {"cap": "80%"}, "02:00"),
                ("build-server", "cc1", {"cap": "80%"}, {"cap": "none"}, "09:00")):
            with self.subTest(name), running(task) as running_task:
                set_clock("2026-11-23 00:30:00")
                daemon = self.start(name)
                self.assert_given(daemon, running_task, **before)
                set_clock(f"2026-11-23 {hour}:00")
                self.assert_given(daemon, running_task, **within)
                if name == "database":
                    with running("postgres", unit="system.slice/postgresql@15-main.service") as server:
                        self.assert_given(daemon, server, cap="none", floor="40%")
                daemon.stop()


if __name__ == "__main__":
    tap.main()
