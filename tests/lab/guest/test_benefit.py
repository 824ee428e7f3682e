#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl benefit finds what there is, and nothing where there is nothing.

For the timed machine, where a CPU at a lower frequency really runs slower.
"""
import json
import os
import signal
import subprocess
import unittest
from xml.etree import ElementTree

import guest
import tap

FIO = ["fio", "--name=psync", "--direct=1", "--ioengine=psync", "--rw=randread", "--bs=4k",
       "--cpus_allowed=0", "--time_based"]

SVG = "{http://www.w3.org/2000/svg}"
MARK = "#08519c"  # of a pair, see src/ctl/benefit.py


def fio(device, seconds, *more):
    return subprocess.Popen([*FIO, f"--filename={device}", f"--runtime={seconds}", *more,
                             "--output-format=json"], stdout=subprocess.PIPE, text=True)


def reads_per_second(device):
    """Without its first second: that wakegovd gets to know it in is in no block either."""
    output, _ = fio(device, 4, "--ramp_time=1").communicate()
    return json.loads(output)["jobs"][0]["read"]["iops"]


def states_of(daemon, comm):
    """Of the tasks with I/O that have this name."""
    return [task["state"] for task in daemon.call("Tasks")["tasks"] if task["comm"] == comm]


def start_benefit(*arguments):
    return subprocess.Popen([f"{guest.BUILD}/wakegovctl", "benefit", "--json", *arguments],
                            stdout=subprocess.PIPE, text=True)


def figures(process):
    output, _ = process.communicate()
    tap.note(output.replace("\n", " "))
    answer = json.loads(output)
    return answer, {figure["name"]: figure for figure in answer["figures"]}


class Benefit(unittest.TestCase):
    def setUp(self):
        self.device = guest.null_blk("null_blk_create", "completion_nsec=100000")
        self.before = guest.snapshot()

    def wait_as_before(self):
        guest.wait_for(lambda: guest.snapshot() == self.before, 5, "everything put back")

    def test_powersave(self):
        """lent to powersave, fio's psync does what it does there alone; and the ratio is fio's own"""
        guest.set_governor("powersave")
        alone = reads_per_second(self.device)
        guest.set_governor("schedutil")
        with guest.Daemon() as daemon:
            truth = reads_per_second(self.device) / alone
            load = fio(self.device, 60)
            reads = guest.reads_of(self.device)  # what fio does before the first is not its work
            guest.wait_for(lambda: guest.reads_of(self.device) > reads + 1000, 10, "fio reads")
            answer, found = figures(start_benefit("--against", "powersave", "--for", "16s",
                                                  "--block", "1s"))
            load.terminate()
            load.communicate()
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
        ios = found["ios_per_s"]
        tap.note(f"{alone:.0f} alone; {truth:.4f} by fio, "
                 f"{ios['ratio']:.4f} ({ios['low']:.4f} to {ios['high']:.4f})")
        self.assertEqual((answer["pairs"], answer["void"]), (8, 0))
        self.assertGreater(ios["low"], 1)
        # Where each of a few seconds begins makes one in a hundred; the tracer, where it went on, five.
        self.assertLess(abs(ios["without"] / alone - 1), 0.02)
        self.assertLess(abs(ios["ratio"] / truth - 1), 0.05)
        self.assertLess(found["ms_per_io"]["high"], 1)
        self.assertGreater(found["mhz"]["low"], 1)
        self.wait_as_before()

    def test_interrupted(self):
        """Ctrl-C prints what was measured and leaves wakegov governing, and a change voids a pair"""
        with guest.Daemon() as daemon:
            process = start_benefit("--against", "powersave", "--for", "600s", "--block", "1s")
            guest.wait_for(lambda: daemon.domain("policy0")["state"] == "handed-back", 10, "lent")
            daemon.call("AddOverride", domain="policy0", settings={"max-frequency": "1GHz"}, for_us=1_000_000)
            guest.wait_for(lambda: daemon.domain("policy0")["state"] == "driven", 10, "taken")
            guest.wait_for(lambda: daemon.domain("policy0")["state"] == "handed-back", 10, "lent")
            process.send_signal(signal.SIGINT)
            answer, _ = figures(process)
            self.assertEqual(process.returncode, 0)
            # The override lasts as long as a block: its end can fall into the next pair.
            self.assertIn(answer["void"], (1, 2))
            guest.wait_for(lambda: daemon.domain("policy0")["state"] == "driven", 5, "governing")
        self.wait_as_before()

    def test_command(self):
        """a command that the frequency is nothing to is no slower and no faster"""
        with guest.Daemon():
            _, found = figures(start_benefit("--for", "16s", "--block", "1s", "--", "sleep", "0.3"))
        run = found["run_s"]
        self.assertLessEqual(run["low"], 1.01)
        self.assertGreaterEqual(run["high"], 0.99)
        # The command is read from the host's file system, which takes its own time: of eight pairs
        # the interval goes from the least to the highest.
        self.assertLess(run["high"] - run["low"], 0.15)
        self.wait_as_before()


class Answer(unittest.TestCase):
    def test_figure_of_a_command(self):
        """a verdict in words, with the energy of a run, and the command's own figure"""
        with guest.Daemon():
            done = subprocess.run([f"{guest.BUILD}/wakegovctl", "benefit", "--for", "16s",
                                   "--block", "1s", "--figure", "score", "--", "sh", "-c",
                                   "perl -e 'select(undef, undef, undef, 0.002) for 1..150'; "
                                   "echo made up; echo score: 42k"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        tap.note(done.stdout.replace("\n", " / "))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("score: 42k", done.stderr)
        verdict, head, *lines = done.stdout.splitlines()
        self.assertIn("in 8 pairs of blocks (0 more were void)", head)
        self.assertRegex(lines[0], r"^  score +same, within 0 % +42000, without 42000$")
        self.assertTrue(any(line.startswith("  wait for a CPU ") for line in lines))
        self.assertTrue(any(line.endswith(" CPU s, by frequency alone") for line in lines))
        self.assertRegex(verdict, r"^Verdict: .*\.$")
        for figure in ("score", "estimated energy for each run"):
            self.assertIn(figure, verdict)

    def test_shorter_and_dearer(self):
        """a run that is half as long by three times the clock takes more energy, which comes first"""
        with guest.Daemon("[domain]\nmin-frequency = 1800MHz\n"):
            answer, found = figures(start_benefit("--against", "powersave", "--for", "32s", "--block", "2s",
                                                  "--", "perl", "-e", "$i++ while $i < 3000000"))
        energy, run = found["estimate_per_run"], found["run_s"]
        self.assertGreater(energy["low"], 1)
        self.assertLess(run["high"], 0.5)
        self.assertRegex(answer["verdict"],
                         r"^estimated energy for each run: .* more; run time: .* shorter$")

    def test_refused(self):
        """what the daemon refuses is said, with what to do, before anything is measured"""
        with guest.Daemon():
            done = subprocess.run([f"{guest.BUILD}/wakegovctl", "benefit", "--against", "nonsense"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the driver of a domain does not offer the governor", done.stderr)

    def test_against_file(self):
        """another policy governs the blocks that are its own, and the picture has each pair"""
        policy, picture = "/tmp/slow.conf", "/tmp/slow.svg"
        with open(policy, "w", encoding="ascii") as file:
            file.write("[domain]\nmax-frequency = 600MHz\n")
        with guest.Daemon() as daemon, guest.busy_loop(0):
            answer, found = figures(start_benefit("--against", policy, "--for", "16s", "--block",
                                                  "1s", "--plot", picture))
            # The daemon's own policy, by which the loop has the highest frequency.
            guest.wait_for(lambda: guest.frequency("policy0") == 1800000, 5, "its own policy")
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
        self.assertEqual((answer["against"], answer["pairs"], answer["void"]), (policy, 8, 0))
        self.assertGreater(found["mhz"]["low"], 1)
        self.assertLess(found["mhz"]["without"], 700)
        drawn = ElementTree.parse(picture).getroot()
        texts = [text.text for text in drawn.iter(f"{SVG}text")]
        marks = [box for box in drawn.iter(f"{SVG}rect") if box.get("fill") == MARK]
        self.assertIn(f"With wakegov, against {policy}: 8 pairs of blocks", texts)
        self.assertIn(answer["verdict"], texts)
        for figure in answer["figures"]:
            self.assertIn(figure["words"], texts)
        self.assertEqual(len(marks), sum(len(figure["ratios"]) for figure in answer["figures"]))
        self.assertGreaterEqual(len(marks), 8)


class Power(unittest.TestCase):
    """Where the machine counts energy: not behind the driver acpi."""
    def test_paced(self):
        """the same reads with less energy than performance, by the machine's own counter"""
        subprocess.run(["modprobe", "intel_rapl_msr"], check=True)
        device = guest.null_blk("null_blk_create", "completion_nsec=100000")
        with guest.Daemon() as daemon:
            # Twice as many as [io-boost] min-rate, below which a task is not looked at.
            load = fio(device, 60, "--rate_iops=1000")
            # Until then a boost is tried, which takes energy: the first pairs would differ from the others.
            # By which of the two is chance: its reads come as often, and differ from one moment to the next.
            guest.wait_for(lambda: states_of(daemon, "fio")[:1] in (["does-not-pay"], ["cannot-tell"]), 20, "an answer")
            # A boost is tried again now and then, which makes the interval wider: to 0.83 in one of six starts.
            answer, found = figures(start_benefit("--against", "performance", "--for", "16s",
                                                  "--block", "1s"))
            load.terminate()
            load.communicate()
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
        self.assertEqual((answer["pairs"], answer["void"]), (8, 0))
        self.assertEqual(found["watts"]["source"], "powercap")
        self.assertLess(found["watts"]["ratio"], 0.8)
        self.assertLess(found["watts"]["high"], 1)
        self.assertLess(abs(found["ios_per_s"]["ratio"] - 1), 0.01)
        self.assertIn("less, at the same I/Os", answer["verdict"])


class Figures(unittest.TestCase):
    """By hand, see tests/README.md: what ten minutes, here five of virtual time, find out."""
    TIMES = 3
    ARGUMENTS = ("--for", "300s")

    def setUp(self):
        subprocess.run(["modprobe", "intel_rapl_msr"], check=True)
        self.device = guest.null_blk("null_blk_create", "completion_nsec=100000")

    def measured(self, *arguments):
        for _ in range(self.TIMES):
            with guest.Daemon():
                answer, found = figures(start_benefit(*self.ARGUMENTS, *arguments))
            self.assertEqual(answer["void"], 0)
            yield answer["verdict"], found

    def test_nothing(self):
        """five minutes, three times: where all run at one frequency nothing but its own cost is found"""
        for domain in ("policy0", "policy2"):
            highest = guest.read(guest.policy(domain, "cpuinfo_max_freq"))
            self.addCleanup(guest.write, guest.policy(domain, "scaling_max_freq"), highest)
            guest.write(guest.policy(domain, "scaling_max_freq"), 400000)
        for verdict, found in self.measured("--", "sleep", "0.5"):
            tap.note(verdict)
            self.assertLess(abs(found["run_s"]["ratio"] - 1), 0.005)
            self.assertLess(found["run_s"]["low"], 1.005)
            self.assertGreater(found["run_s"]["high"], 0.995)

    def start_fio(self, *options):
        load = fio(self.device, 100000, *options)
        self.addCleanup(load.communicate)
        self.addCleanup(load.terminate)

    def test_powersave(self):
        """five minutes, three times: psync against powersave within 2 % of what fio counts"""
        guest.set_governor("powersave")
        reads_per_second(self.device)
        alone = reads_per_second(self.device)
        guest.set_governor("schedutil")
        with guest.Daemon():
            reads_per_second(self.device)
            truth = reads_per_second(self.device) / alone
        self.start_fio()
        for _, found in self.measured("--against", "powersave"):
            tap.note(f"{found['ios_per_s']['ratio']:.4f}; {truth:.4f} by fio")
            self.assertLess(abs(found["ios_per_s"]["ratio"] / truth - 1), 0.02)

    def test_paced(self):
        """five minutes, three times: the same reads with less energy than performance"""
        self.start_fio("--rate_iops=500")
        for verdict, found in self.measured("--against", "performance"):
            self.assertEqual(found["watts"]["source"], "powercap")
            self.assertRegex(verdict, "less, at the same I/Os")


class Suite(unittest.TestCase):
    """Where a CPU at a lower frequency runs slower, and energy is counted."""
    def test_suite(self):
        """the loads of its own under three governors: what schedutil lacks of performance, and a file without names"""
        subprocess.run(["modprobe", "intel_rapl_msr"], check=False)
        before = guest.snapshot()
        with guest.Daemon() as daemon:
            done = subprocess.run([f"{guest.BUILD}/wakegovctl", "benefit", "--suite", "--for", "30s", "/tmp/suite.json"],
                                  check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            guest.wait_for(lambda: daemon.domain("policy0")["state"] == "driven", 5, "taken back")
        guest.wait_for(lambda: guest.snapshot() == before, 5, "everything put back")
        tap.note(done.stdout.split("\n\n/tmp")[0].replace("\n", "\n# "))
        text = guest.read("/tmp/suite.json")
        self.assertIn(text, done.stdout)
        answer = json.loads(text)
        self.assertEqual((answer["modes"], answer["kernel"]), (["own", "performance", "wakegov"], os.uname().release))
        self.assertNotIn(os.uname().nodename, text)
        mean = {load: {mode: found["figure"][0] for mode, found in by_mode.items()}
                for load, by_mode in answer["loads"].items()}
        for load, least in (("chain", 0.9), ("full", 0.97), ("frames", 0.9)):
            self.assertGreater(mean[load]["wakegov"], least * mean[load]["performance"], load)
        self.assertLess(mean["chain"]["own"], 0.6 * mean["chain"]["performance"])
        self.assertLess(mean["cap"]["wakegov"], 40)
        self.assertGreater(answer["loads"]["full"]["performance"]["power"][0], 1)


if __name__ == "__main__":
    tap.main()
