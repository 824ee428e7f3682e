#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A machine that changes under wakegovd without an end: what that may cost, and what it leaves.

After each storm the daemon answers and governs, its memory is what it was, and when it has ended
everything is as before. What it took of the CPUs is printed, and bounded far above what was seen.
"""
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import time

import guest
import tap
from governed import DOMAINS, Governed, POLICY

STORM_S = 2
GROUP = "/sys/fs/cgroup/wakegov-bomb"
IDLE, BUSY = (), (0, 2)  # domains that are busy are at their highest OPP: nothing is written
NUMBERS = 600  # of tasks; the kernel keeps 300 for itself
DISKS = 80  # more than there are places for: WAKEGOV_DEVICES is 64

BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
FIO = ["--rw=randread", "--bs=4k", "--ioengine=psync", "--direct=1", "--thread", "--time_based"]


def disks():
    """The kernel's names of the disks that a test made."""
    return {name for name in os.listdir("/sys/block") if name.startswith(("nullb", "storm"))}


def forks():
    """How many there were since the boot."""
    return int(re.search(r"^processes (\d+)", guest.read("/proc/stat"), re.M).group(1))


class Storms(Governed):
    @staticmethod
    def storm(deed, seconds=STORM_S):
        """How often it was done in that time."""
        end, n = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            deed()
            n += 1
        return n

    def test_hotplug(self):
        """hotplug: CPUs and whole domains go and come"""
        def some_go():
            cpus = random.choice(((1,), (3,), (2, 3)))
            for value in (0, 1):
                for cpu in cpus:
                    guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", value)
        # Two lines for each time that a domain goes: it is somebody's doing.
        with self.governed(lines_most=1000):
            tap.note(f"{self.storm(some_go)} times")

    def test_governors(self):
        """another program sets governors: it has them, until they are adopted"""
        def another():
            guest.shell_write(guest.policy(random.choice(DOMAINS), "scaling_governor"),
                              random.choice(("performance", "powersave", "schedutil")))
        with self.governed():
            tap.note(f"{self.storm(another)} times")
            self.give_back()

    def test_limits(self):
        """limits that change with every look are kept to"""
        def another():
            guest.shell_write(guest.policy("policy0", "scaling_max_freq"),
                              random.choice((600000, 1000000, 1800000)))
        for backend in ("setspeed", "limits"):
            with self.subTest(backend=backend), self.governed(backend):
                tap.note(f"{backend}: {self.storm(another)} times")
                guest.shell_write(guest.policy("policy0", "scaling_max_freq"), 1800000)

    def test_driver(self):
        """a driver that is unloaded: the daemon ends, and says so; with the next one it governs"""
        self.lose_driver("setspeed", IDLE, BUSY)
        self.lose_driver("uclamp", IDLE)
        with self.governed():
            pass

    def test_driver_of_others(self):
        """a driver that is unloaded: the other backends, and whether the domains are busy"""
        self.lose_driver("limits", IDLE, BUSY)
        self.lose_driver("uclamp", BUSY)
        self.lose_driver("observe", IDLE, BUSY)

    def lose_driver(self, backend, *loads):
        for busy_cpus in loads:
            with self.subTest(backend=backend, busy_cpus=busy_cpus):
                self.lose_it_once(backend, busy_cpus)

    def lose_it_once(self, backend, busy_cpus):
        with guest.Daemon(POLICY.format(backend)) as daemon, contextlib.ExitStack() as loops:
            for cpu in busy_cpus:
                loops.enter_context(guest.busy_loop(cpu))
            if busy_cpus:
                guest.wait_for(lambda: all(domain["target_khz"] == domain["max_khz"] for domain in daemon.call("Domains")["domains"]
                                           if set(guest.cpus_of(domain["name"])) & set(busy_cpus)), 30, "up")
            subprocess.run(["rmmod", "acpi_cpufreq"], check=True)
            subprocess.run(["modprobe", "acpi_cpufreq"], check=True)
            self.assertEqual(daemon.process.wait(timeout=60 * guest.PATIENCE), 1)
            self.assertEqual(daemon.log().count("its cpufreq driver is gone"), 1, daemon.log())
        guest.wait_for(lambda: guest.snapshot() == self.before, 10, "as before")

    def test_fork_bomb(self):
        """a fork bomb in a cgroup"""
        os.mkdir(GROUP)
        guest.write(f"{GROUP}/pids.max", 300)
        try:
            with self.governed("uclamp"):
                bomb = subprocess.Popen([sys.executable, "-S", "-c", BOMB], preexec_fn=lambda:
                                        guest.write(f"{GROUP}/cgroup.procs", 0))
                guest.wait_for(lambda: int(guest.read(f"{GROUP}/pids.current")) > 200, 20, "200 tasks")
                time.sleep(STORM_S)
                guest.write(f"{GROUP}/cgroup.kill", 1)
                bomb.wait()
        finally:
            guest.write(f"{GROUP}/cgroup.kill", 1)
            guest.wait_for(lambda: not guest.read(f"{GROUP}/cgroup.procs"), 20, "its end")
            os.rmdir(GROUP)

    def test_short_tasks(self):
        """short tasks, as many as there can be, whose numbers wrap"""
        highest = guest.read("/proc/sys/kernel/pid_max")
        guest.write("/proc/sys/kernel/pid_max", NUMBERS)
        storms = []
        try:
            with self.governed("uclamp"):
                before = forks()
                guest.link("capped", "/bin/true")
                # Some of them have a name, for a moment, that a rule is for.
                storms = [subprocess.Popen(["bash", "-c", f"while :; do (:); ({capped}); done"])
                          for capped in (":", "exec /tmp/capped") for _ in range(2)]
                guest.wait_for(lambda: forks() > before + 3 * NUMBERS, 30, "numbers used again")
                for storm in storms:
                    storm.kill()
                    storm.wait()
                tap.note(f"{forks() - before} tasks with {NUMBERS} numbers")
        finally:
            for storm in storms:
                storm.kill()
            guest.write("/proc/sys/kernel/pid_max", highest)

    def test_disks(self):
        """disks that come and go, more of them than there is room for"""
        subprocess.run(["modprobe", "null_blk"], check=True)
        names = [f"storm{i}" for i in range(DISKS)]
        make = "\n".join(["cd /sys/kernel/config/nullb"] + [
            f"mkdir {name} && echo 64 >{name}/size && echo 1 >{name}/power" for name in names])
        with self.governed() as daemon:
            for _ in range(2):
                there, dropped = disks(), daemon.call("Status")["drops"]["devices"]
                subprocess.run(["sh", "-c", make], check=True)  # the kernel reads from each
                new = sorted(disks() - there)
                self.assertEqual(len(new), DISKS)
                jobs = [f"--name={disk} --filename=/dev/{disk}" for disk in new]
                fio = guest.ended_with(self, subprocess.Popen(
                    ["fio", *FIO, "--rate_iops=20", "--runtime=60", *" ".join(jobs).split()], stdout=subprocess.DEVNULL))
                known = lambda: len(daemon.call("Devices")["devices"])
                took = guest.wait_for(lambda: known() > 32, 10, "half of the places taken")
                tap.note(f"{known()} of {DISKS} disks known after {took:.1f} s")
                fio.terminate()
                fio.wait()
                self.assertGreater(daemon.call("Status")["drops"]["devices"], dropped)
                subprocess.run(["sh", "-c", "rmdir /sys/kernel/config/nullb/storm*"], check=True)

    def test_readers(self):
        """1,000 tasks with I/O at once, some of which matter at a time"""
        with self.governed() as daemon:
            fio = subprocess.Popen(
                ["fio", *FIO, "--name=readers", f"--filename={guest.null_blk()}", "--numjobs=1000",
                 "--rate_iops=3", "--time_based=0", "--number_ios=10", "--group_reporting",
                 "--output-format=json"],
                stdout=subprocess.PIPE)
            most = 0
            while fio.poll() is None:
                most = max(most, daemon.call("Tasks")["total"])
                time.sleep(0.5)
            read = json.load(fio.stdout)["jobs"][0]["read"]
            fio.stdout.close()
            self.assertEqual(fio.returncode, 0)
            tap.note(f"{read['total_ios']} reads; {most} tasks known at once")
            self.assertEqual(read["total_ios"], 10000)
            self.assertGreater(most, 50)

    def test_suspends(self):
        """suspends but for the firmware's part: the daemon hears of each and governs on, by each backend"""
        guest.write("/sys/power/mem_sleep", "deep")
        guest.write("/sys/module/suspend/parameters/pm_test_delay", 1)
        for backend in ("setspeed", "limits", "uclamp"):
            with self.subTest(backend=backend), self.governed(backend, lines_most=60) as daemon:
                for n, level in enumerate(("devices", "core", "core")):
                    guest.write("/sys/power/pm_test", level)
                    guest.write("/sys/power/state", "mem")
                    guest.wait_for(lambda: daemon.log().count("resumed from suspend") == n + 1, 10,
                                   "the daemon hears of it")
                    self.drives()

    def test_clock(self):
        """the time of day jumps to and fro"""
        def jump():
            time.clock_settime(time.CLOCK_REALTIME, time.time() + random.choice((-86400, 86400)))
            time.sleep(0.01)
        now, since = time.time(), time.monotonic()
        try:
            with self.governed():
                tap.note(f"{self.storm(jump)} times")
        finally:
            time.clock_settime(time.CLOCK_REALTIME, now + time.monotonic() - since)


if __name__ == "__main__":
    tap.main()
