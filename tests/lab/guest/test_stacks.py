#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Storage where the kernel's own threads do part of what a program waits for, on the timed machine."""
import unittest

import stacks
import table_programs as programs
import tap

# Of performance's rate by each backend. Without boosts of kernel threads crypt had 0.73 to 0.94, crypt-writes, loop and thin
# 0.82 to 0.84, raid5 0.57. schedutil has 0.51 of crypt-one-cpu and 0.75 of core-dumps, wakegov at least 0.94 and 0.95 in four
# starts. Other rows have none: schedutil has 0.99 where the daemon's own work costs 1 %, or starts differ by more.
LEAST = {"crypt": 0.96, "crypt-one-cpu": 0.92, "crypt-writes": 0.95, "core-dumps": 0.92, "loop": 0.93, "thin": 0.95, "raid5": 0.93}
BACKENDS = ("wakegov", "wakegov_limits", "wakegov_setspeed")


class Stacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        programs.prepare()

    def check(self, load):
        """A backend has at least its part of performance's rate, and none is slower than schedutil at more energy."""
        programs.set_up((load,))
        figures = {}
        for governor in ("performance", "own", *BACKENDS):
            with programs.governed(governor):
                run = programs.measure(load, 1, governor)
            speed = run["figure"] if load.better == "higher" else 1 / run["figure"]
            figures[governor] = speed, run["joule_per_work"]
            rate, energy = (mine / best for mine, best in zip(figures[governor], figures["performance"]))
            tap.note(f"{load.name}, {governor}: {run['figure']:.0f} {run['unit']}, {rate:.3f} of performance's rate at "
                     f"{energy:.3f} of its energy, {run['mean_mhz']:.0f} MHz")
        for governor in BACKENDS:
            with self.subTest(governor=governor):
                speed, joule = figures[governor]
                self.assertGreater(speed / figures["performance"][0], LEAST[load.name])
                self.assertTrue(speed > figures["own"][0] or joule < figures["own"][1])


def of(load):
    def test(self):
        self.check(load)
    test.__doc__ = f"{load.name}: what the kernel does for a task has the clock of the task"
    return test


for stack in stacks.STACKS:
    if stack.name in LEAST:
        setattr(Stacks, "test_" + stack.name.replace("-", "_"), of(stack))

if __name__ == "__main__":
    tap.main()
