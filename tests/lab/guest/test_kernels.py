#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The same promises on every kernel; argv[1] lists what this machine lacks, as in LACKING; or none."""
import os
import re
import subprocess
import sys
import time
import unittest

import guest
import tap

LACKS = set()
MISSING = {
    "uclamp": "no backend uclamp here: it needs CONFIG_UCLAMP_TASK=y",
    "tick": "policy2: scheduler's tick",
    "cpufreq": "there is nothing to drive: ",
    "btf": "it needs CONFIG_DEBUG_INFO_BTF=y",
}
# Without timers nothing is to be done, and doctor is silent: the log says it.
LACKING = set(MISSING) | {"timers"}


def as_unit():
    """What the unit may do, as a command's beginning."""
    unit = guest.read(f"{guest.REPO}/systemd/wakegovd.service.in")
    names = re.search(r"^CapabilityBoundingSet=(.*)$", unit, re.M).group(1).lower()
    only = "-all" + "".join(f",+{name.removeprefix('cap_')}" for name in names.split())
    return "setpriv", f"--bounding-set={only}", f"--inh-caps={only}"


def policy_text():
    """A named backend is refused where auto leaves a domain alone."""
    return "" if LACKS & {"tick", "cpufreq"} else "[wakegov]\nbackend = setspeed\n"


def ctl(*arguments):
    done = subprocess.run([f"{guest.BUILD}/wakegovctl", *arguments], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


class Kernels(unittest.TestCase):
    def setUp(self):
        self.before = guest.snapshot()
        self.has_domains = "cpufreq" not in LACKS
        if self.has_domains:
            self.cpus = guest.cpus_of("policy0")
            self.highest = int(guest.read(guest.policy("policy0", "cpuinfo_max_freq")))
            if len(self.cpus) < os.cpu_count():
                guest.stay_off(self.cpus, self)
        if "btf" not in LACKS:
            self.daemon = guest.Daemon(policy_text(), prefix=as_unit()).start()
            self.addCleanup(self.daemon.stop)

    def need(self, *things):
        lacking = LACKS & set(things)
        if lacking:
            self.skipTest(f"lacks {', '.join(sorted(lacking))}")

    def wait_khz(self, khz):
        guest.wait_for(lambda: guest.frequency("policy0") == khz, 5, f"policy0 at {khz}")

    def test_a_starts(self):
        """starts with the unit's capabilities, and every domain, or says what is missing"""
        if "btf" in LACKS:
            status, log = guest.Daemon(policy_text()).run_to_end()
            self.assertEqual(status, 1)
            self.assertEqual(log.count("this kernel has no type information"), 1, log)
            self.assertEqual(guest.snapshot(), self.before)
            return
        self.assertEqual(self.daemon.log().count("no BPF timers on this kernel"),
                         int("timers" in LACKS), self.daemon.log())
        names = {domain["name"] for domain in self.daemon.call("Domains")["domains"]}
        there = os.listdir(guest.CPUFREQ) if self.has_domains else []
        self.assertEqual(names, {name for name in there if name.startswith("policy")})

    def test_b_load(self):
        """a busy loop has the highest OPP, and an idle domain the lowest"""
        self.need("cpufreq", "btf")
        with guest.busy_loop(self.cpus[-1]):
            self.wait_khz(self.highest)
        time.sleep(1)
        before = guest.time_in_state("policy0")
        time.sleep(3)
        # The test itself may run there.
        self.assertGreater(guest.share_at_lowest(before, guest.time_in_state("policy0")), 0.5)

    def test_c_cap(self):
        """an override's max holds under load, and ends"""
        self.need("cpufreq", "btf")
        with guest.busy_loop(self.cpus[-1]):
            override = self.daemon.call("AddOverride", domain="policy0", settings={"max-frequency": "1GHz"},
                                        for_us=600_000_000)["override"]["id"]
            self.wait_khz(1000000)
            before = guest.time_in_state("policy0")
            time.sleep(1)
            after = guest.time_in_state("policy0")
            self.assertEqual({khz for khz in after if after[khz] > before[khz]}, {1000000})
            self.daemon.call("CancelOverride", id=override)
            self.wait_khz(self.highest)

    def test_d_io(self):
        """a task that waits for I/O is seen"""
        self.need("btf")
        load = guest.start_load("psync", "--file", guest.null_blk(), "--time",
                                "60")
        try:
            guest.wait_for(lambda: any(task["comm"] == "freqload" for task in
                                       self.daemon.call("Tasks")["tasks"]), 5, "the task seen")
        finally:
            load.terminate()
            load.wait()

    def test_e_told(self):
        """doctor names what is missing and nothing else; status and explain answer"""
        _, found = ctl("doctor")
        for thing, words in MISSING.items():
            with self.subTest(thing=thing):
                self.assertEqual(words in found, thing in LACKS, found)
        status, said = ctl("status")
        self.assertEqual(status == 0, "btf" not in LACKS, said)
        if not LACKS & {"cpufreq", "btf"}:
            status, said = ctl("explain", "policy0")
            self.assertEqual(status, 0, said)
            self.assertIn("policy0", said)

    def test_f_restored(self):
        """after SIGTERM every control is as it was"""
        self.need("btf")
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(guest.snapshot(), self.before)


def main():
    LACKS.update(set(sys.argv.pop(1).split(",")) - {"none"})
    assert LACKS <= LACKING, LACKS
    if "btf" in LACKS:
        subprocess.run(["mount", "-t", "tmpfs", "none", "/sys/kernel/btf"], check=True)
    tap.main()


if __name__ == "__main__":
    main()
