#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Block devices on a real kernel: stacks are counted at their bottom; interrupts elsewhere."""
import os
import subprocess
import time
import unittest

import guest
import tap

# A slow host makes a slow disk: its tasks are users of it still, and between two reads too.
POLICY = "[wakegov]\nbackend = setspeed\n[io-boost]\nmin-rate = 20/s\nhold = 500ms\n"
# The kernel's numbers of what it completed: the first and the fifth of a disk's stat.
READS, WRITES = 0, 4


def completions(name):
    """What the kernel has completed on a disk so far."""
    numbers = guest.read(f"/sys/block/{name}/stat").split()
    return int(numbers[READS]) + int(numbers[WRITES])


def sectors(name):
    return int(guest.read(f"/sys/block/{name}/size"))


def look_for(condition, seconds, what):
    """As guest.wait_for(), but seldom: looking takes the host's time, which the load then lacks."""
    def later():
        time.sleep(1)
        return condition()

    guest.wait_for(later, seconds, what)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Devices(unittest.TestCase):
    def setUp(self):
        guest.stay_off({2, 3}, self)
        self.daemon = guest.KeptDaemon.with_policy(POLICY)

    def read_from(self, path, *arguments):
        """A reader, from the moment that it reads on; returns its process."""
        load = guest.ended_with(self, guest.start_load("psync", "--file", path, "--cpus", "3", "--time", "1000",
                                                       "--margin-ms", "1", *arguments))
        if load.stdout.readline() != "begin\n":
            raise AssertionError("freqload did not begin: " + load.communicate()[1])
        return load

    def task(self, load):
        tids = {int(tid) for tid in os.listdir(f"/proc/{load.pid}/task")}
        for task in self.daemon.call("Tasks")["tasks"]:
            if task["pid"] in tids:
                return task
        return None

    def check_counted_at(self, path, bottom, top):
        """A reader from `path` is counted on the disk `bottom`, and nowhere else."""
        load = self.read_from(path)
        look_for(lambda: (self.task(load) or {}).get("device") == bottom, 20,
                 f"the task's I/O counted on {bottom}")
        time.sleep(1)
        names = [device["name"] for device in self.daemon.call("Devices")["devices"]]
        self.assertIn(bottom, names)
        self.assertNotIn(top, names)
        done = completions(top)
        look_for(lambda: completions(top) - done > 100, 20, "requests that pass the stack")
        self.assertEqual(self.daemon.call("Status")["drops"]["devices"], 0)

    def test_dm(self):
        """a reader of a device-mapper device is counted on the disk below it"""
        disk = guest.null_blk()
        run("modprobe", "dm_mod")
        run("dmsetup", "create", "--noudevsync", "lab", "--table",
            f"0 {sectors('nullb1')} linear {disk} 0")
        self.addCleanup(run, "dmsetup", "remove", "--retry", "--noudevsync", "lab")
        name = f"dm-{run('dmsetup', 'info', '-c', '--noheadings', '-o', 'minor', 'lab')}"
        node = "/dev/lab-dm"
        run("mknod", node, "b", *guest.read(f"/sys/block/{name}/dev").split(":"))
        self.addCleanup(os.unlink, node)
        self.check_counted_at(node, "nullb1", name)

    def test_md(self):
        """a reader of a mirror is counted on the disk that it is read from"""
        guest.null_blk()
        run("modprobe", "raid1")
        guest.write("/sys/module/md_mod/parameters/new_array", "md_lab")
        md = "/sys/block/md_lab/md"
        guest.write(f"{md}/metadata_version", "none")
        guest.write(f"{md}/level", "raid1")
        guest.write(f"{md}/raid_disks", 1)
        guest.write(f"{md}/new_dev", guest.read("/sys/block/nullb1/dev"))
        guest.write(f"{md}/dev-nullb1/slot", 0)
        guest.write(f"{md}/dev-nullb1/size", sectors("nullb1") // 2)
        guest.write(f"{md}/component_size", sectors("nullb1") // 2)
        guest.write(f"{md}/array_state", "active")
        self.addCleanup(guest.write, f"{md}/array_state", "clear")
        node = "/dev/lab-md"
        run("mknod", node, "b", *guest.read("/sys/block/md_lab/dev").split(":"))
        self.addCleanup(os.unlink, node)
        self.check_counted_at(node, "nullb1", "md_lab")

    def loop(self):
        """A loop device on a file in memory, whose requests end where its work queue runs."""
        run("modprobe", "loop")
        run("truncate", "-s", "64M", "/run/lab-loop")
        path = run("losetup", "--find", "--show", "--direct-io=off", "/run/lab-loop")
        self.addCleanup(run, "losetup", "-d", path)
        return path

    def test_interrupt_elsewhere(self):
        """a reader whose requests end in another domain: that is advised on, and shown"""
        mask = "/sys/devices/virtual/workqueue/cpumask"
        before = guest.read(mask)
        guest.write(mask, "1")
        self.addCleanup(guest.write, mask, before)
        path = self.loop()
        name = os.path.basename(path)
        guest.write(f"/sys/block/{name}/queue/rq_affinity", 0)
        self.read_from(path, "--cycles", "100000")
        found = []
        look_for(lambda: found.extend(notice for notice in self.daemon.call("Status")["advice"]
                                      if notice["name"] == name) or found, 40, f"advice on {name}")
        tap.note(str(found[0]))
        self.assertEqual((found[0]["domain"], found[0]["other_domain"]), ("policy0", "policy2"))
        device = next(d for d in self.daemon.call("Devices")["devices"] if d["name"] == name)
        self.assertEqual(device["completion_domain"], "policy0")
        # Where it ends beside the task, there is nothing to say.
        guest.write(mask, "8")
        look_for(lambda: not self.daemon.call("Status")["advice"], 40, "no advice any more")


if __name__ == "__main__":
    tap.main()
