#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What moves a domain: the backends limits and uclamp, what auto picks, and what is put back."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import guest
import tap
from clamps import clamps_of

LIMITS = "[wakegov]\nbackend = limits\n[io-boost]\nmin-rate = 200/s\n"


def limits(name):
    return tuple(int(guest.read(guest.policy(name, f"scaling_{end}_freq"))) for end in
                 ("min", "max"))


def set_cooling(state):
    """A thermal limit of ACPI's, in steps of a fifth of the highest frequency."""
    for path in glob.glob("/sys/class/thermal/cooling_device*"):
        if guest.read(f"{path}/type") == "Processor":
            guest.write(f"{path}/cur_state", state)


BPF_STATS = "/proc/sys/kernel/bpf_stats_enabled"


def requests_read():
    """How often wakegovd has read what was asked for, as it does to verify."""
    shown = subprocess.run(["bpftool", "-j", "prog", "show"], check=True, stdout=subprocess.PIPE)
    return sum(program.get("run_cnt", 0) for program in json.loads(shown.stdout)
               if program.get("name") == "read_limits")


class Limits(unittest.TestCase):
    def setUp(self):
        guest.restart_governors()
        self.before = guest.snapshot()

    def hot_at_start(self, end):
        """A daemon that starts under a thermal limit of 1 GHz, and writes under it."""
        self.addCleanup(set_cooling, 0)
        set_cooling(2)
        guest.wait_for(lambda: limits("policy0") == (400000, 1000000), 10, "the thermal limit")
        daemon = guest.Daemon(LIMITS + "[domain]\nmax-frequency = 600MHz\n").start()
        guest.wait_for(lambda: limits("policy0") == (400000, 600000), 10, "the ceiling")
        if not end:
            daemon.set_policy(LIMITS)
            daemon.call("Reload")
            guest.wait_for(lambda: limits("policy0") == (400000, 1000000), 10, "thermal alone")
            self.assertEqual(daemon.domain("policy0")["max_khz"], 1000000)
            set_cooling(0)
            guest.wait_for(lambda: limits("policy0") == (400000, 1800000), 10, "cooled down")
            guest.wait_for(lambda: daemon.domain("policy0")["max_khz"] == 1800000, 10, "told so")
            self.assertEqual(daemon.domain("policy0")["state"], "driven", daemon.log())
        daemon.stop(end or signal.SIGTERM)
        if end == signal.SIGKILL:
            guest.restore()
        set_cooling(0)
        guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything restored")
        self.assertEqual(limits("policy0"), (400000, 1800000))

    def test_hot(self):
        """limits: a thermal limit of the start ends when it ends, while wakegovd governs"""
        self.hot_at_start(0)

    def test_hot_until_the_end(self):
        """limits: nor is it left behind by a daemon that ends while it is hot"""
        self.hot_at_start(signal.SIGTERM)

    def test_hot_and_killed(self):
        """limits: nor after SIGKILL by wakegovd --restore"""
        self.hot_at_start(signal.SIGKILL)

    def test_user_limit_while_hot(self):
        """limits: what the user asks for above a thermal limit is what is put back"""
        self.addCleanup(set_cooling, 0)
        path = guest.policy("policy0", "scaling_max_freq")
        with guest.Daemon(LIMITS + "[domain]\nmin-frequency = 600MHz\n"):
            guest.wait_for(lambda: limits("policy0") == (600000, 1800000), 10, "the floor")
            set_cooling(2)
            guest.wait_for(lambda: limits("policy0") == (600000, 1000000), 10, "the thermal limit")
            guest.shell_write(path, 1400000)
        set_cooling(0)
        guest.wait_for(lambda: limits("policy0") == (400000, 1400000), 10, "the user's")
        guest.shell_write(path, 1800000)
        guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything restored")

    def test_own_writes(self):
        """limits: what wakegovd wrote itself is not verified, what another program writes is at once"""
        path = guest.policy("policy2", "scaling_max_freq")
        self.addCleanup(guest.write, path, 1400000)
        self.addCleanup(guest.write, BPF_STATS, "0")
        guest.write(BPF_STATS, "1")

        def floors(*frequencies):
            for mhz in frequencies:
                daemon.set_policy(LIMITS + f"[domain]\nmin-frequency = {mhz}MHz\n")
                daemon.call("Reload")
                guest.wait_for(lambda wanted=1000 * mhz: limits("policy2")[0] == wanted, 10, "the floor")
                time.sleep(0.1)
            return requests_read()
        with guest.Daemon(LIMITS) as daemon:
            before = floors(600, 1000)
            self.assertEqual(floors(600, 1000, 600), before)
            guest.shell_write(path, 1000000)
            guest.wait_for(lambda: daemon.domain("policy2")["max_khz"] == 1000000, 1, "the user's maximum")
            after = requests_read()
            self.assertGreater(after, before)
            self.assertEqual(floors(1000, 600), after)

    def test_quiet(self):
        """limits: a load costs no writes but those of its chain's floor, which comes and goes once"""
        guest.stay_off({2, 3}, self)
        with guest.Daemon(LIMITS) as daemon:
            before = daemon.domain("policy2")["writes"]
            # A child goes on where its parent's chain is, before its CPU's own utilisation shows it.
            guest.start_load("cpu", "--cpus", "2", "--time", "2").wait()
            time.sleep(0.5)
            self.assertLessEqual(daemon.domain("policy2")["writes"], before + 4)
        self.assertEqual(guest.snapshot(), self.before)


