#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What wakegov promises, the same list for every backend, on a real cpufreq driver.

In virtual time, where a busy loop is at the frequency that it is given.
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import guest
import tap
from clamps import SETATTR, clamps_of, written_for

LOWEST_KHZ = 400000
HIGHEST_KHZ = 1800000
OWN_CLAMP = 600  # of 1024, as a task asked for itself
RING_RECORDS = 2800  # more than the ring holds, of 24 bytes with its header
OVERRIDES = "/run/wakegov/overrides"
LOOP = "while True: pass"
# At the end of each burst it prints the frequency at which that ran.
BURSTS = """
import time
while True:
    until = time.monotonic() + 0.008
    while time.monotonic() < until:
        pass
    with open("/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq") as file:
        print(file.read().strip(), flush=True)
    time.sleep(0.04)
"""

# Too short to lift another task's cap.
SHORT_BURSTS = BURSTS.replace("0.008", "0.0003").replace("0.04", "0.005")

# Runs under its cap until it is told to ask for all that there is, once: sched_setattr(2) of itself
# with SCHED_FLAG_KEEP_ALL, SCHED_FLAG_UTIL_CLAMP_MAX and -1, which resets it.
ESCAPE = f"""
import ctypes, os, select, struct, sys
while not select.select([sys.stdin], [], [], 0)[0]:
    pass
attributes = struct.pack("=IIQiIQQQII", 56, 0, 0x58, 0, 0, 0, 0, 0, 0, 0xffffffff)
if ctypes.CDLL(None).syscall({SETATTR}, 0, attributes, 0):
    os._exit(1)
print("asked", flush=True)
while True:
    pass
"""


