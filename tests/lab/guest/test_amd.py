#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovd beside amd_pstate, on the timed machine with --driver amd, amd-passive or amd-guided."""
import glob
import os
import subprocess
import time
import unittest

import guest
import tap
import utilisation

MODE = {"amd": "active"}.get(os.environ["LAB_DRIVER"], os.environ["LAB_DRIVER"].removeprefix("amd-"))
STATUS = "/sys/devices/system/cpu/amd_pstate/status"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"
DYNAMIC = "/sys/devices/system/cpu/amd_pstate/dynamic_epp"
PLATFORM_PROFILE = "/sys/firmware/acpi/platform_profile"
PREFERENCE = guest.policy("policy1", "energy_performance_preference")
RANKING = "amd_pstate_prefcore_ranking"
NOMINAL_MHZ = 1000
# 1799 on 6.1, which rounds in another way; 1660 with --prefcore, whatever a CPU's own is.
HIGHEST_MHZ = round(int(guest.read(guest.policy("policy1", "cpuinfo_max_freq"))) / 10000) * 10
# The kernel's reference: the midpoint of nominal and boost, amd_set_max_freq_ratio().
REFERENCE_MHZ = (NOMINAL_MHZ + HIGHEST_MHZ) // 2


def backends():
    """
    Those that move the driver. Debian's 6.1 has no clamps, and amd-pstate there does not apply limits
    under schedutil.
    """
    if MODE == "active":
        return ("limits",)
    return ("setspeed",) if os.uname().release.startswith("6.1.") else ("uclamp", "setspeed", "limits")


class Capacity(unittest.TestCase):
    def setUp(self):
        guest.stay_off({1}, self)
        utilisation.keep_limits(self, "policy1")

    def test_as_the_kernel(self):
        """a task's utilisation is what the kernel's own is, within 3 %, at each frequency"""
        with guest.Daemon("[wakegov]\nbackend = observe\n") as daemon:
            for mhz in 600, HIGHEST_MHZ:
                utilisation.set_mhz("policy1", mhz)
                load = utilisation.start_load(1, mhz / utilisation.FASTEST_MHZ)
                right = utilisation.SHARE * min(1, mhz / REFERENCE_MHZ) * 1024
                utilisation.check(self, daemon, "policy1", load, right)
                load.communicate()


class Boost(unittest.TestCase):
    def setUp(self):
        self.addCleanup(guest.write, BOOST, 1)
        self.highest_khz = int(guest.read(guest.policy("policy1", "cpuinfo_max_freq")))

    def runs_at(self, daemon, khz):
        domain = daemon.domain("policy1")
        return domain["target_khz"] == khz and abs(domain["current_khz"] - khz) < 20000

    def test_switched(self):
        """boost that is off at the start is used when it is switched on, and not when off again"""
        path = guest.policy("policy1", "scaling_max_freq")
        for backend in backends():
            with self.subTest(backend=backend):
                guest.write(BOOST, 0)
                guest.wait_for(lambda: int(guest.read(path)) == NOMINAL_MHZ * 1000, 5, "boost is off")
                with guest.Daemon(f"[wakegov]\nbackend = {backend}\n") as daemon, guest.busy_loop(1):
                    for on in (0, 1, 0, 1):
                        khz = self.highest_khz if on else NOMINAL_MHZ * 1000
                        guest.write(BOOST, on)
                        guest.wait_for(lambda: self.runs_at(daemon, khz), 3, f"policy1 at {khz} kHz")
                    self.assertIn(f"policy1: up to {self.highest_khz // 1000} MHz from now on",
                                  daemon.log())
                    self.assertNotIn("leaves it alone", daemon.log())
                self.assertEqual(int(guest.read(path)), self.highest_khz)


@unittest.skipUnless(MODE == "active", "the mode is not active")
class Preference(unittest.TestCase):
    def test_number(self):
        """a preference that is a number is replaced, and comes back"""
        governor = guest.policy("policy1", "scaling_governor")
        self.addCleanup(guest.write, governor, guest.read(governor))
        guest.write(governor, "powersave")
        self.addCleanup(guest.write, PREFERENCE, guest.read(PREFERENCE))
        guest.write(PREFERENCE, 100)
        number = guest.read(PREFERENCE)
        with guest.Daemon("[domain policy1]\nenergy-preference = power\n") as daemon:
            self.assertEqual(guest.read(PREFERENCE), "power", daemon.log())
        self.assertEqual(guest.read(PREFERENCE), number)


