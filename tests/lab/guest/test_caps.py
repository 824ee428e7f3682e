#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Caps that hold on a real cpufreq driver: beside interactive work, through forks and execs.

In virtual time, where the figures are those of a machine that has nothing else to do.
"""
import os
import signal
import statistics
import subprocess
import sys
import time
import unittest

import guest
import tap
from clamps import clamps_of, reset_most

POLICY = """[wakegov]
backend = setspeed
[rule low]
comm = capped
cap = 30%
"""
CAPPED_KHZ = 600000  # the lowest OPP at or above 30 % of 1800 MHz
HIGHEST_KHZ = 1800000
FORK_STORM = """
import os, time
end = time.monotonic() + 3
while time.monotonic() < end:
    pid = os.fork()
    if not pid:
        until = time.monotonic() + 0.02
        while time.monotonic() < until:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
"""
LOOP = "while True: pass"
PF_KTHREAD = 0x200000


def burst_for_ever():
    while True:
        until = time.monotonic() + 0.0005
        while time.monotonic() < until:
            pass
        time.sleep(0.05)


class Caps(guest.EndsKept, unittest.TestCase):
    def setUp(self):
        guest.stay_off({0, 1}, self)
        self.daemon = guest.KeptDaemon.with_policy(POLICY)
        guest.wait_for(lambda: guest.frequency("policy0") == 400000, 10, "policy0 at its lowest")

    def fork_short(self, cpu):
        """A child with short bursts on that CPU: the start of a program is no short burst."""
        pid = os.fork()
        if not pid:
            os.sched_setaffinity(0, {cpu})
            burst_for_ever()
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)

    def run_python(self, name, script, cpus):
        """A process with that name, ended with the test."""
        process = guest.ended_with(self, subprocess.Popen([guest.link(name, sys.executable), "-S", "-c", script],
                                                          preexec_fn=lambda: os.sched_setaffinity(0, cpus)))
        return process

    def limited(self):
        domain = self.daemon.domain("policy0")
        return domain["limiter"] == "cap" and domain["rule"] == "low" and \
            domain["target_khz"] == CAPPED_KHZ

    def capped_loops(self):
        loops = [self.run_python("capped", LOOP, {cpu}) for cpu in (0, 1)]
        guest.wait_for(self.limited, 5, "policy0 held by the cap")
        return loops

    @staticmethod
    def shares(seconds):
        """Of that time at policy0: at or below the capped OPP, and at the highest."""
        before = guest.time_in_state("policy0")
        time.sleep(seconds)
        after = guest.time_in_state("policy0")
        spent = {khz: after[khz] - before[khz] for khz in after}
        total = sum(spent.values())
        return (sum(spent[khz] for khz in spent if khz <= CAPPED_KHZ) / total,
                spent[HIGHEST_KHZ] / total)

    def test_holds(self):
        """a cap holds beside tasks that wake up for less than a millisecond, and is the reason"""
        loops = self.capped_loops()
        for cpu in (0, 1):
            self.fork_short(cpu)
        time.sleep(0.5)
        low, high = self.shares(1.5)
        tap.note(f"at or below the capped OPP {low:.1%} of the time, at the highest {high:.1%}")
        self.assertGreaterEqual(low, 0.95)
        self.assertLessEqual(high, 0.01)
        domain = self.daemon.domain("policy0")
        self.assertIn(domain["capped_pid"], [loop.pid for loop in loops])

    def decision_after(self, us, khz):
        """The first for policy0 to go there, and how many ms after us that was."""
        first = next(d for d in self.daemon.decisions() if d["domain"] == "policy0" and
                     d["monotonic_us"] >= us and d["target_khz"] == khz)
        return first, (first["monotonic_us"] - us) / 1000

    def lifted(self):
        return guest.frequency("policy0") == HIGHEST_KHZ

    def test_lifted_and_back(self):
        """a task without a cap that runs for long has the highest OPP, and then the cap is back"""
        self.capped_loops()
        with guest.BusyLoop(1) as loop:
            time.sleep(0.2)
            # It takes 10.5 ms of its own, of half a CPU; or, where a tick has met it and it is known
            # for its short bursts, so much at the highest clock: three times as long at this one.
            asked_us = time.monotonic() * 1e6
            loop.start()
            guest.wait_for(self.lifted, 3, "the cap lifted")
            rise, unknown_ms = self.decision_after(asked_us, HIGHEST_KHZ)
            self.assertEqual((rise["limiter"], rise["rule"]), ("none", None))
            time.sleep(0.5)
            self.assertTrue(self.lifted())
            # A task whose bursts are long counts from its wake-up on. Each has an eighth of the weight.
            for _ in range(24):
                os.kill(loop.pid, signal.SIGSTOP)
                time.sleep(0.01)
                os.kill(loop.pid, signal.SIGCONT)
                time.sleep(0.06)
            known_ms = []
            for _ in range(3):  # the capped loop may have its CPU for some ms more
                os.kill(loop.pid, signal.SIGSTOP)
                guest.wait_for(self.limited, 3, "the cap while it is stopped")
                time.sleep(0.2)
                woken_us = time.monotonic() * 1e6
                os.kill(loop.pid, signal.SIGCONT)
                guest.wait_for(self.lifted, 3, "the cap lifted again")
                known_ms.append(self.decision_after(woken_us, HIGHEST_KHZ)[1])
        ended_us = time.monotonic() * 1e6
        guest.wait_for(self.limited, 3, "the cap back")
        fall, back_ms = self.decision_after(ended_us, CAPPED_KHZ)
        self.assertEqual((fall["limiter"], fall["rule"]["name"]), ("cap", "low"))
        tap.note(f"lifted after {unknown_ms:.1f} ms, for a task that is known after {known_ms} ms; back after {back_ms:.1f} ms")
        self.assertLessEqual(unknown_ms, 70)
        self.assertLessEqual(statistics.median(known_ms), 5)
        # One down-hold, and the tick that notices.
        self.assertLessEqual(back_ms, 25)

    def test_fork_storm(self):
        """children of a capped task are capped from their first moment on"""
        for cpu in (0, 1):
            self.run_python("capped", FORK_STORM, {cpu})
        guest.wait_for(self.limited, 5, "policy0 held by the cap")
        low, high = self.shares(1)
        tap.note(f"at or below the capped OPP {low:.1%} of the time, at the highest {high:.1%}")
        self.assertGreaterEqual(low, 0.95)
        self.assertLessEqual(high, 0.01)

    def test_exec(self):
        """the rule goes by what a task has become: an exec takes a cap off, and puts one on"""
        free = guest.link("free", sys.executable)
        capped = guest.link("capped", sys.executable)
        script = f"""