class Domains(guest.PutBack, unittest.TestCase):
    def setUp(self):
        guest.stay_off({0, 1}, self)
        self.addCleanup(self.drop_overrides)

    @staticmethod
    def drop_overrides():
        """Those of a test that failed outlive its daemon."""
        if os.path.exists(OVERRIDES):
            guest.KeptDaemon.end()
            os.unlink(OVERRIDES)

    def text(self, policy, key=""):
        return f"[wakegov]\nbackend = {self.BACKEND}\n{key}\n[io-boost]\nmin-rate = 200/s\n{policy}"

    def govern(self, policy=""):
        """With that policy, by the daemon that tests share."""
        return guest.KeptDaemon.with_policy(self.text(policy))

    def start(self, policy="", key=""):
        """A daemon of its own, with that policy, and that key of its first section."""
        daemon = guest.Daemon(self.text(policy, key)).start()
        self.addCleanup(daemon.stop)
        return daemon

    def run_python(self, name, script, *prefix):
        """A process of that name on CPU 0, ended with the test."""
        process = guest.ended_with(self, subprocess.Popen(
            [*prefix, guest.link(name, sys.executable), "-S", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, preexec_fn=lambda: os.sched_setaffinity(0, {0})))
        guest.wait_for(lambda: guest.read(f"/proc/{process.pid}/comm") == name, 5, name)
        time.sleep(0.3)  # until what ran before the exec lifts no cap any more
        return process

    def end(self, daemon):
        """The daemon ends, and everything is as it was."""
        daemon.stop()
        guest.wait_for(lambda: guest.snapshot() == self.before, 5, "everything put back")
        self.assertFalse(os.path.exists("/run/wakegov/originals"))

    def samples(self, daemon, seconds=0.3):
        """What policy0 runs at, as the kernel and as the daemon say."""
        seen = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            domain = daemon.domain("policy0")
            seen.append((guest.frequency("policy0"), domain))
            time.sleep(0.005)
        return seen

    def assert_held(self, daemon, low_khz, high_khz):
        """Policy0 keeps within them, and what status says that it is asked for is so."""
        def there():
            domain = daemon.domain("policy0")  # its target may wait for the rate limit
            return (low_khz <= guest.frequency("policy0") <= high_khz and
                    (domain["asked_min_khz"] is None or low_khz <= domain["target_khz"] <= high_khz))
        guest.wait_for(there, 3, f"{low_khz} to {high_khz} kHz")
        for khz, domain in self.samples(daemon):
            self.assertTrue(low_khz <= khz <= high_khz, (khz, domain))
            self.assertEqual(domain["state"], "driven")
            if domain["asked_min_khz"] is not None:
                self.assertTrue(low_khz <= domain["target_khz"] <= high_khz, domain)
                self.assertTrue(domain["asked_min_khz"] <= domain["current_khz"] <=
                                domain["asked_max_khz"], domain)
        limiters = daemon.call("Explain", domain="policy0")["limiters"]
        self.assertNotIn("driver", [limiter["who"] for limiter in limiters], limiters)


class Promises(Domains):
    def assert_capped(self, daemon, _task, _clamp, khz):
        """A task that never sleeps has its whole cap and no more, whatever short work runs there."""
        self.assert_held(daemon, khz, khz)

    def assert_own_capped(self, daemon, task):
        """Clamped to OWN_CLAMP."""
        self.assert_capped(daemon, task, OWN_CLAMP, 1400000)

    def test_configured_limits(self):
        """max-frequency and min-frequency hold, a reload moves them, and they are put back"""
        daemon = self.govern("[domain policy0]\nmax-frequency = 1GHz\n")
        with guest.busy_loop(0):
            self.assert_held(daemon, LOWEST_KHZ, 1000000)
            daemon.set_policy(f"[wakegov]\nbackend = {self.BACKEND}\n[domain policy0]\n"
                              "max-frequency = 600MHz\n")
            daemon.call("Reload")
            self.assert_held(daemon, LOWEST_KHZ, 600000)
        daemon.set_policy(f"[wakegov]\nbackend = {self.BACKEND}\n[domain policy0]\n"
                          "min-frequency = 1GHz\n")
        daemon.call("Reload")
        self.assert_held(daemon, 1000000, HIGHEST_KHZ)

    def test_overrides(self):
        """overrides of a maximum, a minimum and both hold, and end when they are cancelled"""
        daemon = self.govern()
        with guest.busy_loop(0):
            guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 3, "the loop's")
            override = daemon.call("AddOverride", domain="policy0", settings={"max-frequency": "600MHz"})["override"]
            self.assert_held(daemon, LOWEST_KHZ, 600000)
            frozen = daemon.call("AddOverride", domain="policy0", settings={
                "min-frequency": "600MHz", "max-frequency": "600MHz"})["override"]
            daemon.call("CancelOverride", id=override["id"])
            self.assert_held(daemon, 600000, 600000)
            daemon.call("CancelOverride", id=frozen["id"])
            guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 3, "free again")
        override = daemon.call("AddOverride", domain="policy0", settings={"min-frequency": "1400MHz"})["override"]
        self.assert_held(daemon, 1400000, HIGHEST_KHZ)
        daemon.call("CancelOverride", id=override["id"])
        guest.wait_for(lambda: guest.frequency("policy0") == LOWEST_KHZ, 3, "low again")

    def test_theirs_stays(self):
        """a limit that somebody else writes holds, and stays when the daemon ends"""
        path = guest.policy("policy0", "scaling_max_freq")
        daemon = self.govern("[domain policy0]\nmin-frequency = 600MHz\n")
        guest.wait_for(lambda: guest.frequency("policy0") >= 600000, 3, "the minimum")
        guest.shell_write(path, 1000000)
        with guest.busy_loop(0):
            guest.wait_for(lambda: guest.frequency("policy0") <= 1000000, 3, "their maximum")
            self.assertLessEqual(max(khz for khz, _ in self.samples(daemon)), 1000000)
        domain = daemon.domain("policy0")
        self.assertEqual((domain["state"], domain["max_khz"]), ("driven", 1000000))
        daemon.stop()
        self.assertEqual(guest.read(path), "1000000")
        guest.shell_write(path, HIGHEST_KHZ)
        guest.wait_for(lambda: guest.snapshot() == self.before, 5, "everything put back")

    def test_unclean_end(self):
        """what killed daemons left is put back by wakegovd --restore: limits, clamps, governors, tunables"""
        guest.KeptDaemon.end()
        # Of all domains, or this one's: that is up to the driver.
        tunable = next(path for path in (f"{guest.CPUFREQ}/schedutil/rate_limit_us",
                                         guest.policy("policy0", "schedutil/rate_limit_us"))
                       if os.path.exists(path))
        self.addCleanup(guest.write, tunable, guest.read(tunable))
        guest.write(tunable, 7777)
        self.before, tasks = guest.snapshot(), []
        for _ in range(2):
            daemon = self.start("[domain policy0]\nmax-frequency = 1GHz\nmin-frequency = 600MHz\n"
                                "[rule low]\ncomm = capped\ncap = 30%\n")
            tasks.append(self.run_python("capped", LOOP))
            guest.wait_for(lambda: guest.frequency("policy0") == 600000, 5, "the cap and the minimum")
            os.kill(tasks[-1].pid, signal.SIGSTOP)  # or it would take the CPU that the next start takes
            daemon.stop(signal.SIGKILL)
            self.assertNotEqual(guest.snapshot(), self.before)
        self.assertIn("restored policy0 scaling_", guest.restore())
        guest.wait_for(lambda: guest.snapshot() == self.before, 5, "everything put back")
        self.assertEqual({clamps_of(task.pid) for task in tasks}, {(0, 1024)})
        self.assertFalse(os.path.exists("/run/wakegov/originals") or os.path.exists("/run/wakegov/clamps"))
        self.assertEqual(guest.restore(), "")

    def test_cap(self):
        """a task with a cap has no more, whatever it asks for, and without the rule what it had"""
        daemon = self.govern("[rule low]\ncomm = capped\ncap = 30%\n")
        task = self.run_python("capped", ESCAPE)
        self.assert_capped(daemon, task, 307, 600000)
        task.stdin.write("go\n")
        task.stdin.flush()
        self.assertEqual(task.stdout.readline(), "asked\n")
        time.sleep(0.1)
        self.assert_capped(daemon, task, 307, 600000)
        self.govern()
        guest.wait_for(lambda: clamps_of(task.pid) == (0, 1024), 5, "what it had")
        guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 5, "no cap")

    def test_gives_way(self):
        """a cap gives way to a task without one that runs for long, and is back after it"""
        daemon = self.govern("[rule low]\ncomm = capped\ncap = 30%\n")
        for cpu in "01":
            self.run_python("capped", LOOP, "taskset", "-c", cpu)
        guest.wait_for(lambda: guest.frequency("policy0") <= 600000, 3, "the cap")
        with guest.busy_loop(1):
            guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 3, "no cap")
        guest.wait_for(lambda: guest.frequency("policy0") <= 600000, 3, "the cap is back")
        self.assertEqual([rule["tasks"] for rule in daemon.call("Rules")["rules"]], [2])

    def reason(self, daemon):
        domain = daemon.domain("policy0")
        return domain["reason"], domain["limiter"], domain["capped_pid"]

    def test_own_cap(self):
        """a cap that a task asks for itself holds, is the reason, and a rule's lower one wins"""
        daemon = self.govern("[rule low]\ncomm = capped\ncap = 30%\n")
        task = self.run_python("free", LOOP, "uclampset", "-M", str(OWN_CLAMP))
        self.assert_own_capped(daemon, task)
        if self.BACKEND != "uclamp":
            # A kernel thread without a cap may run there as well, for a moment.
            guest.wait_for(lambda: self.reason(daemon) == ("utilisation", "own-cap", task.pid), 5, "the reason")
            guest.wait_for(lambda: f"pid {task.pid} has a cap of its own" in guest.said("explain", "policy0"), 5, "the explanation")
        task.kill()
        task = self.run_python("capped", LOOP, "uclampset", "-M", str(OWN_CLAMP))
        self.assert_capped(daemon, task, 307, 600000)
        self.govern()
        guest.wait_for(lambda: clamps_of(task.pid) == (0, OWN_CLAMP), 5, "its own")

    def assert_bursts(self, task, is_right):
        """Nine in ten of them, once a second has passed."""
        seen = [int(task.stdout.readline()) for _ in range(50)][20:]
        self.assertGreaterEqual(sum(map(is_right, seen)), 27, seen)

    def test_floor(self):
        """a task with a floor has no less while it runs"""
        daemon = self.govern("[rule high]\ncomm = floored\nfloor = 70%\n")
        task = self.run_python("floored", BURSTS)
        self.assert_bursts(task, lambda khz: khz >= 1400000)
        task.kill()
        guest.wait_for(lambda: guest.frequency("policy0") == LOWEST_KHZ, 5, "low again")

    def test_group_cap(self):
        """a cgroup's cpu.uclamp.max holds for a task in it that asks for nothing, and is a reason"""
        group = "/sys/fs/cgroup/capped-lab"
        os.mkdir(group)
        self.addCleanup(os.rmdir, group)
        guest.write(f"{group}/cpu.uclamp.max", "30")
        daemon = self.govern()
        task = self.run_python("grouped", LOOP)
        guest.write(f"{group}/cgroup.procs", task.pid)
        by_kernel = self.BACKEND == "uclamp"
        said = "or the kernel holds a task there" if by_kernel else f"pid {task.pid} may have no more by cpu.uclamp.max of its cgroup"
        guest.wait_for(lambda: guest.frequency("policy0") <= 600000 and said in guest.said("explain", "policy0"), 5, "the reason")
        if not by_kernel:
            self.assertEqual(self.reason(daemon), ("utilisation", "group-cap", task.pid))
            self.assert_held(daemon, LOWEST_KHZ, 600000)
        guest.write(f"{group}/cpu.uclamp.max", "max")
        guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 5, "no cap")


