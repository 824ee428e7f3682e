# SPDX-License-Identifier: GPL-2.0-only
"""What the table of faults and steps is made of; its rows are in matrix_domains.py and matrix_tasks.py."""
import contextlib
import ctypes
import glob
import os
import re
import signal
import subprocess
import threading
import unittest

import guest

STEPS = ("start", "write", "reload", "stop", "restore")
RUN = "/run/wakegov"
LOG = "/tmp/strace.log"
# All that changes a file; and what of it is needed to tell the states between from each other.
CHANGES = "write,pwrite64,fsync,renameat,unlinkat"
STATES = "write,pwrite64,renameat"

table = {}
reasons = {}


def strace(calls, what=None, n="1+", paths=(), attach=None):
    """The command that has the n-th of each of these calls meet with something.

    Where there are paths, it is of the calls on these files.
    """
    quiet = "exit" if attach else "all"
    command = ["strace", "-f", "-o", LOG, "-e", f"quiet={quiet}", "-e", f"trace={calls}"]
    if what:
        command += ["-e", f"inject={calls}:{what}:when={n}"]
    for path in paths:
        command += ["-P", path]
    if attach:
        return command + ["-p", str(attach)]
    # With a filter a signal would get lost.
    return command + ["-D"] + ([] if what and "signal" in what else ["--seccomp-bpf"])


def met():
    """The line of the call that met with it; None: there was no such call."""
    with open(LOG, encoding="utf-8", errors="replace") as file:
        return next((line for line in file
                     if re.search("INJECTED|--- stopped|\\+\\+\\+ killed", line)), None)


def counted(words=""):
    """The calls that were, each with its number among those of its name; those whose lines have these words."""
    with open(LOG, encoding="utf-8", errors="replace") as file:
        lines = re.findall(r"^\d+ +((\w+)\(.*)", file.read(), re.M)
    calls = [call for _, call in lines]
    return [(call, calls[:i + 1].count(call)) for i, (line, call) in enumerate(lines) if words in line]


def forget_overrides():
    """Those of a killed daemon hold for the next one, as do hints."""
    for name in "overrides", "hints":
        with contextlib.suppress(FileNotFoundError):
            os.remove(f"{RUN}/{name}")