UCLAMP = "[wakegov]\nbackend = uclamp\n[io-boost]\nmin-rate = 200/s\n"


CROWD = """
import ctypes, threading, time
ctypes.CDLL(None).prctl(15, b"wg-crowd", 0, 0, 0)
threading.stack_size(65536)
for _ in range(3000):
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
print("ready", flush=True)
time.sleep(3600)
"""


# Each child looks at its maximum all the time.
CHILDREN = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from clamps import clamps_of
while clamps_of(0)[1] == 1024:
    time.sleep(0.01)
for _ in range(30):
    if not os.fork():
        seen, until = set(), time.monotonic() + 0.01
        while time.monotonic() < until:
            seen.add(clamps_of(0)[1])
        os.write(1, f"{seen}\\n".encode())
        os._exit(0)
    os.wait()
"""


def threads_of(pid):
    return [int(tid) for tid in os.listdir(f"/proc/{pid}/task")]


class Uclamp(unittest.TestCase):
    def setUp(self):
        self.before = guest.snapshot()
        guest.stay_off({2, 3}, self)

    def start_reader(self):
        load = guest.ended_with(self, guest.start_load("psync", "--file", guest.null_blk(), "--cpus",
                                                       "1", "--time", "1000"))
        return load

    def wait_for_boost(self, load):
        found = []

        def boosted():
            found[:] = [tid for tid in threads_of(load.pid) if clamps_of(tid) != (0, 1024)]
            return found
        guest.wait_for(boosted, 30, "a clamp on the reader")
        return found[0]  # while it is tried, the next look may find none

    def test_boost(self):
        """uclamp: an I/O boost is a clamp of its task and a minimum of its domain, which stays schedutil's"""
        with guest.Daemon(UCLAMP) as daemon:
            domain = daemon.domain("policy0")
            self.assertEqual((domain["backend"], domain["state"]), ("uclamp", "driven"))
            load = self.start_reader()
            self.wait_for_boost(load)
            guest.wait_for(lambda: limits("policy0")[0] > 400000, 30, "a minimum of its domain")
            self.assertEqual(limits("policy2"), (400000, 1400000))
            self.assertEqual(guest.read(guest.policy("policy0", "scaling_governor")), "schedutil")
            tids = threads_of(load.pid)
        self.assertEqual({clamps_of(tid) for tid in tids}, {(0, 1024)})
        self.assertFalse(os.path.exists("/run/wakegov/clamps"))
        guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything restored")

    def test_refused(self):
        """uclamp: each task that may not be clamped is told of once, by its rule's line"""
        sleepers = [guest.ended_with(self, subprocess.Popen(["sleep", "1000"])) for _ in range(2)]
        # The daemon's own user may not do it either.
        without = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice"]
        rule = "[rule sleepers]\ncomm = sleep\ncap = 30%\n"
        told = [f"wakegov-test.conf:5: [rule sleepers]: task {sleeper.pid} cannot be clamped: "
                "Operation not permitted" for sleeper in sleepers]
        with guest.Daemon(UCLAMP + rule, prefix=without) as daemon:
            guest.wait_for(lambda: all(line in daemon.log() for line in told), 10, "refusals")
            daemon.call("Reload")
            time.sleep(1)
            self.assertEqual(daemon.log().count("cannot be clamped"), 2, daemon.log())
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
        # Each CPU has a kernel thread that takes no clamps: they are one refusal.
        everyone = "[rule everyone]\nuser = root\nkernel-thread = yes\ncap = 90%\n"
        with guest.Daemon(UCLAMP + everyone) as daemon:
            guest.wait_for(lambda: "[rule everyone]: task" in daemon.log(), 10, "the refusal")
            time.sleep(1)
            self.assertEqual(daemon.log().count("cannot be clamped"), 1, daemon.log())
        with guest.Daemon(UCLAMP + rule) as daemon:
            guest.wait_for(lambda: {clamps_of(sleeper.pid) for sleeper in sleepers} ==
                           {(0, 307)}, 10, "both capped where it may")
        self.assertIn("restored the clamps of 2 tasks", daemon.log())
        self.assertEqual({clamps_of(sleeper.pid) for sleeper in sleepers}, {(0, 1024)})
        self.assertEqual(guest.snapshot(), self.before)

    def test_threads(self):
        """uclamp: a process of thousands of threads: each costs as much as in a small one"""
        crowd = guest.ended_with(self, subprocess.Popen([sys.executable, "-c", CROWD], stdout=subprocess.PIPE, text=True))
        crowd.stdout.readline()
        threads = threads_of(crowd.pid)
        rule = UCLAMP + "[rule crowd]\ncomm = wg-crowd\ncap = 30%\n"
        with guest.Daemon(rule) as daemon:
            took = guest.wait_for(lambda: {clamps_of(tid) for tid in threads[-9:]} == {(0, 307)},
                                  60, "caps")
            print(f"# {len(threads)} threads: {took:.2f} s")
            self.assertLess(took, 1)
            daemon.set_policy(rule.replace("30", "40"))
            daemon.call("Reload")
            daemon.call("Status")
            last = [clamps_of(tid) for tid in threads[-9:]]
            self.assertEqual(set(last), {(0, 307)}, "an answer comes meanwhile")
            guest.wait_for(lambda: {clamps_of(tid) for tid in threads} == {(0, 410)}, 10,
                           "new caps")
        self.assertEqual(clamps_of(crowd.pid), (0, 1024))

    def test_children(self):
        """uclamp: a child under its parent's rule has the cap from its first moment on"""
        with guest.Daemon(UCLAMP + "[rule capped]\ncomm = capped\ncap = 30%\n"):
            parent = subprocess.run([guest.link("capped", sys.executable), "-c", CHILDREN,
                                     os.path.dirname(__file__)], stdout=subprocess.PIPE,
                                    text=True, check=True)
        children = parent.stdout.splitlines()
        self.assertEqual(len(children), 30)
        # The daemon may read the record of a fork before that of the rule.
        self.assertGreaterEqual(children.count("{307}"), 28, children)

    def test_auto(self):
        """auto: schedutil with clamps is uclamp, another governor on one domain setspeed there"""
        path = guest.policy("policy2", "scaling_governor")
        guest.shell_write(path, "performance")
        self.addCleanup(guest.shell_write, path, "schedutil")
        with guest.Daemon() as daemon:
            self.assertEqual(daemon.domain("policy0")["backend"], "uclamp")
            self.assertEqual(daemon.domain("policy2")["backend"], "setspeed")
            self.assertEqual(daemon.call("Status")["backend"], "mixed")


