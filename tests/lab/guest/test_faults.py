#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Bad input and faults on a real cpufreq driver: each is said, and nothing is left behind.

What can fail at each step is in test_matrix.py.
"""
import os
import signal
import subprocess
import unittest

import clamps
import guest
import tap

SETSPEED = "[wakegov]\nbackend = setspeed\n"


def online(cpu, value):
    guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", value)


class Faults(guest.PutBack, unittest.TestCase):
    def test_foreign_governor(self):
        """another program's governor is left alone, named once with who set it, and not restored over"""
        group = "/sys/fs/cgroup/late.service"
        os.makedirs(group, exist_ok=True)
        with guest.Daemon(SETSPEED) as daemon:
            subprocess.run(["sh", "-c", f"echo $$ > {group}/cgroup.procs; echo performance > "
                            + guest.policy("policy2", "scaling_governor")], check=True)
            guest.wait_for(lambda: daemon.domain("policy2")["state"] == "yielded", 2, "a yield")
            self.assertEqual(daemon.domain("policy2")["state_why"],
                             "another program set scaling_governor to performance (by sh of late.service)")
            load = guest.start_load("cpu", "--cpus", "2", "--time", "1")
            load.wait()
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
            self.assertEqual(daemon.log().count("policy2: "), 1, daemon.log())
        governor = guest.read(guest.policy("policy2", "scaling_governor"))
        guest.shell_write(guest.policy("policy2", "scaling_governor"), "schedutil")
        self.assertEqual(governor, "performance")
        self.assertEqual(guest.snapshot(), self.before)

    def test_foreign_speed(self):
        """another program's speed is left alone: no fight over it"""
        guest.stay_off({2, 3}, self)  # the writer's own work would have the domain at any speed
        with guest.Daemon(SETSPEED) as daemon:
            guest.wait_for(lambda: guest.frequency("policy2") == 400000, 5, "nothing to write any more")
            guest.shell_write(guest.policy("policy2", "scaling_setspeed"), 1000000)
            guest.wait_for(lambda: daemon.domain("policy2")["state"] == "yielded", 2, "a yield")
            guest.start_load("cpu", "--cpus", "2", "--time", "1").wait()
            self.assertEqual(guest.frequency("policy2"), 1000000)
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
        self.assertEqual(guest.read(guest.policy("policy2", "scaling_governor")), "userspace")
        guest.shell_write(guest.policy("policy2", "scaling_governor"), "schedutil")
        self.assertEqual(guest.snapshot(), self.before)

    def test_lent(self):
        """what another program sets, and puts back as it found it, is governed again; the end restores all"""
        for backend, control, value in (("setspeed", "scaling_governor", "performance"),
                                        ("uclamp", "scaling_governor", "performance"),
                                        ("limits", "scaling_max_freq", 600000)):
            path = guest.policy("policy2", control)
            for signal_number in (signal.SIGTERM, signal.SIGKILL):
                with self.subTest(backend=backend, signal=signal_number):
                    daemon = guest.Daemon(f"[wakegov]\nbackend = {backend}\n"
                                          "[domain]\nmax-frequency = 1GHz\n").start()
                    if backend == "limits":
                        guest.wait_for(lambda: guest.read(path) == "1000000", 5, "our limit")
                    found = guest.read(path)
                    guest.shell_write(path, value)
                    guest.wait_for(lambda: daemon.domain("policy2")["state"] == "yielded", 5, "a yield")
                    if signal_number == signal.SIGKILL:
                        daemon.stop(signal_number)
                        guest.shell_write(path, found)
                        guest.restore()
                    else:
                        guest.shell_write(path, found)
                        guest.wait_for(lambda: daemon.domain("policy2")["state"] == "driven", 5,
                                       "driven again")
                        with guest.busy_loop(2):
                            guest.wait_for(lambda: guest.frequency("policy2") == 1000000, 5, "the highest")
                        daemon.stop(signal_number)
                    guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything restored")

    def test_lent_limit(self):
        """a limit of ours that another program puts back ends as the policy says by then"""
        path = guest.policy("policy2", "scaling_max_freq")
        for backend in "uclamp", "limits":
            policy = f"[wakegov]\nbackend = {backend}\n"
            with self.subTest(backend=backend), \
                    guest.Daemon(policy + "[domain]\nmax-frequency = 1GHz\n") as daemon:
                guest.wait_for(lambda: guest.read(path) == "1000000", 5, "our limit")
                guest.shell_write(path, 600000)
                guest.wait_for(lambda: daemon.domain("policy2")["state"] == "yielded", 5, "a yield")
                daemon.set_policy(policy)
                daemon.call("Reload")
                guest.shell_write(path, 1000000)
                with guest.busy_loop(2):
                    guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 5, "no limit any more")
            guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything restored")

    def test_limits(self):
        """scaling_max_freq is kept to at once, named as the limiter, and restored as it was"""
        path = guest.policy("policy2", "scaling_max_freq")
        self.addCleanup(guest.write, path, 1400000)
        daemon = guest.KeptDaemon.with_policy(SETSPEED)
        with guest.busy_loop(2):
            guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 3, "the highest OPP")
            guest.shell_write(path, 1000000)
            guest.wait_for(lambda: daemon.domain("policy2")["limiter"] == "scaling-max", 1,
                           "the limit named")
            domain = daemon.domain("policy2")
            self.assertEqual((domain["target_khz"], domain["max_khz"]), (1000000, 1000000))
            self.assertEqual(guest.frequency("policy2"), 1000000)
            guest.shell_write(path, 1400000)
            guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 1, "the old height")

    def test_sibling_offline(self):
        """a sibling that goes offline and comes back leaves the domain governed"""
        daemon = guest.KeptDaemon.with_policy(SETSPEED)
        online(3, 0)
        self.addCleanup(online, 3, 1)
        with guest.busy_loop(2):
            guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 3,
                           "governed without it")
            online(3, 1)
        guest.wait_for(lambda: guest.frequency("policy2") == 400000, 3, "governed with it")
        self.assertEqual(daemon.domain("policy2")["state"], "driven")

    def test_domain_offline(self):
        """a domain that goes offline while governed is an outcome, and is governed when it is back"""
        daemon = guest.KeptDaemon.with_policy(SETSPEED)
        online(2, 0)
        online(3, 0)
        guest.wait_for(lambda: daemon.domain("policy2")["state"] == "offline", 2, "offline")
        online(2, 1)
        online(3, 1)
        guest.wait_for(lambda: daemon.domain("policy2")["state"] == "driven", 2, "driven")
        with guest.busy_loop(2):
            guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 3, "governed again")
        self.assertEqual(daemon.domain("policy2")["write_errors"], 0)

    def test_second_instance(self):
        """a second daemon is refused, whatever its files are, as is --restore; the first goes on"""
        elsewhere = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh"]
        with guest.Daemon(SETSPEED) as daemon:
            saved = guest.read("/run/wakegov/originals")
            for second in (guest.Daemon(SETSPEED), guest.Daemon(SETSPEED, run_dir="/run/other"),
                           guest.Daemon(SETSPEED, prefix=elsewhere),
                           guest.Daemon(SETSPEED, ("--restore",)),
                           guest.Daemon(SETSPEED, ("--restore",), run_dir="/run/other")):
                status, log = second.run_to_end()
                self.assertEqual(status, 1)
                self.assertIn("another wakegovd is running", log)
            self.assertEqual(guest.read("/run/wakegov/originals"), saved)
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
            with guest.Daemon(SETSPEED, ("--observe",), run_dir="/run/other") as watching:
                self.assertEqual(watching.domain("policy0")["state"], "observed")
            self.assertEqual(daemon.domain("policy0")["state"], "driven")
        self.assertEqual(guest.snapshot(), self.before)

    def test_no_capability(self):
        """without CAP_BPF it says what it needs, and changes nothing"""
        prefix = ["setpriv", "--bounding-set", "-bpf,-sys_admin", "--inh-caps", "-bpf,-sys_admin"]
        status, log = guest.Daemon(SETSPEED, prefix=prefix).run_to_end()
        self.assertEqual(status, 1)
        self.assertIn("CAP_BPF", log)
        self.assertEqual(guest.snapshot(), self.before)

    def test_read_only_sys(self):
        """with /sys read-only no backend claims to govern"""
        prefix = ["unshare", "-m", "sh", "-c", 'mount -o remount,bind,ro /sys && exec "$@"', "sh"]
        for backend in ("uclamp", "setspeed", "limits"):
            with self.subTest(backend=backend):
                status, log = guest.Daemon(f"[wakegov]\nbackend = {backend}\n", prefix=prefix).run_to_end()
                self.assertEqual(status, 1)
                self.assertIn("/sys is read-only here", log)
                self.assertNotIn("governing", log)
        self.assertEqual(guest.snapshot(), self.before)

    def test_no_btf(self):
        """without BTF it says what the kernel lacks, and changes nothing"""
        script = 'mount -t tmpfs none /sys/kernel/btf && exec "$@"'
        prefix = ["unshare", "-m", "sh", "-c", script, "sh"]
        status, log = guest.Daemon(SETSPEED, prefix=prefix).run_to_end()
        self.assertEqual(status, 1)
        self.assertIn("CONFIG_DEBUG_INFO_BTF", log)
        self.assertEqual(guest.snapshot(), self.before)


