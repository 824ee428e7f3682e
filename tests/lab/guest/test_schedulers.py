#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Schedulers of sched_ext that people use, on the timed machine: wakegovd beside them, and they come, go and are killed."""
import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import guest
import programs_workloads as workloads
import table_programs as programs
import tap

BIN = f"{guest.BUILD}/schedulers/bin"
STATE = "/sys/kernel/sched_ext/state"
CPU = 3
BACKENDS = ("wakegov", "wakegov_limits", "wakegov_setspeed")
# Of the rate under the scheduler alone. bpfland asks for the highest frequency all the time: there is nothing to gain
# there, and a chain has what the tracer leaves it.
LEAST = {"chain-pipe": 0.93, "fio-psync": 0.98}
LOADS = [workloads.named(name) for name in (*LEAST, "asked")]


@contextlib.contextmanager
def scheduler(name):
    with tempfile.NamedTemporaryFile() as log, subprocess.Popen([f"{BIN}/{name}"], stdout=log, stderr=log) as process:
        try:
            # The verifier takes its time, as this machine executes 450 million instructions a second.
            guest.wait_for(lambda: process.poll() is not None or guest.read(STATE) == "enabled", 180, name)
            assert process.poll() is None, guest.read(log.name)
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
            guest.wait_for(lambda: guest.read(STATE) == "disabled", 20, "its end")


class Schedulers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # They ask for the kernel's configuration, where distributions have it.
        release = os.uname().release
        subprocess.run(["mount", "-t", "tmpfs", "boot", "/boot"], check=True)
        shutil.copy(f"/lib/modules/{release}/config", f"/boot/config-{release}")
        programs.set_up(LOADS)

    def setUp(self):
        guest.set_governor("schedutil")

    def check_loads(self, name):
        """beside wakegovd rates are as under the scheduler alone, and requests after a pause nearly as fast, by any backend"""
        figures = {}
        with scheduler(name):
            for load, governor in itertools.product(LOADS, ("own", *BACKENDS)):
                with programs.governed(governor):
                    run = programs.measure(load, 1, governor)
                figures[load.name, governor] = run["figure"], run["p99_us"]
                tap.note(f"{name}, {load.name}, {governor}: {run['figure']:.1f} {run['unit']}, p99 {run['p99_us']}, "
                         f"{run['mean_mhz']:.0f} MHz, {run['joule_per_work']:.3g} J")
        for load, governor in itertools.product(LOADS, BACKENDS):
            with self.subTest(load=load.name, governor=governor):
                (mine, mine_p99), (own, own_p99) = figures[load.name, governor], figures[load.name, "own"]
                if load.better == "higher":
                    self.assertGreaterEqual(mine, own * LEAST[load.name])
                else:
                    self.assertLessEqual(mine, own * 1.2)
                    self.assertLessEqual(mine_p99, own_p99 * 1.3)

    def check_limits(self, name):
        """a task's cap, a domain's limit and its floor hold by each backend, and end"""
        domain = f"policy{CPU}"
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        os.sched_setaffinity(0, set(range(CPU)))  # what looks has no cap, and would lift it there
        with scheduler(name):
            for backend in ("auto", "limits", "setspeed"):
                with self.subTest(backend=backend), guest.BusyLoop(CPU) as loop, \
                        guest.Daemon(f"[wakegov]\nbackend = {backend}\n") as daemon:
                    loop.start()
                    time.sleep(0.5)
                    free_khz = guest.frequency(domain)  # rusty asks schedutil for nothing, and limits leaves it at that
                    for what, settings in (({"pid": loop.pid}, {"cap": "30%"}), ({"domain": domain}, {"max-frequency": "600MHz"})):
                        added = daemon.call("AddOverride", **what, settings=settings)["override"]
                        guest.wait_for(lambda: guest.frequency(domain) < 700000, 15, f"{settings}")
                        daemon.call("CancelOverride", id=added["id"])
                        guest.wait_for(lambda: guest.frequency(domain) > 0.9 * free_khz, 15, f"the end of {settings}")
                    added = daemon.call("AddOverride", domain=domain, settings={"min-frequency": "1400MHz"})["override"]
                    loop.stop()
                    guest.wait_for(lambda: daemon.domain(domain)["target_khz"] == 1400000, 15, "the floor")
                    daemon.call("CancelOverride", id=added["id"])  # else the next daemon has it

    def check_killed(self, name):
        """a scheduler that comes, goes and is killed is said, and what it leaves is driven as before"""
        with guest.Daemon() as daemon:
            for end in (signal.SIGINT, signal.SIGKILL):
                with scheduler(name) as process:
                    guest.wait_for(lambda: daemon.domain("policy0")["backend"] == "setspeed", 5, "setspeed")
                    process.send_signal(end)
                    guest.wait_for(lambda: daemon.domain("policy0")["backend"] == "uclamp", 20, "uclamp again")
            self.assertEqual(guest.read(guest.policy("policy0", "scaling_governor")), "schedutil")


def of(check, name):
    def test(self):
        getattr(self, check)(name)
    test.__doc__ = f"{name}: {getattr(Schedulers, check).__doc__}"
    return test


for scx in ("scx_bpfland", "scx_lavd", "scx_rusty"):
    for kind in ("loads", "limits", "killed"):
        setattr(Schedulers, f"test_{kind}_{scx[4:]}", of(f"check_{kind}", scx))

if __name__ == "__main__":
    tap.main()
