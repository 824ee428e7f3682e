#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every fault at every step: what was before is back, the other domain goes on, one line says it.

A row is a fault and a test, a column a step of a backend; the table comes at the end. Faults are
the machine's own where it can have them (a full or read-only tmpfs, CPUs offline, limits of
resources, another time of day). A call that fails, or the end of the daemon before its n-th change
of a file, is strace's: +N says that it was at each of N calls in turn.
"""
import contextlib
import ctypes
import glob
import os
import re
import resource
import signal
import subprocess
import threading
import time
import unittest

import guest
import tap

BACKENDS = ("setspeed", "limits")
STEPS = ("start", "write", "reload", "stop", "restore")
DOMAINS = ("policy0", "policy2")
RUN = "/run/wakegov"
ORIGINALS = f"{RUN}/originals"
LOG = "/tmp/strace.log"
# What a backend takes over.
TAKEN = {"setspeed": "scaling_governor", "limits": "scaling_min_freq"}
FOREIGN = {"setspeed": "performance", "limits": 600000}
TUNABLE = f"{guest.CPUFREQ}/schedutil/rate_limit_us"
MIN_KHZ = 1000000
MINIMUM = "[domain policy2]\nmin-frequency = 1GHz\n"
FILES = [RUN, ORIGINALS, f"{ORIGINALS}.new", TUNABLE] + [
    guest.policy(name, control) for name in DOMAINS for control in guest.CONTROLS]
# All that changes a file; and what of it is needed to tell the states between from each other.
SAME = "nothing of it is the backend's: as with setspeed"
CHANGES = "write,pwrite64,fsync,renameat,unlinkat"
STATES = "write,pwrite64,renameat"
ANOTHER_BOOT = "01234567-89ab-cdef-0123-456789abcdef"

left_behind = {}
table = {}
reasons = {}


def files_of(name):
    return [path for path in FILES if f"/{name}/" in path]


def strace(calls, what=None, n="1+", paths=FILES, attach=None):
    """The command that has the n-th of each of these calls on these files meet with something."""
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


def counted():
    """The calls that were, each with its number among those of its name."""
    with open(LOG, encoding="utf-8", errors="replace") as file:
        calls = re.findall(r"^\d+ +(\w+)\(", file.read(), re.M)
    return [(call, calls[:i + 1].count(call)) for i, call in enumerate(calls)]


@contextlib.contextmanager
def attached(daemon, *arguments, **options):
    """While strace has hold of the running daemon."""
    with subprocess.Popen(strace(*arguments, **options, attach=daemon.process.pid),
                          stderr=subprocess.PIPE, text=True) as tracer:
        try:
            # It says so once it has stopped the daemon: before that a call may still get past it.
            assert " attached" in tracer.stderr.readline()
            yield
        finally:
            tracer.terminate()


def shell_write(path, value):
    """As an administrator does: another process that opens, writes and closes."""
    subprocess.run(["sh", "-c", f"echo {value} > {path}"], check=True)


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def online(value):
    for cpu in (2, 3):
        guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", value)


def forget_overrides():
    """Those of a killed daemon hold for the next one."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(f"{RUN}/overrides")


