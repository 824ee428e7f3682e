#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The I/O boost on a real cpufreq driver and the timed machine: it predicts, tries, follows its task, and gives up."""
import itertools
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import guest
import tap
from clamps import clamps_of

POLICY = "[wakegov]\nbackend = setspeed\n"
DOMAINS = ("policy0", "policy2")
# Large, and on every host of the lab.
HOST_FILE = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"
NOT_PAYING = {"does-not-pay", "device-busy"}
# Looking takes CPU time, which is emulated dearly.
LOOK_SECONDS = 0.2


class Load:
    """freqload, from the moment that its threads read on."""

    def __init__(self, *arguments):
        # The margin makes it say when it begins.
        self.process = guest.start_load(*arguments, "--margin-ms", "1")
        if self.process.stdout.readline() != "begin\n":
            raise AssertionError("freqload did not begin: " + self.process.communicate()[1])
        self.began_s = time.monotonic()

    def threads(self):
        """Those that read, without the one that waits for them."""
        tids = os.listdir(f"/proc/{self.process.pid}/task")
        return {int(tid) for tid in tids} - {self.process.pid}

    def move(self, cpu):
        for tid in self.threads():
            os.sched_setaffinity(tid, {cpu})

    def end(self):
        self.process.kill()
        self.process.communicate()


