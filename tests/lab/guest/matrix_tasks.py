# SPDX-License-Identifier: GPL-2.0-only
"""Faults at each step of what drives tasks, backend uclamp: the other tasks go on, all is put back.

A step writes to the file of clamps, and to tasks; those calls have no path, so faults at them are
met with in a second go.
"""
import contextlib
import os
import signal
import subprocess
import time

import guest
from clamps import clamps_of
from matrix import CHANGES, Matrix, RUN, STATES, met, restore

CLAMPS = f"{RUN}/clamps"
NONE = (0, 1024)
CAPPED = {"wg-one": (0, 307), "wg-two": (0, 512), "wg-new": (0, 307)}
OTHER_CAP = {"wg-one": (0, 614), "wg-two": (0, 512)}
RULES = "[rule one]\ncomm = wg-{}\ncap = {}\n[rule two]\ncomm = wg-two\ncap = 50%\n"
SAME = "nothing of it is the backend's: as with setspeed"
TASK = "sched_setattr"


def start(name):
    """A task of that name, which sleeps."""
    return subprocess.Popen([guest.link(name, "/bin/sleep"), "3600"])


class Tasks(Matrix):
    BACKENDS = ("uclamp",)
    STATE = CLAMPS
    FILES = [RUN, CLAMPS, f"{CLAMPS}.new"]

    def setUp(self):
        super().setUp()
        self.tasks = {}
        self.begin()

    def tearDown(self):
        super().tearDown()
        for name in list(self.tasks):
            self.end(name)

    def clean_up(self):
        super().clean_up()
        self.begin()

    def begin(self):
        for name in list(self.tasks):
            self.end(name)
        self.tasks = {name: start(name) for name in ("wg-one", "wg-two")}

    def end(self, name):
        if name in self.tasks:
            task = self.tasks.pop(name)
            task.kill()
            task.wait()

    # The steps, and what is to be after them.

    def policy(self, rest=""):
        return super().policy(rest or RULES.format("[on]*", "30%"))

    def written(self, clamps=None):
        clamps = clamps or CAPPED
        return all(clamps_of(task.pid) == clamps[name] for name, task in self.tasks.items())

    def wait_written(self, clamps=None):
        guest.wait_for(lambda: self.written(clamps), 10, f"the caps of {list(self.tasks)}")

    def living(self):
        super().living()
        self.wait_written()
        return self.daemon

    def write(self):
        """Has a task written to that was not there before."""
        self.end("wg-new")
        self.tasks["wg-new"] = start("wg-new")

    def reload_other_cap(self):
        self.end("wg-new")
        self.reload(RULES.format("[on]*", "60%"))

    def goes_on(self):
        """A task that has nothing to do with it is written to as before."""
        self.write()
        self.wait_written()
        self.end("wg-new")

    def is_as_before(self):
        return all(clamps_of(task.pid) == NONE for task in self.tasks.values())

    def changed(self):
        # With those of other tasks, which shared a CPU with them.
        return [] if self.is_as_before() else ["the clamps of "]

    def leave_behind(self):
        self.living()
        self.daemon.stop(signal.SIGKILL)

    def at_each_call(self, what, calls, attempt):
        """In turn at each call on the file, and at each on a task."""
        self.each_call(calls, what, attempt)
        n = self.count
        self.each_call_on_tasks(what, attempt)
        self.mark(f"+{n + self.count}")

    def each_call_on_tasks(self, what, attempt):
        files, self.FILES = self.FILES, ()
        try:
            self.each_call(TASK, what, attempt)
        finally:
            self.FILES = files

    # The rows.

    def test_sigkill(self):
        """SIGKILL"""
        for _ in self.each_backend():
            with self.cell("start"):
                self.at_each_call("signal=SIGKILL", STATES, self.kill_at_start)
            with self.cell("write"):
                self.kill(self.write)
            with self.cell("reload"):
                self.kill(self.reload_other_cap)
            with self.cell("stop"):
                self.kill(self.stop_it, "unlinkat")
            with self.cell("restore"):
                self.at_each_call("signal=SIGKILL", CHANGES, self.restore_meets)

    def kill_at_start(self, prefix):
        with contextlib.suppress(AssertionError):
            if self.starts(prefix):
                guest.wait_for(lambda: self.written() or not self.is_alive(), 10, "the caps")
        if self.is_alive():
            self.daemon.stop(signal.SIGKILL)
        self.put_back()

    def stop_it(self):
        self.daemon.process.terminate()

    def kill(self, step, call="write"):
        for calls, paths in ((call, self.FILES), (TASK, ())):
            daemon = self.living()
            with self.attached(calls, "signal=SIGKILL", n=1, paths=paths):
                self.alone(step)
                self.assertEqual(daemon.process.wait(timeout=20 * guest.PATIENCE), -signal.SIGKILL)
            self.put_back()

    def restore_meets(self, prefix):
        """--restore meets with something; the next one does the rest."""
        self.leave_behind()
        status, log = restore(prefix)
        self.assertTrue(status == 0 or "killed" in (met() or "") or "wakegovd: " in log, log)
        self.said_nothing_twice(log=log)
        self.put_back()

    def test_sigstop(self):
        """SIGSTOP"""
        for _ in self.each_backend():
            self.no_cell("start", "its tasks are written to after it: as with write")
            self.no_cell("restore", "no watchdog: systemd ends what hangs after TimeoutStopSec")
            for step, deed in (("write", self.write), ("reload", self.reload_other_cap),
                               ("stop", self.stop_it)):
                with self.cell(step):
                    self.hung(deed, TASK, ())

    def test_enospc(self):
        """ENOSPC"""
        words = "No space left on device"
        for _ in self.each_backend():
            with self.cell("start"):
                self.mount_run()
                self.fill()
                self.assertTrue(self.starts())
                for name in ("wg-one", "wg-two"):
                    guest.wait_for(lambda: self.is_said_of(name, words), 10, f"{name}'s line")
                self.assertTrue(self.is_as_before())
                self.empty()
                self.daemon.call("Reload")
                self.wait_written()
                self.stop()
            with self.cell("write"):
                self.mount_run()
                self.living()
                self.fill()
                self.until_refused(words)
                self.empty()
                self.daemon.call("Reload")
                self.wait_written()
                self.goes_on()
            with self.cell("reload"):
                self.living()
                self.fill()
                self.until_refused(words)
                self.end("wg-new")
                self.reload_other_cap()
                guest.wait_for(lambda: self.is_said_of("wg-one", words), 10, "the line")
                self.assertTrue(self.written())
                self.empty()
                self.daemon.call("Reload")
                self.wait_written(OTHER_CAP)
                self.daemon.stop()
            with self.cell("stop"):
                self.living()
                self.fill()
                self.stop()
                self.assertFalse(os.path.exists(CLAMPS))
                self.empty()
            with self.cell("restore"):
                self.leave_behind()
                self.fill()
                restore()
                self.wait_as_before()
                self.empty()
                self.put_back()

    def is_said_of(self, name, words):
        return f"task {self.tasks[name].pid} cannot be clamped: {words}" in self.daemon.log()

    def until_refused(self, words):
        """The last block has room for some lines yet, and again when what ended has left the table."""
        for _ in range(200):
            self.write()
            time.sleep(0.1)
            if self.is_said_of("wg-new", words) and clamps_of(self.tasks["wg-new"].pid) == NONE:
                break
        self.said_once(f"task {self.tasks['wg-new'].pid} cannot be clamped", words)
        self.assertEqual(clamps_of(self.tasks["wg-new"].pid), NONE)
        self.assertEqual(clamps_of(self.tasks["wg-two"].pid), CAPPED["wg-two"])

    def test_read_only(self):
        """read-only /run"""
        def remount(how):
            subprocess.run(["mount", "-o", f"remount,{how}", RUN], check=True)
        for _ in self.each_backend():
            for step in ("write", "reload", "stop"):
                self.no_cell(step, "the kernel refuses it while a file is open to be written")
            with self.cell("start"):
                self.mount_run()
                remount("ro")
                self.fails_to_start("Read-only file system")
                remount("rw")
            with self.cell("restore"):
                self.leave_behind()
                remount("ro")
                _, log = restore()
                self.wait_as_before()
                self.said_once("Read-only file system", log=log)
                remount("rw")
                self.put_back()

    def test_eio(self):
        """EIO"""
        for _ in self.each_backend():
            with self.cell("start"):
                self.each_call(CHANGES, "error=EIO", self.fail_at_start)
            with self.cell("write"):
                self.refused("write", self.FILES, "EIO", "Input/output error")
            self.no_cell("reload", SAME)
            with self.cell("stop"):
                self.living()
                with self.attached("unlinkat", "error=EIO", paths=[RUN, CLAMPS]):
                    self.daemon.stop()
                self.assertTrue(self.is_as_before())
                self.said_once("the rest is in /run/wakegov/clamps", "Input/output error")
                self.put_back()
            with self.cell("restore"):
                self.each_call(CHANGES, "error=EIO", self.restore_meets)

    def fail_at_start(self, prefix):
        """It starts without, or not at all; a line says so, and what it clamped is put back.

        That what is not there cannot be removed is no news; for what is there see "stop".
        """
        if self.starts(prefix):
            time.sleep(0.5)
            self.daemon.stop()
        if "unlinkat" not in (met() or "unlinkat"):
            self.assertIn("Input/output error", self.daemon.log())
        self.put_back()

    def refused(self, call, paths, error, words):
        """One task is left as it is, the others go on, and it is tried again with all."""
        daemon = self.living()
        with self.attached(call, f"error={error}", paths=paths):
            self.write()
            pid = self.tasks["wg-new"].pid
            words = f"task {pid} cannot be clamped: {words}"
            guest.wait_for(lambda: words in daemon.log(), 10, "the line")
        self.said_once(words)
        self.assertEqual(clamps_of(pid), NONE)
        refused = self.tasks.pop("wg-new")
        self.goes_on()
        self.tasks["wg-new"] = refused
        daemon.call("Reload")
        self.wait_written()

    def test_eperm(self):
        """EPERM on one control"""
        for _ in self.each_backend():
            with self.cell("start"):
                # The first are those that find out whether it may.
                status, log = self.new(self.strace(TASK, "error=EPERM", "1+", ())).run_to_end()
                self.assertEqual(status, 1, log)
                self.assertIn("SystemCallFilter= must allow @resources", log)
                self.wait_as_before()
            with self.cell("write"):
                self.refused(TASK, (), "EPERM", "Operation not permitted")
            with self.cell("reload"):
                daemon = self.living()
                self.end("wg-new")
                words = f"task {self.tasks['wg-one'].pid} cannot be clamped: Operation not permitted"
                with self.attached(TASK, "error=EPERM", paths=()):
                    self.reload_other_cap()
                    guest.wait_for(lambda: words in daemon.log(), 10, "the line")
                self.said_once(words)
                daemon.call("Reload")
                self.wait_written(OTHER_CAP)
                self.daemon.stop()
            with self.cell("stop"):
                self.living()
                with self.attached(TASK, "error=EPERM", n=1, paths=()):
                    self.daemon.stop()
                self.said_once("could not restore the clamps of task", "Operation not permitted")
                self.said_once("the rest is in /run/wakegov/clamps")
                self.put_back()
            with self.cell("restore"):
                self.each_call_on_tasks("error=EPERM", self.restore_meets)

    def test_descriptors(self):
        """out of descriptors"""
        words = "Too many open files"
        for _ in self.each_backend():
            self.no_cell("start", SAME)
            with self.cell("write"):
                daemon = self.living()
                self.limit("nofile", 3)
                self.write()
                # Who has the pid is known without /proc, unless events were lost.
                pid = self.tasks["wg-new"].pid
                line = f"task {pid} cannot be clamped: {words}"
                guest.wait_for(lambda: line in daemon.log() or clamps_of(pid) != NONE, 10, "an outcome")
                self.said_nothing_twice()
                self.limit("nofile", 1024)
                daemon.call("Reload")
                self.wait_written()
            self.no_cell("reload", SAME)
            with self.cell("stop"):
                daemon = self.living()
                self.limit("nofile", 3)
                daemon.stop()
                if not self.is_as_before():
                    self.assertIn(words, daemon.log())
                self.put_back()
            with self.cell("restore"):
                for value in (3, 4, 5, 6, 8, 16, 256):
                    self.leave_behind()
                    status, log = restore(["prlimit", f"--nofile={value}"])
                    if status == 0:
                        break
                    self.assertTrue(status == 127 or words in log, f"{status}: {log}")
                    self.put_back()
                self.wait_as_before()
                self.assertEqual(restore(), (0, ""))

    def test_ring(self):
        """ring overflow"""
        for _ in self.each_backend():
            self.no_cell("start", "nothing that can fill the ring is told before its last step")
            self.no_cell("restore", "--restore reads no ring")
            for step in ("write", "reload", "stop"):
                with self.cell(step):
                    daemon = self.living()
                    self.overflow()
                    self.write()
                    if step == "reload":
                        daemon.set_policy(self.policy(RULES.format("[on]*", "60%")))
                        daemon.process.send_signal(signal.SIGHUP)
                    elif step == "stop":
                        daemon.process.terminate()
                    daemon.process.send_signal(signal.SIGCONT)
                    if step == "stop":
                        self.stop()
                        continue
                    guest.wait_for(lambda: daemon.call("Status")["drops"]["ring"], 10, "an overflow")
                    self.wait_written({**OTHER_CAP, "wg-new": (0, 614)} if step == "reload" else None)
                    daemon.stop()
                    self.end("wg-new")
