# SPDX-License-Identifier: GPL-2.0-only
"""Faults at each step of what drives domains: the other domain goes on, and all is put back."""
import contextlib
import os
import signal
import subprocess
import threading
import time

import guest
from matrix import CHANGES, Matrix, RUN, STATES, STEPS, counted, forget_overrides, met, restore

DOMAINS = ("policy0", "policy2")
ORIGINALS = f"{RUN}/originals"
# What a backend takes over.
TAKEN = {"setspeed": "scaling_governor", "limits": "scaling_min_freq"}
CHANGED = {"setspeed": ["scaling_governor"], "limits": ["scaling_min_freq", "scaling_max_freq"]}
FOREIGN = {"setspeed": "performance", "limits": 600000}
TUNABLE = f"{guest.CPUFREQ}/schedutil/rate_limit_us"
MIN_KHZ = 1000000
MINIMUM = "[domain policy2]\nmin-frequency = 1GHz\n"
SAME = "nothing of it is the backend's: as with setspeed"
ANOTHER_BOOT = "01234567-89ab-cdef-0123-456789abcdef"

left_behind = {}


def files_of(name):
    return [path for path in Domains.FILES if f"/{name}/" in path]


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def online(value):
    for cpu in (2, 3):
        guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", value)


class Domains(Matrix):
    BACKENDS = ("setspeed", "limits")
    STATE = ORIGINALS
    FILES = [RUN, ORIGINALS, f"{ORIGINALS}.new", TUNABLE] + [
        guest.policy(name, control) for name in DOMAINS for control in guest.CONTROLS]

    def setUp(self):
        super().setUp()
        guest.write(TUNABLE, 7777)
        self.before = guest.snapshot()

    def clean_up(self):
        online(1)
        super().clean_up()
        for name in DOMAINS:
            for control in ("scaling_governor", "scaling_max_freq", "scaling_min_freq"):
                value = self.before[f"{name}/{control}"].decode().strip()
                if guest.read(guest.policy(name, control)) != value:
                    guest.write(guest.policy(name, control), value)
        guest.write(TUNABLE, 7777)

    # The steps, and what is to be after them.

    def write(self, name="policy2"):
        """Has the domain's controls written to; returns what ends that."""
        return self.daemon.call("AddOverride", domain=name, settings={"min-frequency": f"{MIN_KHZ}kHz"},
                                for_us=600_000_000)["override"]["id"]

    def written(self, name):
        control = "scaling_setspeed" if self.backend == "setspeed" else "scaling_min_freq"
        return guest.read(guest.policy(name, control)) == str(MIN_KHZ)

    def wait_written(self, name="policy2"):
        guest.wait_for(lambda: self.written(name), 10, f"{name} written to")

    def reload_minimum(self):
        self.reload(MINIMUM)

    def goes_on(self, name="policy0"):
        """The domain that has nothing to do with it is governed as before."""
        override = self.write(name)
        self.wait_written(name)
        self.daemon.call("CancelOverride", id=override)

    def is_as_before(self, only=""):
        names = [name for name in self.before if name.startswith(only)]
        with contextlib.suppress(OSError):  # offline, or a governor's that is not there
            return all(read_bytes(f"{guest.CPUFREQ}/{name}") == self.before[name] for name in names)
        return False

    def changed(self):
        return [f"{name} {control}" for name in DOMAINS for control in CHANGED[self.backend]
                if not self.is_as_before(f"{name}/{control}")]

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
        left = {path: guest.read(path) for path in self.FILES if "scaling_m" in path
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

    def each_call_of_restore(self, what, words=None, calls=CHANGES):
        """--restore meets with something at each of its calls; the next one does the rest."""
        def attempt(prefix):
            self.leave_behind()
            status, log = restore(prefix)
            line = met()
            for name in DOMAINS:
                if line and "/policy" in line and f"/{name}/" not in line:
                    guest.wait_for(lambda: self.is_as_before(name), 10, f"{name} put back")
            self.assertTrue(status == 0 or "killed" in line or words in log, log)
            self.said_nothing_twice(log=log)
            self.put_back()
        self.each_call(calls, what, attempt)

    def left_alone(self):
        """What another program has set since the daemon was killed stays."""
        path = guest.policy("policy2", "scaling_governor")
        guest.shell_write(path, "performance")
        status, log = restore()
        self.assertEqual((status, guest.read(path)), (0, "performance"), log)
        self.said_once("left policy2 scaling_governor at performance", log=log)
        guest.shell_write(path, "schedutil")
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
        with self.attached(call, "signal=SIGKILL", n=1):
            with contextlib.suppress(OSError):
                step()
            self.assertEqual(daemon.process.wait(timeout=20 * guest.PATIENCE), -signal.SIGKILL)
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
                self.new(self.strace(STATES, "signal=SIGSTOP", 3))
                with open(self.daemon.log_path, "w", encoding="utf-8") as log:
                    self.daemon.process = subprocess.Popen(self.daemon.command, stderr=log)
                guest.wait_for(lambda: os.path.exists(ORIGINALS) and met(), 60, "stopped")
                self.watchdog()
            with self.cell("reload"):
                self.hung(self.reload_minimum)
            with self.cell("stop"):
                self.hung(lambda: self.daemon.process.terminate())

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
                self.said_once("policy2: ", "the originals file cannot be written", words)
                end()
                path = guest.policy("policy2", TAKEN[self.backend])
                guest.shell_write(path, self.before[f"policy2/{TAKEN[self.backend]}"].decode().strip())
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
                status, log = restore()
                self.wait_as_before()
                if status:
                    self.said_once("the rest is in /run/wakegov/originals", words, log=log)
                end()
                self.put_back()

    def foreign(self):
        """Another program sets what the daemon drives."""
        guest.shell_write(guest.policy("policy2", TAKEN[self.backend]), FOREIGN[self.backend])
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
                if self.backend == "setspeed":
                    call, n, paths = "write", 1, [control]
                else:
                    call, n, paths = self.opened_to_be_written(control)
                log = self.fails_to_start("policy2: cannot be governed by", words,
                                          prefix=self.strace(call, f"error={error}", n, paths))
                self.assertNotIn("could not restore", log)
            with self.cell("write"):
                daemon = self.living()
                with self.attached("pwrite64", f"error={error}", paths=files_of("policy2")):
                    # By the work of strace's start it may be at what is asked for, which is then no write.
                    guest.wait_for(lambda: words in daemon.log() or not self.written("policy2"), 10,
                                   "another frequency")
                    self.write()
                    guest.wait_for(lambda: words in daemon.log(), 10, "the line")
                    self.goes_on()
                    self.said_once("policy2: ", words)
                self.write()
                self.wait_written()
            with self.cell("reload"):
                daemon = self.living()
                with self.attached("openat,read", f"error={error}", paths=[daemon.policy_path]):
                    self.reload_refused(words)
            with self.cell("stop"):
                daemon = self.living()
                self.write()
                self.wait_written()
                with self.attached("pwrite64", f"error={error}", paths=[control]):
                    daemon.stop()
                guest.wait_for(lambda: self.is_as_before("policy0"), 10, "policy0 put back")
                self.assertFalse(self.is_as_before())
                self.said_once("could not restore policy2", words)
                self.put_back()
            with self.cell("restore"):
                self.each_call_of_restore(f"error={error}", words)

    def opened_to_be_written(self, path):
        """The call of a start that does it: relative to its directory, which is all that strace can filter by."""
        directory, name = os.path.split(path)
        self.assertTrue(self.starts(self.strace("openat", paths=[directory])))
        self.stop()
        return *counted(f'"{name}", O_RDWR')[0], [directory]

    def test_ebusy(self):
        """EBUSY: its CPUs offline"""
        for _ in self.each_backend():
            with self.cell("start"):
                online(0)
                self.assertTrue(self.starts())
                self.goes_on()
                online(1)
                words = "CPU 2 was not there at the start: restart wakegovd"
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
                self.living()
                before = len(self.lines())
                online(0)
                self.reload_minimum()
                self.goes_on()
                online(1)
                self.wait_written()
                self.said_once("policy2: its CPUs are offline", log="\n".join(self.lines()[before:]))
            with self.cell("stop"):
                daemon = self.living()
                online(0)
                daemon.stop()
                log = daemon.log()
                online(1)
                self.put_back()
                for control in CHANGED[self.backend]:
                    self.said_once("policy2 is offline: ", control, log=log)
            with self.cell("restore"):
                self.leave_behind()
                online(0)
                _, log = restore()
                self.said_once("controls of domains wait", log=log)
                guest.wait_for(lambda: self.is_as_before("policy0"), 10, "policy0 put back")
                online(1)
                self.put_back()

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
                    self.said_nothing_twice(log=log)
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
                        guest.shell_write(guest.policy("policy2", "scaling_max_freq"), 1400000)
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
                before = self.lines()
                for seconds in (-2 * 86400, 2 * 86400):
                    jump(seconds)
                    time.sleep(0.2)
                    self.assertTrue(self.written("policy2"), "the override of ten minutes ended")
                # It is no fault of anything here.
                self.assertEqual(self.lines(), before)
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
                 "clamps": "wakegov clamps 1\nboot {}\ntask 1 1 0-1024 0-300\n",
                 "overrides": "wakegov overrides 1\nboot {}\nend 1\n",
                 "hints": "wakegov hints 1\nboot {}\nend 1\n"}
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
                    # --restore reads neither of the last two, which put_back() removes.
                    self.assertEqual(set(os.listdir(RUN)) & set(files), set())
