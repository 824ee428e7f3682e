#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Suspends to RAM, firmware and all: by in-ram, in a lab that was run with --suspend."""
import os
import time

import guest
import tap
from governed import Governed

# The chipset's registers that say where its power management is, and that it is on. SeaBIOS loses
# them while the machine sleeps, and the kernel takes them for restored.
CHIPSET, REGISTERS, SIZE = "/sys/bus/pci/devices/0000:00:1f.0/config", 0x40, 8


def slept_s():
    """Since the boot. The kernel knows it to a second, by the RTC."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def sleep():
    chipset = os.open(CHIPSET, os.O_RDWR)
    registers = os.pread(chipset, SIZE, REGISTERS)
    guest.write("/sys/power/state", "mem")
    os.pwrite(chipset, registers, REGISTERS)
    os.close(chipset)


class Suspend(Governed):
    def test_mem(self):
        """the machine sleeps in S3 under each backend: the daemon hears of each and governs on"""
        guest.write("/sys/power/mem_sleep", "deep")
        for backend in ("setspeed", "limits", "uclamp"):
            with self.subTest(backend=backend), self.governed(backend, lines_most=60) as daemon:
                for n in range(2):
                    before = slept_s()
                    sleep()
                    self.assertGreater(slept_s(), before + 0.9)
                    guest.wait_for(lambda: daemon.log().count("resumed from suspend") == n + 1, 10,
                                   "the daemon hears of it")
                    self.drives()


if __name__ == "__main__":
    tap.main()