class Clamps(guest.PutBack, unittest.TestCase):
    """What only a kernel with uclamp can do."""

    def test_restore_begins_with_the_frequencies(self):
        """what a killed daemon left is put back with the frequencies first, then the clamps"""
        daemon = guest.Daemon(SETSPEED).start()
        daemon.stop(signal.SIGKILL)
        task = guest.ended_with(self, subprocess.Popen(["uclampset", "-M", "300", "sleep", "1000"]))
        guest.wait_for(lambda: clamps.clamps_of(task.pid)[1] == 300, 10, "a clamp")
        start = guest.read(f"/proc/{task.pid}/stat").rsplit(")", 1)[1].split()[19]
        boot = guest.read("/proc/sys/kernel/random/boot_id")
        guest.write("/run/wakegov/clamps", f"wakegov clamps 1\nboot {boot}\n"
                    f"task {task.pid} {start} 0-1024 0-300\n")
        status, log = guest.Daemon(SETSPEED, ("--restore",)).run_to_end()
        self.assertEqual(status, 0)
        self.assertLess(log.index("restored policy2 scaling_governor"),
                        log.index("restored the clamps of 1 task"))
        self.assertEqual(clamps.clamps_of(task.pid), (0, 1024))
        self.assertEqual(guest.snapshot(), self.before)


if __name__ == "__main__":
    tap.main()