class Boost(unittest.TestCase):
    def setUp(self):
        guest.stay_off({0, 2, 3}, self)
        self.daemon = guest.Daemon(POLICY)

    def start(self, policy=POLICY):
        """With the daemon of the tests before: of a group that paid there it knows that."""
        self.daemon = guest.KeptDaemon.with_policy(policy)
        self.settle()

    def settle(self):
        guest.wait_for(lambda: all(guest.frequency(name) == 400000 for name in DOMAINS), 10,
                       "both domains at their lowest OPP")

    def load(self, *arguments):
        load = Load(*arguments)
        self.addCleanup(load.end)
        return load

    def psync(self, cpus, function="null_blk_create", *arguments):
        return self.load("psync", "--file", guest.null_blk(function), "--cpus", cpus, "--time",
                         "120", *arguments)

    def states(self, load):
        """The states of the load's threads; io_uring's workers count as such."""
        threads = load.threads()
        return [task["state"] for task in self.daemon.call("Tasks")["tasks"]
                if task["pid"] in threads]

    def watch(self, load, seconds, until=()):
        """The states that the load went through, in order, until it is in one of `until`."""
        seen = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(LOOK_SECONDS, seconds))
            for state in self.states(load):
                if not seen or seen[-1] != state:
                    seen.append(state)
            if seen and seen[-1] in until:
                break
        return seen

    def confirm(self, load):
        """Waits until the boost of the load was found to pay."""
        seen = self.watch(load, 5, until={"pays"})
        self.assertIn("pays", seen)
        took_s = time.monotonic() - load.began_s
        tap.note(f"pays {took_s * 1000:.0f} ms after the first I/O: {', '.join(seen)}")

    def boosted(self, name):
        domain = self.daemon.domain(name)
        return domain["reason"] == "io-boost" and domain["comm"] == "freqload"

    def check_stats(self):
        """What the boost gained is counted, and the time at each OPP is all of the time."""
        stats = self.daemon.call("Stats")
        row = next(r for r in stats["gains"] if r["comm"] == "freqload")
        tap.note(f"gained: {row}")
        self.assertEqual(row["device"][:5], "nullb")
        self.assertGreater(row["gained_ios"], 0.02 * row["ios"])
        status = self.daemon.call("Status")
        for domain in stats["domains"]:
            us = sum(time["time_us"] for time in domain["times"])
            self.assertLessEqual(us, status["uptime_us"])
            self.assertGreater(us, 2000000)
        boosted = sum(time["time_us"] for time in stats["domains"][1]["times"]
                      if time["reason"] == "io-boost" and time["khz"] == 1400000)
        self.assertGreater(boosted, 2000000)
        self.assertRegex(self.ctl("stats"), r"freqload +nullb\d+ ")

    def test_pays(self):
        """a task that a faster clock serves is boosted, each time anew"""
        self.start()
        for _ in range(2):
            load = self.psync("3")
            self.confirm(load)
            # But for a pair in which it is tried again.
            guest.wait_for(lambda: self.boosted("policy2") and
                           self.daemon.domain("policy2")["target_khz"] == 1400000, 1, "the boost")
            self.assertRegex(self.ctl("tasks"), r"freqload +policy2 +pays +nullb")
            time.sleep(1)
            load.end()
            self.settle()
        self.check_stats()

    def test_by_bytes(self):
        """no program runs at the requests of a task that is known, and its rate is that of its disk"""
        self.start()
        load = self.psync("3")
        self.confirm(load)

        def state():
            return next(program["state"] for program in self.daemon.call("Status")["programs"]
                        if program["name"] in ("block_io_start", "block_rq_issue")
                        and program["state"] not in ("unused", "missing"))

        guest.wait_for(lambda: state() == "not-needed", 5, "only bytes are counted")
        rate = guest.reads_per_second(guest.NULL_BLK["null_blk_create"])
        found = [task["io_rate_per_s"] for task in self.daemon.call("Tasks")["tasks"]
                 if task["pid"] in load.threads()]
        tap.note(f"{found} I/O/s of {rate:.0f}")
        self.assertEqual(len(found), 1)
        self.assertAlmostEqual(found[0] / rate, 1, delta=0.2)

    def shares_at_lowest(self, seconds):
        """Of each domain's time."""
        before = {name: guest.time_in_state(name) for name in DOMAINS}
        time.sleep(seconds)
        return {name: guest.share_at_lowest(before[name], guest.time_in_state(name))
                for name in DOMAINS}

    def settles_low(self, load, domains, seen):
        """The domains get to their lowest OPP and stay there, the states of the load never say that it pays."""
        # A queue that ran dry for a moment is predicted a gain, and tried: until that is over.
        for _ in range(15):
            shares = self.shares_at_lowest(2)
            seen |= set(self.watch(load, 0.5))
            if min(shares[name] for name in domains) >= 0.9:
                break
        tap.note(f"{', '.join(sorted(seen))}; at the lowest OPP " +
                 ", ".join(f"{name}: {shares[name] * 100:.0f} %" for name in domains))
        self.assertGreaterEqual(min(shares[name] for name in domains), 0.9)
        self.assertNotIn("pays", seen)

    def test_deep_queue(self):
        """a deep queue on a slow device leaves both domains at the lowest OPP"""
        self.start()
        # Slow: all that it does in 20 ms is completed at once, on one CPU, which is at work for a
        # third of them at 17 MB/s.
        load = self.load("io_uring", "--file", guest.null_blk("null_blk_create_bound", "8"),
                         "--threads", "2", "--depth", "128", "--cycles", "10000",
                         "--time", "60")
        seen = set(self.watch(load, 5, until=NOT_PAYING))
        self.settles_low(load, DOMAINS, seen)
        self.assertTrue(NOT_PAYING & seen)

    def test_paced(self):
        """a device that takes the time that the CPU saves: unboosted"""
        self.start()
        load = self.psync("3", "null_blk_create_paced")
        # Short windows see a gain, since a boost takes more of each 20 ms; long ones see that it is
        # none, or cannot tell.
        answers = {"does-not-pay", "cannot-tell"}
        seen = self.watch(load, 20, until=answers)
        tap.note(f"{', '.join(seen)} after {time.monotonic() - load.began_s:.1f} s")
        # It is tried again, in pairs now and then.
        before = guest.time_in_state("policy2")
        seen += self.watch(load, 4)
        share = guest.share_at_lowest(before, guest.time_in_state("policy2"))
        tap.note(f"then {', '.join(seen)}; {share * 100:.0f} % of 4 s at the lowest OPP")
        self.assertTrue(answers & set(seen), seen)
        self.assertNotIn("pays", seen)
        self.assertGreaterEqual(share, 0.8)
        guest.wait_for(lambda: guest.frequency("policy2") == 400000, 3, "the lowest OPP")

    def test_kernel_boost(self):
        """uclamp: schedutil's own boost is held back where reads gain nothing by it"""
        load = self.psync("3", "null_blk_create_paced")
        alone = self.shares_at_lowest(1)["policy2"]
        self.daemon.set_policy("[wakegov]\nbackend = uclamp\n")
        self.daemon.start()
        self.addCleanup(self.daemon.stop)
        # More is predicted of the clock than it brings: single pairs have to speak against that.
        seen = self.watch(load, 120, until={"does-not-pay"})
        governed = self.shares_at_lowest(4)["policy2"]
        tap.note(f"{', '.join(seen)}; at the lowest OPP {governed * 100:.0f} % of the time, "
                 f"{alone * 100:.0f} % by schedutil alone")
        self.assertEqual(seen[-1], "does-not-pay")
        self.assertLess(alone, 0.5)
        self.assertGreaterEqual(governed, 0.8)
        # But for a pair in which it is tried again.
        guest.wait_for(lambda: re.search(r"held back +freqload \(pid \d+\) at 400 MHz",
                                         self.ctl("explain", "policy2")), 5, "what explain says")
        reader = load.threads().pop()
        self.assertLess(clamps_of(reader)[1], 1024)
        self.daemon.stop()
        self.assertEqual(clamps_of(reader), (0, 1024))

    def test_kernel_boost_that_pays(self):
        """uclamp: schedutil's own boost is held where it pays, as a minimum of the domain, and for no longer"""
        load = self.psync("3")
        self.daemon.set_policy("[wakegov]\nbackend = uclamp\n")
        self.daemon.start()
        self.addCleanup(self.daemon.stop)
        self.watch(load, 60, until={"pays"})
        reader, path = load.threads().pop(), guest.policy("policy2", "scaling_min_freq")
        guest.wait_for(lambda: int(guest.read(path)) > 400000, 5, "a minimum")
        guest.wait_for(lambda: re.search(rf"io-boost of freqload \(pid {reader}\)",
                                         self.ctl("explain", "policy2")), 5, "what explain says")
        load.end()
        guest.wait_for(lambda: int(guest.read(path)) == 400000, 5, "no minimum")

    @staticmethod
    def flip(load):
        """Has the load's task to and fro for 3 s; returns each domain's changes of frequency per s."""
        before = {name: guest.changes(name) for name in DOMAINS}
        start = time.monotonic()
        for cpu in itertools.cycle((0, 3)):
            load.move(cpu)
            time.sleep(0.02)
            if time.monotonic() - start >= 3:
                break
        seconds = time.monotonic() - start
        return {name: (guest.changes(name) - before[name]) / seconds for name in DOMAINS}

    def test_flips(self):
        """a task that flips between domains makes neither of them oscillate"""
        self.start()
        load = self.psync("3")
        self.confirm(load)
        rates = self.flip(load)
        tap.note(", ".join(f"{name}: {rate:.1f} changes/s" for name, rate in rates.items()))
        # At most two pairs in these 3 s, of four changes each, and the first move.
        self.assertLessEqual(max(rates.values()), 4)

    def test_fallback(self):
        """where no block device is seen, counting finds the task"""
        self.start(POLICY + "[io-boost]\nmin-rate = 20/s\n")
        # A file of the host's: the guest reads it over 9p. By this clock that takes no time but the
        # CPU's, so that utilisation alone may raise the domain before the task is found, and then
        # there is nothing to try. That a boost is tried on such waits is test_fuse's.
        load = self.load("psync", "--buffered", "--file", HOST_FILE, "--cpus", "3", "--time", "30")
        found = {"trying", "at-level"}
        seen = self.watch(load, 20, until=found)
        tap.note(f"{', '.join(seen)} after {time.monotonic() - load.began_s:.1f} s")
        self.assertTrue(found & set(seen), seen)

    def slow_file(self):
        """A file whose reads are answered by a program, one at a time, on the other domain."""
        folder = tempfile.mkdtemp()
        server = subprocess.Popen(["taskset", "-c", "0", "tests/lab/guest/slow_files.py", folder])
        self.addCleanup(server.wait)
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        guest.wait_for(lambda: os.path.exists(f"{folder}/file"), 10, "the file")
        return f"{folder}/file"

    def test_fuse(self):
        """a reader of a file system in user space, whose own waits are counted, is boosted"""
        self.start()
        load = self.load("psync", "--buffered", "--file", self.slow_file(), "--cpus", "3", "--time", "30")
        self.confirm(load)

    def test_fuse_deep(self):
        """a deep queue of reads of a file system in user space leaves its domain at the lowest OPP"""
        self.start()
        load = self.load("io_uring", "--file", self.slow_file(), "--depth", "32", "--cycles", "10000",
                         "--cpus", "3", "--time", "60")
        self.settles_low(load, ("policy2",), set())

    def ctl(self, *arguments):
        return subprocess.run([f"{guest.BUILD}/wakegovctl", "--socket", self.daemon.socket,
                               *arguments], check=True, capture_output=True, text=True).stdout

    def test_recorded(self):
        """a boost under an override of its task, recorded from before it, replays exactly"""
        self.start()
        path = "/tmp/boost.rec"
        recorder = subprocess.Popen([f"{guest.BUILD}/wakegovctl", "record", "-o", path],
                                    stdout=subprocess.DEVNULL)
        self.addCleanup(recorder.kill)
        # What a program costs to start is not the load's.
        guest.wait_for(lambda: os.path.exists(path), 10, "the recording")
        time.sleep(0.3)
        load = self.psync("3")
        self.confirm(load)
        self.ctl("override", str(load.process.pid), "--max", "1GHz")
        guest.wait_for(lambda: self.daemon.domain("policy2")["target_khz"] == 1000000, 3,
                       "policy2 under the cap")
        self.assertIn("rule       override-1 caps it, for pid ", self.ctl("explain", "policy2"))
        self.ctl("override", "cancel", "1")
        guest.wait_for(lambda: self.daemon.domain("policy2")["target_khz"] == 1400000, 3,
                       "policy2 without it")
        load.end()
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(10), 0)
        replayed = self.ctl("replay", path)
        tap.note(replayed.strip().replace("\n", "; "))
        self.assertIn(", every one as recorded", replayed)
        os.unlink(path)

    def test_slack(self):
        """a reload with more slack lowers the OPP that is chosen"""
        guest.KeptDaemon.end()  # which knows another disk by that number
        self.start()
        disk = guest.null_blk("null_blk_create", "completion_nsec=250000")
        load = self.load("psync", "--file", disk, "--cpus", "3", "--time", "120")
        self.confirm(load)
        guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 1, "the boost")
        self.daemon.set_policy(POLICY + "[io-boost]\nslack = 50%\n")
        self.daemon.call("Reload")
        # By half of the slack: at 600 MHz a fifth of the I/O is lost, and at 400 a third.
        took_s = guest.wait_for(lambda: self.daemon.domain("policy2")["target_khz"] == 600000, 3, "600 MHz")
        tap.note(f"600 MHz instead of 1400 MHz, {took_s * 1000:.0f} ms after the reload; "
                 f"{', '.join(self.states(load))}")


if __name__ == "__main__":
    tap.main()
