#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What BPF keeps of threads: where it may be allocated, and that the memory limit bounds it."""
import ctypes
import os
import struct
import subprocess
import sys
import time
import unittest

import guest
import tap

BPF = 321  # the system call's number, of x86-64
BPF_MAP_LOOKUP_ELEM, BPF_MAP_GET_NEXT_ID, BPF_MAP_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD = 1, 12, 14, 15
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"
CGROUP = "/sys/fs/cgroup/limited"
LIMIT_MIB = 36
THREADS = 3200  # the least that is kept for the storage of all has space for 2,621
# Each works for a tick, and stays.
CROWD = f"""
import threading, time
threading.stack_size(65536)
def work():
    until = time.thread_time() + 0.005
    while time.thread_time() < until: pass
    time.sleep(600)
for i in range({THREADS}): threading.Thread(target=work, daemon=True).start()
print("began", flush=True)
time.sleep(600)
"""

libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, layout, *values):
    """The system call; returns its result, and the attributes after it."""
    attributes = ctypes.create_string_buffer(struct.pack(layout, *values), 128)
    done = libc.syscall(BPF, command, attributes, 128)
    return done, attributes.raw


def map_named(name):
    """A descriptor of it, and the size of a value."""
    number, info = 0, ctypes.create_string_buffer(256)
    while True:
        done, attributes = bpf(BPF_MAP_GET_NEXT_ID, "=II", number, 0)
        if done < 0:
            raise AssertionError(f"no map {name}")
        number = struct.unpack_from("=I", attributes, 4)[0]
        fd, _ = bpf(BPF_MAP_GET_FD_BY_ID, "=I", number)
        bpf(BPF_OBJ_GET_INFO_BY_FD, "=IIQ", fd, len(info), ctypes.addressof(info))
        if info.raw[24:40].rstrip(b"\0") == name:
            return fd, struct.unpack_from("=I", info.raw, 12)[0]
        os.close(fd)


def is_stored(pid):
    """Whether the task has an entry of the storage for bursts."""
    fd, size = map_named(b"task_runs")
    task, value = os.pidfd_open(pid), ctypes.create_string_buffer(size)
    key = ctypes.c_int(task)
    done, _ = bpf(BPF_MAP_LOOKUP_ELEM, "=IIQQQ", fd, 0, ctypes.addressof(key), ctypes.addressof(value), 0)
    os.close(task)
    os.close(fd)
    return done == 0


def pid_of(comm):
    return int(subprocess.run(["pgrep", "-x", comm], check=True, capture_output=True, text=True).stdout)


class Storage(unittest.TestCase):
    def test_kernel_threads(self):
        """a wake-up stores nothing of a kernel thread where that may wake the one that gives memory"""
        # In a small machine they are off, and the thread is not there.
        guest.write(f"{HUGE_PAGES}/enabled", "madvise")
        thread = pid_of("khugepaged")
        sleeper = subprocess.Popen(["sh", "-c", "while read -r line; do :; done"], stdin=subprocess.PIPE)
        self.addCleanup(sleeper.kill)
        with guest.Daemon("[wakegov]\nbackend = setspeed\n"
                          "[rule thread]\ncomm = khugepaged\ncap = 30%\n"
                          "[rule sleeper]\ncomm = sh\ncap = 30%\n"):
            time.sleep(1.5)  # until the next scan
            for _ in range(20):
                guest.write(f"{HUGE_PAGES}/khugepaged/scan_sleep_millisecs", 10000)  # wakes it up
                sleeper.stdin.write(b"\n")
                sleeper.stdin.flush()
                time.sleep(0.01)
            self.assertTrue(is_stored(sleeper.pid))
            release = [int(part) for part in os.uname().release.split(".")[:2]]
            self.assertEqual(is_stored(thread), release >= [6, 4])


class Limited(unittest.TestCase):
    def events(self):
        return dict(line.split() for line in guest.read(f"{CGROUP}/memory.events").splitlines())

    def test_crowd(self):
        """more threads than the memory limit has space for: they are counted, and the daemon governs on"""
        guest.write("/sys/fs/cgroup/cgroup.subtree_control", "+memory")
        os.mkdir(CGROUP)
        self.addCleanup(os.rmdir, CGROUP)
        guest.write(f"{CGROUP}/memory.max", LIMIT_MIB << 20)
        inside = ("sh", "-c", f'echo $$ >{CGROUP}/cgroup.procs; exec "$@"', "sh")
        with guest.Daemon("[wakegov]\nbackend = setspeed\n[rule low]\ncomm = capped\ncap = 30%\n",
                          prefix=inside) as daemon:
            self.assertIn("the memory limit may not suffice: raise MemoryMax=", daemon.log())
            crowd = guest.ended_with(self, subprocess.Popen([sys.executable, "-S", "-c", CROWD], stdout=subprocess.PIPE, text=True))
            self.addCleanup(crowd.stdout.close)
            self.assertEqual(crowd.stdout.readline(), "began\n")
            guest.wait_for(lambda: daemon.call("Status")["drops"]["threads"], 60, "threads without storage")
            used = int(guest.read(f"{CGROUP}/memory.current")) / (1 << 20)
            tap.note(f"{used:.1f} MiB of {LIMIT_MIB}; {self.events()}")
            said = subprocess.run([f"{guest.BUILD}/wakegovctl", "status"], check=True, capture_output=True,
                                  text=True).stdout
            self.assertIn("the memory limit is met", " ".join(said.split()))
            highest = int(guest.read(guest.policy("policy2", "cpuinfo_max_freq")))
            with guest.busy_loop(2):
                guest.wait_for(lambda: guest.frequency("policy2") == highest, 5, "policy2 up")
            self.assertIsNone(daemon.process.poll())
            self.assertEqual(self.events()["oom_kill"], "0")
            self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    tap.main()
