#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Idle latency: which CPUs may not sleep deeply, for which tasks, how long, and what is put back."""
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
from test_hand_back import Stream

CPUS = range(4)
POLICY = "[class prompt]\nidle-latency = 50us\n[class sharp]\nidle-latency = 0us\n"
# A hundred wake-ups a second, on one CPU.
TICKING = "import time\nwhile True: time.sleep(0.01)"


def path(cpu):
    return f"/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us"


def latencies():
    return [guest.read(path(cpu)) for cpu in CPUS]


def limited(**cpus):
    """Those of all CPUs, where no other is limited: limited(cpu2="50")."""
    return [cpus.get(f"cpu{cpu}", "0") for cpu in CPUS]


class IdleLatency(unittest.TestCase):
    def setUp(self):
        self.daemon = None
        self.tasks = []
        self.addCleanup(self.clean_up)
        self.assertEqual(latencies(), limited())

    def clean_up(self):
        while self.tasks:
            self.end(self.tasks.pop())
        if self.daemon:
            self.daemon.stop(signal.SIGKILL)
            guest.restore()
        for cpu in CPUS:
            guest.write(path(cpu), 0)

    def start(self, policy=POLICY):
        self.daemon = guest.Daemon(policy).start()

    def ctl(self, *arguments):
        return subprocess.run([f"{guest.BUILD}/wakegovctl", *arguments], check=True, capture_output=True,
                              text=True).stdout

    def tick(self, cpu, class_name="prompt", code=TICKING):
        task = subprocess.Popen(
            [f"{guest.BUILD}/wakegovctl", "run", "--class", class_name, "--", sys.executable, "-c", code],
            preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.tasks.append(task)
        return task

    def end(self, task):
        task.kill()
        task.wait()

    def wait(self, **cpus):
        guest.wait_for(lambda: latencies() == limited(**cpus), 10, f"limits {cpus}, not {latencies()}")

    def count(self):
        text = self.daemon.call("Metrics")["text"]
        return int(re.search(r"^wakegov_idle_latency_cpus (\d+)$", text, re.M).group(1))

    def test_follows(self):
        """a CPU is limited while such a task runs on it, by the shortest one, and said to be"""
        self.start()
        task = self.tick(2)
        self.wait(cpu2="50")
        self.assertEqual(self.daemon.call("Status")["idle_cpus"], "2")
        self.assertEqual(self.count(), 1)
        said = self.ctl("rules", str(task.pid))
        self.assertRegex(said, r"yes +hint/prompt, idle-latency 50 us")
        self.assertRegex(said, r"CPUs 2 may take 50")
        self.assertRegex(self.ctl("explain", str(task.pid)), r"CPUs 2 may take 50")
        self.assertRegex(self.ctl("status"), r"idle +CPUs 2 have a limited exit latency")
        os.sched_setaffinity(task.pid, {3})
        self.wait(cpu3="50")
        sharp = self.tick(3, "sharp")
        self.wait(cpu3="n/a")
        self.end(sharp)
        self.wait(cpu3="50")
        self.end(task)
        self.wait()
        self.assertIsNone(self.daemon.call("Status")["idle_cpus"])
        self.assertEqual(self.count(), 0)

    def test_busy_and_asleep(self):
        """a task that never sleeps keeps its limit; one that only sleeps has none"""
        self.start()
        self.tick(2, code="import time; time.sleep(1000)")
        self.wait(cpu2="50")  # while it starts
        self.wait()
        self.tick(1, code="while True: pass")
        self.wait(cpu1="50")
        for _ in range(20):
            time.sleep(0.1)
            self.assertEqual(latencies(), limited(cpu1="50"))

    def test_exact(self):
        """to the letter what there was, at the end and after SIGKILL; what limits more already is left so"""
        for end in signal.SIGTERM, signal.SIGKILL:
            with self.subTest(end.name):
                before = ["0", "70", "20", "n/a"]
                for cpu, text in zip(CPUS, before):
                    guest.write(path(cpu), text)
                self.start()
                for cpu in CPUS:
                    self.tick(cpu)
                guest.wait_for(lambda: latencies() == ["50", "50", "20", "n/a"] and
                               len(self.daemon.call("Hints")["hints"]) == len(CPUS), 10, "limits")
                self.daemon.stop(end)
                if end == signal.SIGKILL:
                    self.assertEqual(latencies(), ["50", "50", "20", "n/a"])
                    guest.restore()
                self.assertEqual(latencies(), before)
                self.assertNotIn("originals", os.listdir("/run/wakegov"))
            self.clean_up()  # of a case that failed, too

    def test_killed_and_started(self):
        """the next daemon puts back what a killed one left, and limits anew"""
        self.start()
        task = self.tick(2)
        self.wait(cpu2="50")
        self.daemon.stop(signal.SIGKILL)
        self.end(task)
        self.start()
        self.assertEqual(latencies(), limited())
        self.tick(1)
        self.wait(cpu1="50")
        self.daemon.stop()
        self.wait()

    def test_others(self):
        """what somebody sets meanwhile is theirs, also after the end; a reload tries again"""
        self.start()
        self.tick(2)
        self.wait(cpu2="50")
        guest.write(path(2), 90)
        guest.wait_for(lambda: any("CPUs 2:" in text for text in self.daemon.call("Status")["unable"]), 10,
                       "the yielding")
        self.assertIn("CPU 2: another program set", self.daemon.log())
        time.sleep(0.5)
        self.assertEqual(latencies(), limited(cpu2="90"))
        self.ctl("reload")
        self.wait(cpu2="50")
        self.daemon.stop()
        self.assertEqual(latencies(), limited(cpu2="90"))

    def test_override(self):
        """one task, by an override, and a command by run; both end with it"""
        self.start("")
        task = subprocess.Popen([sys.executable, "-c", TICKING], preexec_fn=lambda: os.sched_setaffinity(0, {1}))
        self.tasks.append(task)
        self.ctl("override", str(task.pid), "--idle-latency", "30us")
        self.wait(cpu1="30")
        self.ctl("override", "cancel", "all")
        self.wait()
        self.tasks.append(subprocess.Popen(
            [f"{guest.BUILD}/wakegovctl", "run", "--idle-latency", "20us", "--", sys.executable, "-c", TICKING],
            preexec_fn=lambda: os.sched_setaffinity(0, {2})))
        self.wait(cpu2="20")
        self.end(self.tasks.pop())
        self.wait()

    def test_hand_back(self):
        """while the domains are handed back no CPU is limited, and after that as before"""
        self.start()
        self.tick(2)
        self.wait(cpu2="50")
        lent = Stream(self.daemon, "HandBack", for_us=3600 * 1000000)
        lent.reply()
        self.wait()
        time.sleep(0.5)
        self.assertEqual(latencies(), limited())
        lent.close()
        self.wait(cpu2="50")

    def test_offline(self):
        """a CPU that goes offline is not limited any more"""
        self.start()
        task = self.tick(3)
        self.wait(cpu3="50")
        guest.write("/sys/devices/system/cpu/cpu3/online", 0)
        try:  # the kernel gives the task other CPUs
            guest.wait_for(lambda: latencies()[3] == "0" and "50" in latencies(), 10, "another CPU")
        finally:
            guest.write("/sys/devices/system/cpu/cpu3/online", 1)
        self.end(task)
        self.wait()

    def test_missing(self):
        """a kernel without the file: it is said once, and the rest works"""
        for cpu in CPUS:
            subprocess.run(["mount", "-t", "tmpfs", "none", os.path.dirname(path(cpu))], check=True)
        try:
            self.start()
            self.tick(2)
            guest.wait_for(lambda: any("no pm_qos_resume_latency_us" in text
                                       for text in self.daemon.call("Status")["unable"]), 10, "why not")
            self.ctl("reload")
            self.assertEqual(self.daemon.log().count("idle-latency does nothing here"), 1)
            self.daemon.stop()
        finally:
            for cpu in CPUS:
                subprocess.run(["umount", os.path.dirname(path(cpu))], check=True)


FIO = ("fio --name=x --filename={disk} --ioengine=psync --direct=1 --rw=randread --bs=4k --time_based --thread "
       "--cpus_allowed=1 --output-format=json --ramp_time={ramp}s --runtime={run}s")
ASKED = "[io-boost]\nidle-latency = 10us\n"


class DeepIdle(unittest.TestCase):
    """On a machine with deep idle states (--idle-states): an I/O boost asks for it where that pays"""

    def setUp(self):
        self.disk = guest.null_blk("null_blk_create", "completion_nsec=100000")
        self.addCleanup(guest.write, path(1), 0)
        self.assertEqual(latencies(), limited())

    def reading(self, ramp, run):
        return subprocess.Popen(FIO.format(disk=self.disk, ramp=ramp, run=run).split(),
                                stdout=subprocess.PIPE, text=True)

    def rate(self, fio):
        return json.loads(fio.communicate()[0])["jobs"][0]["read"]["iops"]

    def trial(self, daemon):
        return daemon.call("Explain", cpu=1)["idle_latency"] or {"state": None}

    def count_limited(self, looks):
        """Of so many looks, at how many no other CPU but that one was limited."""
        n = 0
        for _ in range(looks):
            n += latencies() == limited(cpu1="10")
            time.sleep(0.02)
        return n

    def test_pays(self):
        """psync: found and kept, explained, and over with the I/O; more I/O than without"""
        rates = {}
        for policy in "", ASKED:
            with guest.Daemon(policy) as daemon:
                with self.reading(4, 2) as fio:
                    if policy:
                        guest.wait_for(lambda: self.trial(daemon)["state"] == "pays", 8, "the answer")
                        self.assertGreaterEqual(self.count_limited(50), 45)
                        said = subprocess.run([f"{guest.BUILD}/wakegovctl", "explain", "cpu1"], check=True,
                                              capture_output=True, text=True).stdout
                        self.assertRegex(" ".join(said.split()),
                                         r"wake up within 10 us, in \d+ pairs: 1\d % more I/O.*; pays")
                    rates[policy] = self.rate(fio)
                guest.wait_for(lambda: latencies() == limited(), 5, "the end of the limit")
                if not policy:
                    self.assertIsNone(daemon.call("Explain", cpu=1)["idle_latency"])
        tap.note(f"{rates[''] :.0f} IOPS without, {rates[ASKED]:.0f} with it")
        self.assertGreater(rates[ASKED], 1.1 * rates[""])

    def test_does_not_pay(self):
        """Where another program's limit is as low already, nothing is gained: found, and not kept"""
        guest.write(path(1), 5)
        with guest.Daemon(ASKED) as daemon:
            with self.reading(0, 12) as fio:
                guest.wait_for(lambda: self.trial(daemon)["state"] in ("does-not-pay", "cannot-tell"), 12,
                               "the answer")
                tap.note(f"{self.trial(daemon)}")
                fio.terminate()
        self.assertEqual(latencies(), limited(cpu1="5"))


if __name__ == "__main__":
    tap.main()
