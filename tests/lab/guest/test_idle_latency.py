#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Idle latency: what is held in /dev/cpu_dma_latency, for which tasks, how long, and that it ends."""
import os
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

import guest
import tap
import test_timed
from test_hand_back import Stream

DEVICE = "/dev/cpu_dma_latency"
POLICY = "[class prompt]\nidle-latency = 50us\n[class sharp]\nidle-latency = 0us\n"
# A hundred wake-ups a second.
TICKING = "import time\nwhile True: time.sleep(0.01)"
FREE = 2000 * 1000 * 1000  # PM_QOS_CPU_LATENCY_DEFAULT_VALUE


def held():
    """The lowest of all requests: what the kernel's idle governors obey."""
    fd = os.open(DEVICE, os.O_RDONLY)
    try:
        return struct.unpack("i", os.read(fd, 4))[0]
    finally:
        os.close(fd)


class IdleLatency(unittest.TestCase):
    def setUp(self):
        self.daemon = None
        self.tasks = []
        self.addCleanup(self.clean_up)
        self.assertEqual(held(), FREE)

    def clean_up(self):
        while self.tasks:
            self.end(self.tasks.pop())
        if self.daemon:
            self.daemon.stop(signal.SIGKILL)
            guest.restore()

    def start(self, policy=POLICY):
        self.daemon = guest.Daemon(policy).start()

    def ctl(self, *arguments):
        return subprocess.run([f"{guest.BUILD}/wakegovctl", *arguments], check=True, capture_output=True,
                              text=True).stdout

    def run_task(self, *options, code=TICKING):
        task = subprocess.Popen([f"{guest.BUILD}/wakegovctl", "run", *options, "--", sys.executable, "-c", code])
        self.tasks.append(task)
        return task

    def tick(self, class_name="prompt", code=TICKING):
        return self.run_task("--class", class_name, code=code)

    def end(self, task):
        task.kill()
        task.wait()

    def wait(self, us):
        guest.wait_for(lambda: held() == us, 10, f"{us} us held, not {held()}")

    def metric(self):
        return int(re.search(r"^wakegov_idle_latency_held (\d+)$", self.ctl("metrics"), re.M).group(1))

    def test_follows(self):
        """the shortest one of the tasks that work, as long as they do, and said in status"""
        self.start()
        task = self.tick()
        self.wait(50)
        self.assertEqual(self.daemon.call("Status")["idle_latency_us"], 50)
        self.assertEqual(self.metric(), 1)
        self.assertRegex(self.ctl("rules", str(task.pid)), r"yes +hint/prompt.*, idle-latency 50 us")
        self.assertRegex(self.ctl("status"), r"no CPU may take longer than 50 us to wake up now")
        sharp = self.tick("sharp")
        self.wait(0)
        self.end(sharp)
        self.wait(50)
        self.end(task)
        self.wait(FREE)
        self.assertIsNone(self.daemon.call("Status")["idle_latency_us"])
        self.assertEqual(self.metric(), 0)

    def test_busy_and_asleep(self):
        """a task that never sleeps holds it; one that only sleeps does not"""
        self.start()
        self.tick(code="import time; time.sleep(1000)")
        self.wait(50)  # while it starts
        self.wait(FREE)
        self.tick(code="while True: pass")
        self.wait(50)
        for _ in range(20):
            time.sleep(0.1)
            self.assertEqual(held(), 50)

    def test_ends(self):
        """nothing is held after the end, also after SIGKILL, and other programs' requests stay"""
        other = os.open(DEVICE, os.O_WRONLY)
        os.write(other, struct.pack("i", 70))
        try:
            for end in signal.SIGTERM, signal.SIGKILL:
                with self.subTest(end.name):
                    self.start()
                    self.tick()
                    self.wait(50)
                    self.daemon.stop(end)
                    self.assertEqual(held(), 70)
                self.clean_up()  # of a case that failed, too
        finally:
            os.close(other)

    def test_override(self):
        """one task, by an override, and a command by run; both end with it"""
        self.start("")
        task = subprocess.Popen([sys.executable, "-c", TICKING])
        self.tasks.append(task)
        self.ctl("override", str(task.pid), "--idle-latency", "30us")
        self.wait(30)
        self.ctl("override", "cancel", "all")
        self.wait(FREE)
        task = self.run_task("--idle-latency", "20us")
        self.wait(20)
        self.end(task)
        self.wait(FREE)

    def test_reload(self):
        """another policy counts for tasks that were there"""
        self.start("[rule ticking]\ncomm = python3\nidle-latency = 40us\n")
        self.tasks.append(subprocess.Popen([sys.executable, "-c", TICKING]))
        self.wait(40)
        self.daemon.set_policy("[rule ticking]\ncomm = python3\nidle-latency = 90us\n")
        self.ctl("reload")
        self.wait(90)
        self.daemon.set_policy("")
        self.ctl("reload")
        self.wait(FREE)

    def test_hand_back(self):
        """while the domains are handed back nothing is held, and after that as before"""
        self.start()
        self.tick()
        self.wait(50)
        lent = Stream(self.daemon, "HandBack", for_us=3600 * 1000000)
        lent.reply()
        self.wait(FREE)
        time.sleep(0.7)
        self.assertEqual(held(), FREE)
        lent.close()
        self.wait(50)


def late_us():
    return test_timed.late_us(0.02, 50)


class DeepIdle(unittest.TestCase):
    """On a machine with deep idle states (--energy laptop)"""

    def test_wakes_sooner(self):
        """A sleeper with an idle latency wakes up sooner than one without"""
        guest.write("/proc/self/timerslack_ns", 1)
        found = {}
        with guest.Daemon("[class prompt]\nidle-latency = 5us\n") as daemon:
            ctl = f"{guest.BUILD}/wakegovctl"
            late_us()
            found["without"] = late_us()
            subprocess.run([ctl, "override", str(os.getpid()), "--idle-latency", "5us"], check=True)
            late_us()
            self.assertEqual(daemon.call("Status")["idle_latency_us"], 5)
            found["with"] = late_us()
        tap.note(f"late by {found} us")
        self.assertLess(found["with"], found["without"] - 50)


if __name__ == "__main__":
    tap.main()