def restore(prefix=()):
    """wakegovd --restore: its exit status, and what it said."""
    done = subprocess.run([*prefix, f"{guest.BUILD}/wakegovd", "--restore"], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stderr


class Matrix(unittest.TestCase):
    def setUp(self):
        os.makedirs(RUN, exist_ok=True)
        guest.write(TUNABLE, 7777)
        self.before = guest.snapshot()
        self.daemon = None
        self.backend = self.step = None

    def shortDescription(self):
        return f"{self._testMethodDoc}: at each step, what was before is back"

    def tearDown(self):
        """Of what a cell left that failed, the next one knows nothing."""
        self.clean_up()

    def clean_up(self):
        if self.is_alive():
            self.daemon.stop(signal.SIGKILL)
        self.daemon = None
        online(1)
        if os.path.ismount(RUN):
            subprocess.run(["umount", RUN], check=True)
        restore()
        for name in DOMAINS:
            for control in ("scaling_governor", "scaling_max_freq", "scaling_min_freq"):
                value = self.before[f"{name}/{control}"].decode().strip()
                if guest.read(guest.policy(name, control)) != value:
                    guest.write(guest.policy(name, control), value)
        guest.write(TUNABLE, 7777)
        for path in glob.glob(f"{RUN}/*"):
            os.remove(path)

    # What a table of cells needs.

    @contextlib.contextmanager
    def cell(self, step):
        """What fails in it is told, and the row goes on."""
        mark = "FAILED"
        with self.subTest(backend=self.backend, step=step):
            try:
                self.step = step
                yield
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
        for self.backend in BACKENDS:
            yield self.backend
            self.clean_up()

    def each_call(self, calls, what, attempt):
        """Lets attempt() be, and then each of the calls that it made meet with something."""
        attempt(strace(calls))
        met_with = counted()
        self.assertTrue(met_with, "there is no such call")
        for call, n in met_with:
            try:
                attempt(strace(call, what, n))
            except AssertionError as error:
                raise AssertionError(f"{what} at {call} {n}: {error}") from error
        self.mark(f"+{len(met_with)}")

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

    def write(self, name="policy2"):
        """Has the domain's controls written to; returns what ends that."""
        return self.daemon.call("AddOverride", domain=name, min_khz=MIN_KHZ,
                                for_us=600_000_000)["override"]["id"]

    def written(self, name):
        control = "scaling_setspeed" if self.backend == "setspeed" else "scaling_min_freq"
        return guest.read(guest.policy(name, control)) == str(MIN_KHZ)

    def wait_written(self, name="policy2"):
        guest.wait_for(lambda: self.written(name), 10, f"{name} written to")

    def reload(self, rest=""):
        self.daemon.set_policy(self.policy(rest))
        self.daemon.call("Reload")

    def reload_minimum(self):
        self.reload(MINIMUM)

    def reload_refused(self, words):
        """The old policy stays in force, and one line says why."""
        with self.assertRaises(RuntimeError):
            self.reload("[io-boost]\nmin-rate = 5000/s\n")
        self.said_once("the old policy stays in force", words)

    def goes_on(self, name="policy0"):
        """The domain that has nothing to do with it is governed as before."""
        override = self.write(name)
        self.wait_written(name)
        self.daemon.call("CancelOverride", id=override)

    def said_once(self, *words, log=None):
        """One line has all of the words."""
        log = self.daemon.log() if log is None else log
        lines = [line for line in log.splitlines() if all(word in line for word in words)]
        self.assertEqual(len(lines), 1, f"{words} in:\n{log}")

    def is_as_before(self, only=""):
        names = [name for name in self.before if name.startswith(only)]
        with contextlib.suppress(OSError):  # offline, or a governor's that is not there
            return all(read_bytes(f"{guest.CPUFREQ}/{name}") == self.before[name] for name in names)
        return False

    def wait_as_before(self):
        guest.wait_for(self.is_as_before, 10, "everything as before")

    def put_back(self):
        """By --restore, of which another one finds nothing to do."""
        status, log = restore()
        self.assertEqual(status, 0, log)
        self.wait_as_before()
        self.assertFalse(os.path.exists(ORIGINALS))
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
        self.assertFalse(os.path.exists(ORIGINALS))
        return log

    def leave_behind(self):
        """Controls, and the file about them, as a killed daemon does; the first time by one."""
        if self.backend in left_behind:
            self.leave_again(left_behind[self.backend])
            return
        self.living()
        for name in DOMAINS:
            self.write(name)
            self.wait_written(name)
        self.daemon.stop(signal.SIGKILL)
        left = {path: guest.read(path) for path in FILES if "scaling_m" in path
                or "scaling_governor" in path}
        left[ORIGINALS] = guest.read(ORIGINALS) + "\n"
        left_behind[self.backend] = left
        forget_overrides()

    @staticmethod
    def leave_again(left):
        for path, value in left.items():
            if not os.path.exists(path) or guest.read(path) != value.strip():
                guest.write(path, value)
        guest.wait_for(lambda: all(guest.read(path) == value.strip()
                                   for path, value in left.items()), 10, "left as it was")

    def each_call_of_restore(self, what, calls=CHANGES):
        """--restore meets with something at each of its calls; the next one does the rest."""
        def attempt(prefix):
            self.leave_behind()
            status, log = restore(prefix)
            line = met()
            for name in DOMAINS:
                if line and "/policy" in line and f"/{name}/" not in line:
                    guest.wait_for(lambda: self.is_as_before(name), 10, f"{name} put back")
            self.assertTrue(status == 0 or "killed" in line or "wakegovd: " in log, log)
            self.put_back()
        self.each_call(calls, what, attempt)

    def left_alone(self):
        """What another program has set since the daemon was killed stays."""
        path = guest.policy("policy2", "scaling_governor")
        shell_write(path, "performance")
        status, log = restore()
        self.assertEqual((status, guest.read(path)), (0, "performance"), log)
        self.said_once("left policy2 scaling_governor at performance", log=log)
        shell_write(path, "schedutil")
        self.wait_as_before()

    # The rows.

    def test_sigkill(self):
        """SIGKILL"""
        for _ in self.each_backend():
            with self.cell("start"):
                self.each_call(STATES, "signal=SIGKILL", self.kill_at_start)
            with self.cell("write"):
                self.kill("pwrite64", self.write)
            with self.cell("reload"):
                self.kill("pwrite64", self.reload_minimum)
            with self.cell("stop"):
                # What there was is back already, and the file does not say so.
                self.kill("renameat", lambda: self.daemon.process.terminate())
            with self.cell("restore"):
                self.each_call_of_restore("signal=SIGKILL")
                if self.backend == "setspeed":
                    self.leave_behind()
                    self.left_alone()

    def kill_at_start(self, prefix):
        if self.starts(prefix):
            self.daemon.stop(signal.SIGKILL)
        self.put_back()

    def kill(self, call, step):
        daemon = self.living()
        with attached(daemon, call, "signal=SIGKILL", n=1):
            with contextlib.suppress(OSError):
                step()
            self.assertEqual(daemon.process.wait(timeout=20), -signal.SIGKILL)
        self.put_back()

    def test_sigstop(self):
        """SIGSTOP"""
        for _ in self.each_backend():
            self.no_cell("restore", "no watchdog: systemd ends what hangs after TimeoutStopSec")
            with self.cell("write"):
                self.hung(self.write)
            if self.backend == "limits":
                for step in ("start", "reload", "stop"):
                    self.no_cell(step, SAME)
                continue
            with self.cell("start"):
                self.new(strace(STATES, "signal=SIGSTOP", 3))
                with open(self.daemon.log_path, "w", encoding="utf-8") as log:
                    self.daemon.process = subprocess.Popen(self.daemon.command, stderr=log)
                guest.wait_for(lambda: os.path.exists(ORIGINALS) and met(), 60, "stopped")
                self.watchdog()
            with self.cell("reload"):
                self.hung(self.reload_minimum)
            with self.cell("stop"):
                self.hung(lambda: self.daemon.process.terminate())

    def hung(self, step):
        """In the middle of it, for ever."""
        daemon = self.living()
        with attached(daemon, STATES, "signal=SIGSTOP", n=1):
            thread = threading.Thread(target=self.alone, args=(step,))
            thread.start()
            guest.wait_for(met, 10, "stopped")
            self.watchdog()
            thread.join()

    @staticmethod
    def alone(step):
        with contextlib.suppress(OSError):
            step()

    def watchdog(self):
        """As systemd does it; under the unit itself it is test_service's test_watchdog."""
        for number in (signal.SIGABRT, signal.SIGCONT):
            self.daemon.process.send_signal(number)
        self.assertEqual(self.daemon.process.wait(timeout=20), -signal.SIGABRT)
        self.put_back()

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

    def test_enospc(self):
        """ENOSPC"""
        self.storage("No space left on device", self.fill, self.empty)

    def test_read_only(self):
        """read-only /run"""
        def remount(how):
            return lambda: subprocess.run(["mount", "-o", f"remount,{how}", RUN], check=True)
        self.storage("Read-only file system", remount("ro"), remount("rw"))

    def storage(self, words, fault, end):
        for _ in self.each_backend():
            with self.cell("start"):
                self.mount_run()
                fault()
                self.fails_to_start(words)
                end()
            with self.cell("write"):
                self.mount_run()
                self.living()
                fault()
                self.write()
                self.wait_written()
                self.said_once("a restart of wakegovd will end them", words)
                self.goes_on()
                self.foreign()
                self.said_once("policy2: ", "its line stays in the originals file", words)
                end()
                path = guest.policy("policy2", TAKEN[self.backend])
                shell_write(path, self.before[f"policy2/{TAKEN[self.backend]}"].decode().strip())
                self.assertEqual(self.daemon.call("Adopt")["adopted"], 1)
                self.wait_written()
            with self.cell("reload"):
                self.living()
                fault()
                self.reload_minimum()
                guest.wait_for(lambda: self.daemon.domain("policy2")["min_khz"] == 1000000, 10,
                               "the new policy")
            with self.cell("stop"):
                self.stop()
                if os.path.exists(ORIGINALS):
                    self.said_once("cannot remove /run/wakegov/originals", words)
                end()
                self.put_back()
            with self.cell("restore"):
                self.mount_run()
                self.leave_behind()
                fault()
                restore()
                self.wait_as_before()
                end()
                self.put_back()

    def foreign(self):
        """Another program sets what the daemon drives."""
        shell_write(guest.policy("policy2", TAKEN[self.backend]), FOREIGN[self.backend])
        guest.wait_for(lambda: self.daemon.domain("policy2")["state"] == "yielded", 10, "a yield")

    def test_eio(self):
        """EIO"""
        self.refused("EIO", "Input/output error")

    def test_eperm(self):
        """EPERM on one control"""
        self.refused("EPERM", "Operation not permitted")

    def refused(self, error, words):
        for _ in self.each_backend():
            if self.backend == "limits" and error == "EPERM":
                for step in STEPS:
                    self.no_cell(step, "as with EIO")
                continue
            control = guest.policy("policy2", TAKEN[self.backend])
            with self.cell("start"):
                # It is opened to be read before that.
                calls = "write" if self.backend == "setspeed" else "openat"
                n = 1 if self.backend == "setspeed" else 2
                log = self.fails_to_start("policy2: cannot be governed by", words,
                                          prefix=strace(calls, f"error={error}", n, [control]))
                self.assertNotIn("could not restore", log)
            with self.cell("write"):
                daemon = self.living()
                with attached(daemon, "pwrite64", f"error={error}", paths=files_of("policy2")):
                    self.write()
                    guest.wait_for(lambda: words in daemon.log(), 10, "the line")
                    self.goes_on()
                    self.said_once("policy2: ", words)
                self.write()
                self.wait_written()
            with self.cell("reload"):
                daemon = self.living()
                with attached(daemon, "openat,read", f"error={error}", paths=[daemon.policy_path]):
                    self.reload_refused(words)
            with self.cell("stop"):
                daemon = self.living()
                self.write()
                self.wait_written()
                with attached(daemon, "pwrite64", f"error={error}", paths=[control]):
                    daemon.stop()
                guest.wait_for(lambda: self.is_as_before("policy0"), 10, "policy0 put back")
                self.assertFalse(self.is_as_before())
                self.said_once("could not restore policy2", words)
                self.put_back()
            with self.cell("restore"):
                self.each_call_of_restore(f"error={error}")

    def test_ebusy(self):
        """EBUSY: its CPUs offline"""
        for _ in self.each_backend():
            with self.cell("start"):
                online(0)
                self.assertTrue(self.starts())
                self.goes_on()
                online(1)
                words = "CPU 2 was not there at the start and is not governed"
                guest.wait_for(lambda: words in self.daemon.log(), 10, "the line")
                self.assertEqual(self.daemon.stop(), 0)
                self.said_once(words)
                if self.backend == "setspeed":
                    # The kernel has freed them, and made them anew for the domain that came back.
                    self.said_once("left schedutil/rate_limit_us")
                    guest.write(TUNABLE, 7777)
                self.wait_as_before()
            with self.cell("write"):
                daemon = self.living()
                online(0)
                self.write()
                guest.wait_for(lambda: daemon.domain("policy2")["state"] == "offline", 10,
                               "offline")
                self.goes_on()
                self.said_once("policy2: its CPUs are offline")
                online(1)
                self.wait_written()
            with self.cell("reload"):
                daemon = self.living()
                online(0)
                self.reload_minimum()
                self.goes_on()
                online(1)
                self.wait_written()
            with self.cell("stop"):
                daemon = self.living()
                online(0)
                daemon.stop()
                log = daemon.log()
                online(1)
                self.put_back()
                self.assertIn("policy2 is offline: ", log)
            with self.cell("restore"):
                self.leave_behind()
                online(0)
                _, log = restore()
                self.said_once("wait for a domain that is offline", log=log)
                guest.wait_for(lambda: self.is_as_before("policy0"), 10, "policy0 put back")
                online(1)
                self.put_back()

    def limited(self, option, values, *words):
        """Starts with more of a resource each time, until it is enough: each says what it lacks."""
        for value in values:
            if self.starts(["prlimit", f"--{option}={value}"]):
                self.stop()
                return
            if self.daemon.process.returncode != 127:  # which is the dynamic linker's
                self.said_once(*words, log=self.daemon.log().splitlines()[-1])
            self.assertTrue(self.is_as_before())
            self.assertFalse(os.path.exists(ORIGINALS))
        self.fail("never enough")

    def limit(self, option, value):
        subprocess.run(["prlimit", f"--pid={self.daemon.process.pid}", f"--{option}={value}:"],
                       check=True)

    def resource(self, option, values, words):
        """What has none left governs on, and what it is asked it does whole or not at all."""
        for _ in self.each_backend():
            if self.backend == "limits":
                for step in STEPS[:-1]:
                    self.no_cell(step, SAME)
            else:
                with self.cell("start"):
                    self.limited(option, values, words)
                with self.cell("write"):
                    daemon = self.living()
                    self.limit(option, 3)
                    with guest.busy_loop(2):
                        guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 10, "driven")
                    guest.wait_for(lambda: guest.frequency("policy2") == 400000, 10, "driven")
                with self.cell("reload"):
                    daemon = self.living()
                    self.limit(option, 3)
                    daemon.set_policy(self.policy(MINIMUM))
                    daemon.process.send_signal(signal.SIGHUP)
                    guest.wait_for(lambda: "policy read again" in daemon.log() or
                                   "the old policy stays" in daemon.log(), 10, "an outcome")
                    if "policy read again" in daemon.log():
                        self.wait_written()
                    else:
                        self.said_once("the old policy stays in force", words)
                        self.assertFalse(self.written("policy2"))
                with self.cell("stop"):
                    daemon = self.living()
                    self.limit(option, 3)
                    daemon.stop()
                    if not self.is_as_before():
                        self.assertIn(words, daemon.log())
                    self.put_back()
            with self.cell("restore"):
                for value in values:
                    self.leave_behind()
                    status, log = restore(["prlimit", f"--{option}={value}"])
                    if status == 0:
                        break
                    self.assertTrue(status == 127 or words in log, f"{status}: {log}")
                    self.put_back()
                self.wait_as_before()
                self.assertEqual(restore(), (0, ""))

    def test_memory(self):
        """out of memory"""
        # Of a memory cgroup the kernel ends who has too much, as SIGKILL does.
        self.resource("data", [mib << 20 for mib in (1, 2, 3, 4, 8, 12, 16, 32, 128)], "emory")

    def test_descriptors(self):
        """out of descriptors"""
        self.resource("nofile", (4, 5, 6, 8, 12, 40, 256), "Too many open files")

    def test_program(self):
        """a program does not load"""
        for _ in self.each_backend():
            if self.backend == "setspeed":
                with self.cell("start"):
                    for n in ("1+", "60+", "115+"):
                        self.program_refused(n)
            else:
                self.no_cell("start", SAME)
            for step in STEPS[1:]:
                self.no_cell(step, "programs are loaded and attached at the start")

    def program_refused(self, n):
        up = self.starts(strace("bpf", "error=EINVAL", n, []))
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

    def test_ring(self):
        """ring overflow"""
        rule = "[rule any]\ncomm = wg-*\ncap = 90%\n"
        for _ in self.each_backend():
            self.no_cell("start", "nothing that can fill the ring is told before its last step")
            for step in STEPS[1:-1]:
                with self.cell(step):
                    daemon = self.living()
                    self.reload(rule)
                    self.overflow()
                    if step == "write":
                        self.foreign_limit()
                    elif step == "reload":
                        daemon.set_policy(self.policy(rule + MINIMUM))
                        daemon.process.send_signal(signal.SIGHUP)
                    else:
                        daemon.process.terminate()
                    daemon.process.send_signal(signal.SIGCONT)
                    if step == "stop":
                        self.stop()
                        continue
                    guest.wait_for(lambda: daemon.call("Status")["drops"]["ring"], 10,
                                   "an overflow")
                    if step == "write":
                        guest.wait_for(lambda: daemon.domain("policy2")["max_khz"] == 600000, 10,
                                       "the limit obeyed")
                        shell_write(guest.policy("policy2", "scaling_max_freq"), 1400000)
                        guest.wait_for(lambda: daemon.domain("policy2")["max_khz"] == 1400000, 10,
                                       "no limit")
                    else:
                        self.wait_written()
            self.no_cell("restore", "--restore reads no ring")

    @staticmethod
    def foreign_limit():
        """Through another network namespace's /sys, whose files nobody watches."""
        path = guest.policy("policy2", "scaling_max_freq")
        subprocess.run(["unshare", "--mount", "--net", "sh", "-c",
                        f"mount -t sysfs none /sys && echo 600000 > {path}"], check=True)

    def test_clock(self):
        """the time of day jumps"""
        def jump(seconds):
            time.clock_settime(time.CLOCK_REALTIME, time.time() + seconds)
        for _ in self.each_backend():
            with self.cell("start"):
                self.new()
                timer = threading.Timer(0.5, jump, [86400])
                timer.start()
                self.daemon.start()
                timer.join()
                self.goes_on()
            with self.cell("write"):
                self.living()
                self.write()
                self.wait_written()
                for seconds in (-2 * 86400, 2 * 86400):
                    jump(seconds)
                    time.sleep(0.2)
                    self.assertTrue(self.written("policy2"), "the override of ten minutes ended")
                self.goes_on()
                forget_overrides()
            with self.cell("reload"):
                self.living()
                jump(-86400)
                self.reload_minimum()
                self.wait_written()
            with self.cell("stop"):
                self.living()
                jump(86400)
                self.stop()
            with self.cell("restore"):
                self.leave_behind()
                jump(-86400)
                self.put_back()

    def test_earlier_boot(self):
        """files of an earlier boot"""
        files = {"originals": "wakegov originals 2\nboot {}\n" + guest.policy(
            "policy2", "scaling_governor") + " performance *\nend 1\n",
                 "clamps": "wakegov clamps 1\nboot {}\ntask 1 1 0-1024 0-300\n"}
        for _ in self.each_backend():
            for step in STEPS[1:-1]:
                self.no_cell(step, "the start has put them away")
            for step in ("start", "restore"):
                with self.cell(step):
                    for name, text in files.items():
                        guest.write(f"{RUN}/{name}", text.format(ANOTHER_BOOT))
                    if step == "start":
                        guest.write(f"{ORIGINALS}.new", "wake")
                        self.assertTrue(self.starts())
                        self.assertFalse(os.path.exists(f"{ORIGINALS}.new"))
                        self.stop()
                        self.assertNotIn("performance", self.daemon.log())
                    else:
                        self.put_back()
                    self.assertTrue(self.is_as_before())
                    self.assertFalse(set(os.listdir(RUN)) & set(files))


ROWS = unittest.defaultTestLoader.getTestCaseNames(Matrix)


def tearDownModule():
    """The table, as it was seen."""
    tap.note(f"{'':26}" + "  ".join(f"{name:40}" for name in BACKENDS))
    tap.note(f"{'':26}" + "  ".join("".join(f"{step:8}" for step in STEPS) for _ in BACKENDS))
    for row in ROWS:
        cells = ["".join(f"{table.get((row, backend, step), '?'):8}" for step in STEPS)
                 for backend in BACKENDS]
        if any(key[0] == row for key in table):
            tap.note(f"{getattr(Matrix, row).__doc__:26}" + "  ".join(cells))
    for reason, number in reasons.items():
        tap.note(f"-{number}: {reason}")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tap.main()