class Groups(unittest.TestCase):
    """A rule by cgroup."""
    GROUP = "/sys/fs/cgroup/wakegov-lab"

    def test_each_task(self):
        """groups: each task of the cgroup carries cap and floor, from when it comes until it goes"""
        os.mkdir(self.GROUP)
        self.addCleanup(os.rmdir, self.GROUP)
        task = guest.ended_with(self, subprocess.Popen(["/bin/sleep", "1000"]))
        with guest.Daemon(UCLAMP + "[rule capped]\ncgroup = /wakegov-la?\ncap = 30%\nfloor = 10%\n"):
            for group, clamps in ((self.GROUP, (102, 307)), ("/sys/fs/cgroup", (0, 1024)),
                                  (self.GROUP, (102, 307))):
                guest.shell_write(f"{group}/cgroup.procs", task.pid)
                guest.wait_for(lambda: clamps_of(task.pid) == clamps, 10, f"{clamps} in {group}")
        self.assertEqual(clamps_of(task.pid), (0, 1024))


class Wakegovctl(unittest.TestCase):
    """adopt, doctor and report."""

    def setUp(self):
        self.before = guest.snapshot()

    def ctl(self, *arguments):
        return subprocess.run([f"{guest.BUILD}/wakegovctl", *arguments], capture_output=True,
                              text=True, check=False)

    def findings(self):
        done = self.ctl("--json", "doctor")
        return done.returncode, {(*f["domains"], f["what"]): f for f in json.loads(done.stdout)["findings"]}

    def test_adopt(self):
        """a domain that was left to another program is taken back by wakegovctl adopt"""
        path = guest.policy("policy2", "scaling_governor")
        with guest.Daemon("[wakegov]\nbackend = setspeed\n") as daemon:
            self.assertIn("nothing to adopt", self.ctl("adopt").stdout)
            guest.shell_write(path, "performance")
            guest.wait_for(lambda: daemon.domain("policy2")["state"] == "yielded", 10, "a yield")
            code, findings = self.findings()
            self.assertEqual(code, 1)
            self.assertIn("wakegovctl adopt", findings["policy2", "wakegovd"]["advice"])
            self.assertEqual(findings["policy0", "wakegovd"]["grade"], "good")
            denied = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups",
                                     f"{guest.BUILD}/wakegovctl", "adopt"], capture_output=True,
                                    text=True, check=False)
            self.assertEqual(denied.returncode, 1)
            self.assertEqual(self.ctl("adopt", "policy7").returncode, 1)
            done = self.ctl("adopt", "policy2")
            self.assertEqual((done.returncode, done.stdout), (0, "1 domain adopted\n"))
            self.assertEqual(daemon.domain("policy2")["state"], "driven")
            with guest.busy_loop(2):
                guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 10, "driven again")
            self.assertEqual(self.findings()[0], 0)
        self.assertEqual(guest.read(path), "performance")
        guest.shell_write(path, "schedutil")
        self.assertEqual(guest.snapshot(), self.before)

    def test_doctor(self):
        """doctor says what each domain has, without a daemon too, and what a killed one left"""
        code, findings = self.findings()
        self.assertEqual(code, 0, findings)
        self.assertEqual(findings["policy0", "policy2", "driver"]["found"], "acpi-cpufreq")
        self.assertIn("backend = auto takes uclamp", findings["policy0", "policy2", "governor"]["found"])
        self.assertIn("good       policy0, policy2: driver: acpi-cpufreq\n", self.ctl("doctor").stdout)
        self.assertEqual(findings["utilisation clamps of tasks",]["grade"], "good")
        self.assertEqual(findings["wakegovd",]["found"], "does not answer")
        governor = guest.policy("policy2", "scaling_governor")
        self.addCleanup(guest.shell_write, governor, guest.read(governor))
        guest.shell_write(governor, "performance")
        _, findings = self.findings()
        self.assertIn("schedutil; ", findings["policy0", "governor"]["found"])
        self.assertIn("performance; ", findings["policy2", "governor"]["found"])
        daemon = guest.Daemon("[wakegov]\nbackend = setspeed\n").start()
        daemon.stop(signal.SIGKILL)
        code, findings = self.findings()
        self.assertEqual(code, 1)
        self.assertIn("wakegovd --restore", findings["/run/wakegov/originals",]["advice"])
        guest.restore()
        self.assertEqual(self.findings()[0], 0)

    def test_report(self):
        """report has every value that the files give, and none of the names in them"""
        os.makedirs("/etc/wakegov/wakegov.conf.d", exist_ok=True)
        for name, text in (("wakegov.conf", "[io-boost]\nwindow = 15ms\n"
                                            "[domain policy2]\nmax-frequency = 60%\n"),
                           ("wakegov.conf.d/joe.conf",
                            "[rule of-joe]\nuser = root\ncommand = *secret*\ncap = 40%\n"
                            "[query]\nread-group = daemon\n")):
            guest.write(f"/etc/wakegov/{name}", text)
            self.addCleanup(os.unlink, f"/etc/wakegov/{name}")
        done = self.ctl("report")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        for line in ("[io-boost] window 15ms", "[domain policy2] max-frequency 60%",
                     "[query] read-group a group", "[rule 1] user", "[rule 1] command", "[rule 1] cap"):
            self.assertIn(line, lines)
        self.assertNotIn("[io-boost] hold", done.stdout, "built in, so not of the files")
        self.assertIsNone(re.search("joe|secret|root\\b|daemon\\b", done.stdout), done.stdout)
        guest.write("/etc/wakegov/wakegov.conf.d/joe.conf", "[rule of-joe]\nuser =\n")
        done = self.ctl("report")
        self.assertIn("missing a mistake: see wakegovd --check-config",
                      [" ".join(line.split()) for line in done.stdout.splitlines()])
        self.assertNotIn("joe", done.stdout)


if __name__ == "__main__":
    tap.main()