@unittest.skipUnless(MODE in ("active", "guided"), "the mode is neither active nor guided")
class OwnClock(unittest.TestCase):
    """CPUs that run at their highest frequency whatever they do: no boost can add to that."""

    def test_left_alone(self):
        """the domains are left to their governor with nothing traced, until a cap asks for them"""
        # A limit of a test before may hold a CPU at a lower frequency, which refutes for minutes that they are fast.
        guest.restart_governors()
        before = guest.snapshot()
        with guest.Daemon() as daemon:
            # An idle machine has nothing to measure, two tasks in turn leave no CPU free enough to judge by.
            commands = subprocess.Popen(["sh", "-c", "while sleep 0.03; do :; done"])
            self.addCleanup(commands.kill)
            guest.wait_for(lambda: daemon.domain("policy1")["state"] == "handed-back", 15, "left alone")
            commands.kill()
            load = subprocess.Popen([f"{guest.BUILD}/tests/lab/chainload", "pipe", "60"])
            self.addCleanup(load.kill)
            self.assertIn("run at their highest frequency by themselves", daemon.domain("policy1")["state_why"])
            self.assertEqual(guest.snapshot(), before)
            wakeups = daemon.call("Status")["self"]["wakeups"]
            time.sleep(5)
            self.assertLess(daemon.call("Status")["self"]["wakeups"] - wakeups, 10)
            daemon.call("AddOverride", pid=load.pid, settings={"cap": "30%"}, for_us=10_000_000)
            guest.wait_for(lambda: daemon.domain("policy1")["state"] == "driven", 1, "governed for the cap")
            self.assertEqual(daemon.stop(), 0)
        self.assertEqual(guest.snapshot(), before)


@unittest.skipUnless(MODE == "active" and os.path.exists(DYNAMIC), "the kernel has no dynamic_epp")
class DynamicPreference(unittest.TestCase):
    """While dynamic_epp is on, the kernel sets the preference, by a platform profile that it then has."""

    def setUp(self):
        for path in glob.glob(f"{guest.CPUFREQ}/policy*/scaling_governor"):
            self.addCleanup(guest.write, path, guest.read(path))
            guest.write(path, "powersave")
        self.addCleanup(guest.write, DYNAMIC, guest.read(DYNAMIC))

    def test_left_alone(self):
        """a preference is not set then, the log and doctor say so, and all is put back"""
        guest.write(DYNAMIC, "enabled")
        before, kernels = guest.snapshot(), guest.read(PREFERENCE)
        with guest.Daemon("[domain policy1]\nenergy-preference = power\n") as daemon:
            self.assertEqual(guest.read(PREFERENCE), kernels)
            self.assertIn("dynamic_epp sets energy_performance_preference", daemon.log())
            self.assertIn("amd-pstate's dynamic_epp: enabled", guest.said("doctor"))
            self.assertEqual(daemon.stop(), 0)
        self.assertEqual(guest.snapshot(), before)

    def test_profile(self):
        """status shows the platform profile, which stays as it is"""
        guest.write(DYNAMIC, "enabled")
        for profile in "low-power", "performance":
            guest.write(PLATFORM_PROFILE, profile)
            kernels = guest.read(PREFERENCE)
            tap.note(f"{profile}: {kernels}")
            with guest.Daemon() as daemon:
                self.assertIn(f"profile {profile}", guest.said("status"))
                self.assertEqual(daemon.stop(), 0)
            self.assertEqual((guest.read(PLATFORM_PROFILE), guest.read(PREFERENCE)), (profile, kernels))


@unittest.skipUnless(os.path.exists(guest.policy("policy1", RANKING)) and
                     len({guest.read(guest.policy(f"policy{cpu}", RANKING)) for cpu in range(4)}) > 1,
                     "the CPUs are ranked alike: no --prefcore")