import os, time
until = time.monotonic() + 1
while time.monotonic() < until:
    pass
os.execv({free!r}, ["free", "-S", "-c", '''
import os, time
until = time.monotonic() + 1
while time.monotonic() < until:
    pass
os.execv({capped!r}, ["capped", "-S", "-c", "while True: pass"])
'''])
"""
        self.run_python("capped", script, {0})
        guest.wait_for(self.limited, 5, "the cap of the first program")
        guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 5, "no cap after exec")
        guest.wait_for(self.limited, 5, "the cap of the third program")

    def test_reload(self):
        """a cap that a reload changes is in force at once, and one that it takes away is gone"""
        self.capped_loops()
        self.daemon.set_policy(POLICY.replace("30%", "60%"))
        self.daemon.call("Reload")
        guest.wait_for(lambda: guest.frequency("policy0") == 1400000, 2, "the new cap")
        self.daemon.set_policy("[wakegov]\nbackend = setspeed\n")
        self.daemon.call("Reload")
        guest.wait_for(lambda: guest.frequency("policy0") == HIGHEST_KHZ, 3, "no cap")


class OwnClamps(guest.EndsKept, unittest.TestCase):
    """Under uclamp a task may set its own clamps at any time: the lower cap holds."""
    cap = 410  # 40 %

    def start(self, script):
        guest.stay_off({0, 1}, self)
        self.daemon = guest.KeptDaemon.with_policy("[wakegov]\nbackend = uclamp\n"
                                                   "[rule low]\ncomm = capped\ncap = 40%\n")
        task = guest.ended_with(self, subprocess.Popen([guest.link("capped", sys.executable), "-S", "-c", script],
                                                       preexec_fn=lambda: os.sched_setaffinity(0, {1})))
        guest.wait_for(lambda: clamps_of(task.pid)[1] == self.cap, 10, "the cap")
        return task

    def counted(self):
        return sum(notice["count"] for notice in self.daemon.call("Status")["unable"]
                   if notice["what"] == "clamps-escaped")

    def test_reset(self):
        """a cap is in force again a moment after its task asked for more, however often, and counted"""
        task = self.start(LOOP)
        before = self.counted()
        for i in range(30):
            time.sleep((0.0007, 0.003, 0.013, 0.05)[i % 4])
            reset_most(task.pid)
            time.sleep(0.03)
            self.assertEqual(clamps_of(task.pid)[1], self.cap, f"after reset {i}")
        self.assertEqual(self.counted() - before, 30)

    def test_kernel_threads(self):
        """a kernel thread beside a capped task is not clamped: its children would inherit that"""
        self.start(LOOP)
        for _ in range(100):
            guest.read("/proc/sys/vm/stat_refresh")  # wakes a worker on each CPU
            time.sleep(0.01)
        threads = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                   if int(guest.read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[6]) & PF_KTHREAD]
        self.assertEqual([guest.read(f"/proc/{pid}/comm") for pid in threads if clamps_of(pid)[1] < 1024], [])

    def test_insists(self):
        """a task that asks for more each millisecond is held by its domain, which is free after it"""
        script = (f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
                  "import os, time, clamps\n"
                  "while True:\n"
                  " clamps.reset_most(os.getpid())\n"
                  " end = time.monotonic() + 0.001\n"
                  " while time.monotonic() < end: pass\n")
        task = self.start(script)
        time.sleep(0.5)
        looks = []
        for _ in range(200):
            time.sleep(0.005)
            looks.append(guest.frequency("policy0"))
        share = sum(khz <= 1000000 for khz in looks) / len(looks)
        tap.note(f"{share * 100:.0f} % of looks within the cap, {self.counted()} times counted")
        self.assertGreaterEqual(share, 0.95)
        self.assertGreater(self.counted(), 10)
        task.kill()
        guest.wait_for(lambda: guest.read(guest.policy("policy0", "scaling_max_freq")) == str(HIGHEST_KHZ),
                       10, "the maximum")


if __name__ == "__main__":
    tap.main()