class IoBoost:
    """Where the domain keeps its governor: what setspeed makes of boosts is test_boost.py's."""

    def test_boost(self):
        """a task that reads from a disk is no slower than under schedutil alone, once it is known"""
        def rate():
            load = guest.start_load("psync", "--file", guest.null_blk(), "--cpus", "0", "--time",
                                    "2", "--margin-ms", "1500", "--json")
            return int(json.loads(load.communicate()[0].splitlines()[-1])["iops"])
        guest.KeptDaemon.end()
        alone = rate()
        daemon = self.govern()
        governed = rate()
        tap.note(f"{governed} reads a second, {alone} without wakegov")
        self.assertGreaterEqual(governed, 0.9 * alone)


class Unclamped(Promises):
    """Where wakegov itself applies caps and the floors that tasks ask for: else the kernel does."""

    def test_floor_beside_cap(self):
        """a task with a floor has no less where a capped loop runs in the same domain"""
        daemon = self.govern("[rule low]\ncomm = capped\ncap = 30%\n"
                            "[rule high]\ncomm = floored\nfloor = 70%\n")
        self.run_python("capped", LOOP, "taskset", "-c", "1")
        task = self.run_python("floored", SHORT_BURSTS)
        self.assert_bursts(task, lambda khz: khz >= 1400000)
        task.kill()
        task.wait()  # to end is work, too, which has its floor
        self.assert_held(daemon, LOWEST_KHZ, 600000)

    def test_own_floor(self):
        """a floor that a task asks for itself holds, and so does its taking it back"""
        daemon = self.govern()
        task = self.run_python("floored", BURSTS, "uclampset", "-m", "700")
        self.assert_bursts(task, lambda khz: khz >= 1400000)
        guest.wait_for(lambda: self.reason(daemon)[0] == "own-floor", 5, "the reason")
        subprocess.run(["uclampset", "-m", "0", "-p", str(task.pid)], check=True)
        self.assert_bursts(task, lambda khz: khz < 1400000)
        task.kill()


