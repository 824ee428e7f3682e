#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hints under the installed unit, given by a user without rights in each of the ways that there are."""
import os
import signal
import subprocess
import time

import guest
import tap
from clamps import clamps_of
from installed import Installed, NOBODY, POLICY, SETSPEED, run, show
from test_idle_latency import FREE, held

SOCKET = "/run/wakegov/io.wakegov"
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
EXAMPLE = "/usr/share/doc/wakegov/examples/hint.py"
# 40 % of 1800 MHz, and the next OPP at or above.
CAPPED_KHZ = 1000000
FULL_KHZ = 1800000
SAVED_S = 1.1  # hints within a second are saved together


class Hints(Installed):
    def setUp(self):
        super().setUp()
        self.tasks = []
        self.addCleanup(self.end_tasks)

    def start(self, backend="setspeed"):
        guest.write(POLICY, "")
        guest.write(SETSPEED, f"[wakegov]\nbackend = {backend}\n")
        run("systemctl", "start", "wakegovd.service")
        run("wakegovctl", "profile", "auto")  # whatever was chosen in this boot

    def stop(self):
        """The tasks, which are the hints' last, and the daemon: all is as before."""
        self.end_tasks()
        guest.wait_for(lambda: not self.hints(), 10, "the end of the hints")
        run("systemctl", "stop", "wakegovd.service")
        self.assertEqual(guest.snapshot(), self.before)

    def popen(self, *command, **options):
        task = subprocess.Popen([*AS_NOBODY, *command], text=True, start_new_session=True, **options,
                                preexec_fn=lambda: os.sched_setaffinity(0, {0}))
        self.tasks.append(task)
        return task

    def end_tasks(self):
        """Each with what it started."""
        while self.tasks:
            task = self.tasks.pop()
            os.killpg(task.pid, signal.SIGKILL)
            task.wait()

    def wait_khz(self, khz):
        guest.wait_for(lambda: guest.frequency("policy0") == khz, 10, f"{khz} kHz")

    def hints(self):
        return guest.call(SOCKET, "Hints")["hints"]

    def test_run(self):
        """wakegovctl run --class: the command and what it starts are capped until they end"""
        for backend in "limits", "uclamp", "setspeed":
            with self.subTest(backend):
                self.start(backend)
                self.run_capped(self.wait_clamped if backend == "uclamp" else
                                lambda: self.wait_khz(CAPPED_KHZ))
                self.stop()

    def wait_clamped(self):
        """Of a clock between two frequencies schedutil decides for itself."""
        tasks = [task["pid"] for task in guest.call(SOCKET, "RuleTasks", rule="hint/background")["tasks"]]
        self.assertEqual(len(tasks), 2)
        guest.wait_for(lambda: [clamps_of(pid) for pid in tasks] == [(0, 410), (0, 410)], 10, "a clamp")

    def run_capped(self, wait_capped):
        self.popen("wakegovctl", "run", "--class", "background", "--", "sh", "-c",
                   "sh -c 'while :; do :; done'")
        guest.wait_for(lambda: [hint["tasks"] for hint in self.hints()] == [2], 10, "two tasks")
        wait_capped()
        # Who asks runs as well, uncapped in the same domain: it is said as soon as he is short enough.
        guest.wait_for(lambda: "hint/background" in run("wakegovctl", "explain", "policy0").stdout, 10,
                       "the hint's name in explain")
        # Killed and started again: it is the same, and so is what the tasks have.
        before = show("NRestarts")
        time.sleep(SAVED_S)
        os.kill(int(show("MainPID")), signal.SIGKILL)
        guest.wait_for(lambda: show("ActiveState") == "active" and show("NRestarts") != before, 30,
                       "a restart")
        self.assertEqual([(hint["class"], hint["tasks"]) for hint in self.hints()],
                         [("background", 2)])
        wait_capped()

    def test_programs(self):
        """a program in C, by the header, and one in Python: each as long as it runs"""
        self.start()
        task = self.popen(f"{guest.BUILD}/tests/lab/hinted", "background", stdout=subprocess.PIPE)
        self.addCleanup(task.stdout.close)
        self.assertEqual(task.stdout.readline(), "0\n")
        self.wait_khz(CAPPED_KHZ)
        refused = subprocess.run([f"{guest.BUILD}/tests/lab/hinted", "nonsense"], check=False,
                                 capture_output=True, text=True)
        self.assertEqual((refused.returncode, refused.stdout), (1, "-13\n"))
        example = self.popen("/usr/bin/python3", EXAMPLE, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        self.addCleanup(example.stdin.close)
        self.addCleanup(example.stdout.close)
        self.assertEqual(example.stdout.read(6), "hinted")
        self.assertEqual(len(self.hints()), 2)
        example.stdin.write("\n")
        example.stdin.flush()
        guest.wait_for(lambda: len(self.hints()) == 1, 10, "the end of the example")
        # The hint goes with its holder, and the cap with the hint.
        self.popen("sh", "-c", "while :; do :; done")
        task.kill()
        guest.wait_for(lambda: not self.hints(), 10, "the end of the program")
        self.wait_khz(FULL_KHZ)
        self.stop()

    def test_pid_and_pidfd(self):
        """wakegovctl hint PID, and the socket with the number of a pidfd; rules and root come first"""
        self.start()
        task = self.popen("sh", "-c", "while :; do :; done")
        self.wait_khz(FULL_KHZ)
        run(*AS_NOBODY, "wakegovctl", "hint", str(task.pid), "utility", "--for", "1h")
        self.wait_khz(1400000)
        fd = os.pidfd_open(task.pid)
        self.addCleanup(os.close, fd)
        guest.call(SOCKET, "GiveHint", pid=task.pid, pidfd_id=os.fstat(fd).st_ino,
                   **{"class": "background"})
        self.wait_khz(CAPPED_KHZ)
        guest.write(POLICY, "[rule busy]\ncomm = sh\ncap = 70%\n")
        run("systemctl", "reload", "wakegovd.service")
        self.wait_khz(1400000)
        run("wakegovctl", "override", str(task.pid), "--max", "600MHz")
        self.wait_khz(600000)
        chain = run("wakegovctl", "rules", str(task.pid)).stdout
        self.assertRegex(chain, r"(?s)yes  override-1, cap 600 MHz.*yes  busy \(.*yes  hint/background, waiting none: ")
        self.stop()

    def test_explained(self):
        """what a class places and how deeply its CPUs sleep: explain has the chain, also after SIGKILL"""
        self.start()
        guest.write(POLICY, "[class prompt]\nplacement = fork-spread\nidle-latency = 50us\n"
                            "[rule busy]\ncomm = sh\ncap = 70%\n")
        run("systemctl", "reload", "wakegovd.service")
        task = self.popen("wakegovctl", "run", "--class", "prompt", "--", "sh", "-c",
                          "while :; do sleep 0.01; done")
        guest.wait_for(lambda: held() == 50, 10, "an idle latency")
        run("wakegovctl", "override", str(task.pid), "--max", "600MHz")
        before = show("NRestarts")
        for _ in range(2):
            guest.wait_for(lambda: "longer than 50 us to wake up" in run("wakegovctl", "status").stdout, 10,
                           "the limit in status")
            self.assertRegex(run("wakegovctl", "explain", str(task.pid)).stdout,
                             r"(?s)yes  override-1, cap 600 MHz.*yes  busy \(.*"
                             r"yes  hint/prompt, placement fork-spread, idle-latency 50 us: hinted by ")
            if show("NRestarts") == before:
                time.sleep(SAVED_S)
                os.kill(int(show("MainPID")), signal.SIGKILL)
                guest.wait_for(lambda: show("ActiveState") == "active" and show("NRestarts") != before, 30,
                               "a restart")
        self.stop()
        self.assertEqual(held(), FREE)


if __name__ == "__main__":
    tap.main()