class PreferredCores(unittest.TestCase):
    """The kernel expects the same of all CPUs, by their rank none of them does more than it can."""

    def test_each(self):
        """each CPU is driven to its highest OPP as the kernel has it, whatever it reaches; all is put back"""
        guest.restart_governors()
        before = guest.snapshot()
        own = {name: int(guest.read(guest.policy(name, RANKING))) * 10 for name in ("policy1", "policy3")}
        self.assertLess(own["policy3"], HIGHEST_MHZ)
        for backend in backends():
            with guest.Daemon(f"[wakegov]\nbackend = {backend}\n") as daemon:
                for name, mhz in own.items():
                    with self.subTest(backend=backend, domain=name):
                        self.reaches(daemon, name, min(mhz, HIGHEST_MHZ))
                self.assertNotIn("leaves it alone", daemon.log())
                self.assertEqual(daemon.stop(), 0)
            self.assertEqual(guest.snapshot(), before)

    def reaches(self, daemon, name, mhz):
        with guest.busy_loop(guest.cpus_of(name)[0]):
            guest.wait_for(lambda: daemon.domain(name)["target_khz"] == HIGHEST_MHZ * 1000, 5, "the target")
            guest.wait_for(lambda: abs(daemon.domain(name)["current_khz"] - mhz * 1000) < 20000, 5,
                           f"{mhz} MHz")


class Guided(unittest.TestCase):
    def test_cap(self):
        """auto takes limits, by which a cap holds: beyond what schedutil chooses for a clamp the CPU goes by itself"""
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        os.sched_setaffinity(0, {1})  # what looks has no cap
        with guest.BusyLoop(0) as loop, guest.Daemon() as daemon:
            daemon.call("AddOverride", pid=loop.pid, settings={"cap": "30%"})
            loop.start()
            guest.wait_for(lambda: guest.frequency("policy0") < 700000, 5, "the cap")
            self.assertEqual(daemon.domain("policy0")["backend"], "limits")
        with self.assertRaisesRegex(AssertionError, "clamps cap nothing"), guest.Daemon("[wakegov]\nbackend = uclamp\n"):
            pass


class Modes(unittest.TestCase):
    def switch(self, mode):
        guest.write(STATUS, mode)
        self.assertEqual(guest.read(STATUS), mode)

    def test_switched(self):
        """the mode is switched while wakegovd governs: it ends if its driver is gone, and nothing of it stays"""
        fresh = {}
        for mode in ("active", "passive", "guided"):
            self.switch(mode)
            fresh[mode] = guest.snapshot()
        for before, mode, backend in (("passive", "active", "uclamp"), ("active", "passive", "limits"),
                                      ("passive", "guided", "auto"), ("guided", "passive", "auto"),
                                      ("passive", "active", "setspeed"), ("active", MODE, "limits")):
            with self.subTest(before=before, mode=mode, backend=backend):
                self.switch(before)
                self.switched(before, mode, backend)
                # As the unit does: while drivers change a domain can be one that has no CPU online.
                guest.restore()
                self.assertEqual(guest.snapshot(), fresh[mode])
                self.assertFalse(os.path.exists("/run/wakegov/originals"))

    def switched(self, before, mode, backend):
        policy = f"[wakegov]\nbackend = {backend}\n[domain policy2]\nmax-frequency = 1000MHz\n"
        with guest.Daemon(policy) as daemon, guest.busy_loop(1):
            guest.wait_for(lambda: daemon.domain("policy1")["target_khz"] == 1800000, 5, "busy")
            guest.write(STATUS, mode)
            time.sleep(1)
            if "active" in (before, mode) and before != mode:
                self.assertEqual(daemon.process.wait(timeout=60 * guest.PATIENCE), 1)
                self.assertEqual(daemon.log().count("its cpufreq driver is gone"), 1, daemon.log())
            else:
                self.assertEqual(daemon.domain("policy1")["state"], "driven")
                self.assertEqual(daemon.domain("policy1")["backend"], "limits" if mode == "guided" else "uclamp")


class Advice(unittest.TestCase):
    def test_doctor(self):
        """doctor says what the driver is, what drives it, and how to have more"""
        said = guest.said("doctor")
        name = "amd-pstate-epp" if MODE == "active" else "amd-pstate"
        self.assertIn(f": driver: {name} ", said)
        self.assertEqual("boot with amd_pstate=passive" in said, MODE == "active")
        self.assertNotIn("bad ", said)


if __name__ == "__main__":
    tap.main()