class Setspeed(Unclamped):
    BACKEND = "setspeed"

    def test_untold_ends(self):
        """ends that the ring has no place for are found, without a rule, too: their places are free again"""
        daemon = self.start(key="max-ruled-tasks = 16")
        sleepers = [self.run_python(f"own{i}", "import time\nwhile True: time.sleep(0.05)", "uclampset",
                                    "-M", "500") for i in range(16)]
        time.sleep(2)
        os.kill(daemon.process.pid, signal.SIGSTOP)
        limit = guest.policy("policy2", "scaling_max_freq")
        for _ in range(RING_RECORDS):
            guest.write(limit, 1600000)
            guest.write(limit, HIGHEST_KHZ)
        for task in sleepers:
            task.kill()
            task.wait()
        os.kill(daemon.process.pid, signal.SIGCONT)
        guest.wait_for(lambda: daemon.call("Status")["drops"]["ring"], 5, "a full ring")
        task = self.run_python("free", LOOP, "uclampset", "-M", str(OWN_CLAMP))
        self.assert_capped(daemon, task, OWN_CLAMP, 1400000)

    def test_own_ignored(self):
        """application-clamps = no: what tasks ask for themselves is nothing to wakegov"""
        self.govern("[caps]\napplication-clamps = no\n")
        self.run_python("free", LOOP, "uclampset", "-M", "300")
        guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 5, "no cap")