def restore(prefix=()):
    """wakegovd --restore: its exit status, and what it said."""
    done = subprocess.run([*prefix, f"{guest.BUILD}/wakegovd", "--restore"], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stderr


class Matrix(unittest.TestCase):
    """A row is a test; each has a cell for each step of each backend."""
    BACKENDS = ()
    STATE = ""  # the file in /run that says what is to be put back
    FILES = ()  # that strace looks at

    def setUp(self):
        os.makedirs(RUN, exist_ok=True)
        self.daemon = None
        self.backend = self.step = None
        self.count = 0

    def shortDescription(self):
        return f"{self._testMethodDoc}: at each step, what was before is back"

    def tearDown(self):
        """Of what a cell left that failed, the next one knows nothing."""
        self.clean_up()

    def clean_up(self):
        """What all backends share of it."""
        if self.is_alive():
            self.daemon.stop(signal.SIGKILL)
        self.daemon = None
        if os.path.ismount(RUN):
            subprocess.run(["umount", RUN], check=True)
        restore()
        for path in glob.glob(f"{RUN}/*"):
            os.remove(path)

    def is_as_before(self):
        """Whether all that the daemon drives is what it was without it."""
        raise NotImplementedError

    # What a table of cells needs.

    @contextlib.contextmanager
    def cell(self, step):
        """What fails in it is told, and the row goes on."""
        mark = "FAILED"
        with self.subTest(backend=self.backend, step=step):
            try:
                self.step = step
                before = self.lines()
                yield
                self.said_nothing_twice(before)
                mark = table.get((self._testMethodName, self.backend, step), "+")
            finally:
                table[self._testMethodName, self.backend, step] = mark
                if mark == "FAILED":
                    self.clean_up()

    def mark(self, text):
        table[self._testMethodName, self.backend, self.step] = text

    def no_cell(self, step, reason):
        number = reasons.setdefault(reason, len(reasons) + 1)
        table[self._testMethodName, self.backend, step] = f"-{number}"

    def each_backend(self):
        for self.backend in self.BACKENDS:
            yield self.backend
            self.clean_up()

    def strace(self, calls, what=None, n="1+", paths=None):
        return strace(calls, what, n, self.FILES if paths is None else paths)

    @contextlib.contextmanager
    def attached(self, calls, what, n="1+", paths=None):
        """While strace has hold of the running daemon."""
        command = strace(calls, what, n, self.FILES if paths is None else paths,
                         attach=self.daemon.process.pid)
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
            try:
                # It says so once it has stopped the daemon: before that a call may still get past.
                assert " attached" in tracer.stderr.readline()
                yield
            finally:
                tracer.terminate()

    def each_call(self, calls, what, attempt):
        """Lets attempt() be, and then each of the calls that it made meet with something."""
        attempt(self.strace(calls))
        met_with = counted()
        self.assertTrue(met_with, "there is no such call")
        for call, n in met_with:
            try:
                attempt(self.strace(call, what, n))
            except AssertionError as error:
                raise AssertionError(f"{what} at {call} {n}: {error}") from error
        self.count = len(met_with)
        self.mark(f"+{self.count}")

    # The daemon, its steps, and how they are to end.

    def policy(self, rest=""):
        return f"[wakegov]\nbackend = {self.backend}\n{rest}"

    def new(self, prefix=(), arguments=()):
        self.daemon = guest.Daemon(self.policy(), arguments, prefix=prefix)
        return self.daemon

    def starts(self, prefix=()):
        """Whether the daemon came up; what it said is in its log."""
        try:
            self.new(prefix).start()
        except AssertionError:
            if self.daemon.process.poll() is None:
                raise
            return False
        return True

    def is_alive(self):
        return self.daemon and self.daemon.process and self.daemon.process.poll() is None

    def living(self):
        if not self.is_alive():
            self.new().start()
        return self.daemon

    def lines(self):
        """All that the present daemon, or the last one, has said."""
        return self.daemon.log().splitlines() if self.daemon and self.daemon.process else []

    def said_nothing_twice(self, before=(), log=None):
        """A fault makes one line; those of an earlier cell, before, are not counted."""
        lines = self.lines() if log is None else log.splitlines()
        if lines[:len(before)] == list(before):
            lines = lines[len(before):]
        twice = {line for line in lines if lines.count(line) > 1 and "policy read again" not in line}
        self.assertFalse(twice, "\n".join(lines))

    def said_once(self, *words, log=None):
        """One line has all of the words."""
        log = self.daemon.log() if log is None else log
        lines = [line for line in log.splitlines() if all(word in line for word in words)]
        self.assertEqual(len(lines), 1, f"{words} in:\n{log}")

    def reload(self, rest=""):
        self.daemon.set_policy(self.policy(rest))
        self.daemon.call("Reload")

    def reload_refused(self, words):
        """The old policy stays in force, and one line says why."""
        with self.assertRaises(RuntimeError):
            self.reload("[io-boost]\nmin-rate = 5000/s\n")
        self.said_once("the old policy stays in force", words)

    def wait_as_before(self):
        guest.wait_for(self.is_as_before, 10, "everything as before")

    def changed(self):
        """The names, as --restore says them, of what is not as before."""
        raise NotImplementedError

    def put_back(self):
        """By --restore, which says so, and of which another one finds nothing to do."""
        changed = self.changed()
        status, log = restore()
        self.assertEqual(status, 0, log)
        for name in changed:
            self.said_once(f"restored {name}", log=log)
        self.said_nothing_twice(log=log)
        self.wait_as_before()
        self.assertFalse(os.path.exists(self.STATE))
        self.assertEqual(restore(), (0, ""))
        forget_overrides()

    def stop(self):
        """In good order; everything is put back by that alone."""
        self.assertEqual(self.daemon.stop(), 0)
        self.wait_as_before()

    def fails_to_start(self, *words, prefix=()):
        """One line says why, and nothing is left to put back."""
        status, log = self.new(prefix).run_to_end()
        self.assertEqual(status, 1, log)
        self.said_once(*words, log=log)
        self.wait_as_before()
        self.assertFalse(os.path.exists(self.STATE))
        return log

    def watchdog(self):
        """As systemd does it; under the unit itself it is test_service's test_watchdog."""
        for number in (signal.SIGABRT, signal.SIGCONT):
            self.daemon.process.send_signal(number)
        self.assertEqual(self.daemon.process.wait(timeout=20 * guest.PATIENCE), -signal.SIGABRT)
        self.put_back()

    def hung(self, step, calls=STATES, paths=None):
        """In the middle of it, for ever."""
        self.living()
        with self.attached(calls, "signal=SIGSTOP", n=1, paths=paths):
            thread = threading.Thread(target=self.alone, args=(step,))
            thread.start()
            guest.wait_for(met, 10, "stopped")
            self.watchdog()
            thread.join()

    def limited(self, option, values, *words):
        """Starts with more of a resource each time, until it is enough: each says what it lacks."""
        for value in values:
            if self.starts(["prlimit", f"--{option}={value}"]):
                self.stop()
                return
            if self.daemon.process.returncode != 127:  # which is the dynamic linker's
                reasons = [line for line in self.lines() if "restored " not in line]
                self.said_once(*words, log=reasons[-1])
            self.assertTrue(self.is_as_before())
            self.assertFalse(os.path.exists(self.STATE))
        self.fail("never enough")

    def limit(self, option, value):
        subprocess.run(["prlimit", f"--pid={self.daemon.process.pid}", f"--{option}={value}:"],
                       check=True)

    def program_refused(self, n):
        up = self.starts(self.strace("bpf", "error=EINVAL", n, []))
        if up:
            self.stop()
        else:
            self.said_once("cannot trace", "Invalid argument")
        self.assertTrue(self.is_as_before())

    def overflow(self):
        """Each new name of a task is told as long as rules ask for names."""
        os.kill(self.daemon.process.pid, signal.SIGSTOP)
        for _ in range(2000):
            ctypes.CDLL(None).prctl(15, b"storm", 0, 0, 0)

    @staticmethod
    def alone(step):
        with contextlib.suppress(OSError):
            step()

    @staticmethod
    def mount_run():
        if os.path.ismount(RUN):
            return
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=0755", "none", RUN],
                       check=True)

    def fill(self):
        with contextlib.suppress(OSError), open(f"{RUN}/filler", "wb", buffering=0) as filler:
            while filler.write(b"x" * 4096) == 4096:
                pass

    def empty(self):
        os.remove(f"{RUN}/filler")