class Limits(IoBoost, Unclamped):
    BACKEND = "limits"

    def assert_own_capped(self, daemon, task):
        """schedutil goes by the clamp as well, and on a machine without frequency invariance by less."""
        self.assert_held(daemon, LOWEST_KHZ, 1400000)


class Uclamp(IoBoost, Promises):
    BACKEND = "uclamp"

    def median_khz(self, daemon, task, clamps):
        """With these clamps, which the kernel keeps, but for the cap while anything else runs beside the task."""
        guest.wait_for(lambda: clamps_of(task.pid) == clamps, 5, "the clamps")
        seen = sorted(khz for khz, _ in self.samples(daemon))
        tap.note(f"{clamps}: {seen[0]} to {seen[-1]} kHz, at the end {daemon.domain('policy0')}")
        return seen[len(seen) // 2]

    def assert_capped(self, daemon, task, clamp, khz):
        self.assertLessEqual(self.median_khz(daemon, task, written_for(0, clamp)), khz)

    def assert_own_capped(self, daemon, task):
        self.assertLessEqual(self.median_khz(daemon, task, (0, OWN_CLAMP)), 1400000)

    def test_floor_is_a_clamp(self):
        """a task with a floor carries it as a clamp, and without the daemon what it had before"""
        daemon = self.govern("[rule high]\ncomm = floored\nfloor = 70%\n")
        task = self.run_python("floored", BURSTS)
        # The nearest of 1024 parts, as the kernel makes of cpu.uclamp.min's percent.
        guest.wait_for(lambda: clamps_of(task.pid) == written_for(717, 1024), 5, "the floor")
        self.end(daemon)
        self.assertEqual(clamps_of(task.pid), (0, 1024))

    def test_margin(self):
        """a floor and a cap that are the same give the OPP that they name, before Linux 6.8 too"""
        daemon = self.govern("[rule both]\ncomm = clamped\nfloor = 50%\ncap = 50%\n")
        task = self.run_python("clamped", LOOP)
        khz = self.median_khz(daemon, task, written_for(512, 512))
        self.assertAlmostEqual(khz / 1000000, 1, delta=0.01)

    def test_untouched(self):
        """a domain without limits, floors, boosts and chains is not written to, whatever caps its tasks have"""
        # The start of a program is its parent's chain, and waits for I/O.
        daemon = self.start("enabled = no\n[utilisation]\nchains = off\n"
                            "[rule low]\ncomm = capped\ncap = 30%\n")
        self.run_python("capped", LOOP)
        self.assert_held(daemon, LOWEST_KHZ, 600000)
        self.assertEqual(guest.snapshot(), self.before)
        self.assertEqual(daemon.domain("policy0")["writes"], 0)
        self.assertFalse(os.path.exists("/run/wakegov/originals"))


class Observe(Domains):
    BACKEND = "observe"

    def test_observe(self):
        """limits, overrides, caps and floors change nothing, and nothing is said to be reached"""
        daemon = self.start("[domain policy0]\nmax-frequency = 1GHz\n"
                            "[rule low]\ncomm = capped\ncap = 30%\n")
        override = daemon.call("AddOverride", domain="policy0", settings={"max-frequency": "600MHz"})["override"]
        task = self.run_python("capped", LOOP)
        guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 5, "as without wakegov")
        for khz, domain in self.samples(daemon):
            self.assertEqual((khz, domain["state"]), (HIGHEST_KHZ, "observed"))
            self.assertIsNone(domain["asked_max_khz"])
        self.assertEqual(clamps_of(task.pid), (0, 1024))
        self.assertEqual(guest.snapshot(), self.before)
        daemon.call("CancelOverride", id=override["id"])  # it would outlive the daemon
        self.end(daemon)


del Domains, Promises, Unclamped

if __name__ == "__main__":
    tap.main()
