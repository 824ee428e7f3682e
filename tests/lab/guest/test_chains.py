#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tasks that work for each other in turn, under wakegovd on the timed machine.

Figures: what they do under each backend, of what they do under performance, in this start of the
machine. Chains: what the daemon says of them, and that nothing is left behind. Ways: who wakes whom on this kernel.
"""
import contextlib
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
import unittest

import guest
import programs_workloads
import table_programs as programs
import workloads
import tap

BACKENDS = ("wakegov", "wakegov_setspeed", "wakegov_limits")
# Of performance's. A token takes two more switches a turn, for its mutex, and a daemon that only watches leaves 0.92.
LEAST = {"chain-token": 0.86, "chain-pipe": 0.96, "chain-unix": 0.96, "chain-udp": 0.96,
         "chain-tcp": 0.96, "script": 0.92}
TIMERS_MHZ = 0.05  # by which two loads with timers of their own may differ from what they have without
CPUS = (2, 3)  # where the chain runs, and nothing of the test
LOOKS = 10
NOTICED_MS = 250  # a change of load, where no person waits
AT_ONCE_MS = 10  # where a move did not end the pause of 33 ms, half of ten moves took 12 ms or more
CHANGES_PER_S = 3  # of each domain, from one to another of which a chain hops
FRAME_US = 1e6 / 60
LOWEST_KHZ, HIGHEST_KHZ = 400000, 1800000
INPUT_MOST = 1.5  # of what the work after a key press takes at the highest OPP; without chains it is 4
CHAIN_DOMAINS = ("policy2", "policy3")
UNBOUND = "/sys/devices/virtual/workqueue/cpumask"
WRITER = f"""import os
log = os.open("{workloads.DISK}/log", os.O_CREAT | os.O_WRONLY)
while True:
    os.write(log, bytes(4096)); os.fdatasync(log)
"""
LOOP = f"""import os, time
def work(for_s):
    end = time.monotonic() + for_s
    while time.monotonic() < end: pass
def rename(name):
    with open("/proc/self/comm", "w") as file: file.write(name)
pipes = [os.pipe() for _ in {CPUS}]
for (reader, _), cpu in zip(pipes, {CPUS}):
    if os.fork() == 0:
        rename("sleeper"); os.sched_setaffinity(0, [cpu])
        while os.read(reader, 1): work({{work_s}})
if {{relayed}}:
    reader, writer = os.pipe()
    if os.fork() == 0:
        rename("relay"); os.sched_setaffinity(0, [0])
        while os.read(reader, 1):
            for _, end in pipes: os.write(end, b"x")
    pipes = [(reader, writer)]
rename("loop"); os.sched_setaffinity(0, [1])
while True:
    for _, writer in pipes: os.write(writer, b"x")
    work({{each_s}})
"""
POLICY = "[wakegov]\nbackend = {}\n[utilisation]\nchains = {}\n"


@contextlib.contextmanager
def token():
    """Two threads that hand a token to and fro, each on a CPU of its own: on one CPU they are no chain."""
    with subprocess.Popen([f"{guest.BUILD}/tests/lab/chainload", "token", "1000"],
                          stdout=subprocess.DEVNULL) as load:
        try:
            tasks = f"/proc/{load.pid}/task"
            guest.wait_for(lambda: len(os.listdir(tasks)) == 1 + len(CPUS), 5, "the threads")
            for tid, cpu in zip(sorted(map(int, set(os.listdir(tasks)) - {str(load.pid)})), CPUS):
                os.sched_setaffinity(tid, {cpu})
            yield load
        finally:
            load.kill()


@contextlib.contextmanager
def settled(cpu):
    """Beside a chain that goes on as it is, chains are followed for a fifth of the time."""
    with subprocess.Popen(["taskset", "-c", str(cpu), f"{guest.BUILD}/tests/lab/chainload", "pipe", "1000"],
                          stdout=subprocess.DEVNULL) as load:
        try:
            time.sleep(1)
            yield
        finally:
            load.kill()


def highest():
    """The domains at their highest OPP; a measured frequency is by chance a little above or below it."""
    return {name for name in programs.policies()
            if int(guest.read(guest.policy(name, "scaling_cur_freq"))) >
            0.99 * int(guest.read(guest.policy(name, "cpuinfo_max_freq")))}


def half_of_machine(name):
    """In kHz, of the machine's capacity; the OPP for it where there are some, at most the highest."""
    highest = int(guest.read(guest.policy(name, "cpuinfo_max_freq")))
    half = min(highest * 512 // guest.capacity(guest.cpus_of(name)[0]), highest)
    try:
        opps = guest.read(guest.policy(name, "scaling_available_frequencies")).split()
    except FileNotFoundError:
        return half
    return min(khz for khz in map(int, opps) if khz >= half)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        programs.prepare()

    def run_all(self, name):
        load, runs = programs_workloads.named(name), {}
        for governor in ("performance", "own", *BACKENDS):
            with programs.governed(governor):
                runs[governor] = run = programs.measure(load, 1, governor)
            best = runs["performance"]["figure"]
            ratio = run["figure"] / best if load.better == "higher" else best / run["figure"]
            run["ratio"] = ratio
            tap.note(f"{name}, {governor}: {ratio:.3f} of performance, {run['mean_mhz']:.0f} MHz, "
                     f"{run['joule'] / runs['performance']['joule']:.2f} of its energy, "
                     f"{run['changes_per_s']:.1f} changes/s")
        return runs

    def test_chains(self):
        for name, least in LEAST.items():
            runs = self.run_all(name)
            for governor in BACKENDS:
                with self.subTest(load=name, governor=governor):
                    self.assertGreaterEqual(runs[governor]["ratio"], least)

    def test_timers(self):
        runs = self.run_all("chain-timers")
        own = runs["own"]["mean_mhz"]
        self.assertLess(abs(runs["wakegov"]["mean_mhz"] - own), own * TIMERS_MHZ)


class LoadAlone(guest.EndsKept, unittest.TestCase):
    """The load has CPUS for itself."""
    def setUp(self):
        guest.stay_off(CPUS, self)


class Chains(guest.EachBackend, LoadAlone):
    @contextlib.contextmanager
    def governed(self, backend):
        guest.KeptDaemon.end()
        guest.restart_governors()
        self.before = guest.snapshot()
        with guest.Daemon(POLICY.format(backend, "on")) as daemon:
            yield daemon
            self.assertEqual(daemon.stop(), 0)
        guest.wait_for(lambda: guest.snapshot() == self.before, 10, "everything put back")

    def whole_chain(self, daemon):
        """Of the load, once it is known to be all of a CPU: that takes longer on a slow one."""
        chains = filter(None, (self.chain_of(daemon, name) for name in programs.policies()))
        return next((chain for chain in chains if chain["chain"]["share_permille"] > 900), None)

    def chain_of(self, daemon, name):
        """The load's chain, where it asks for most of the domain's; None: it does not."""
        found = (daemon.call("Explain", domain=name)["decision"] or {}).get("contenders", [])
        return next((contender for contender in found if contender["reason"] == "chain" and
                     contender["comm"] == "chainload"), None)

    @staticmethod
    def is_counted(daemon):
        """Whether the chain's time is in the statistics."""
        return any(time["reason"] == "chain" for domain in daemon.call("Stats")["domains"]
                   for time in domain["times"])

    def check(self, backend):
        with self.governed(backend) as daemon:
            with token() as load:
                guest.wait_for(highest, 10, "a domain at its highest OPP")
                seen = []
                took_s = guest.wait_for(lambda: seen.append(self.whole_chain(daemon)) or seen[-1], 2,
                                        "a chain of all of a CPU")
                chain = seen[-1]
                tap.note(f"{backend}: after {took_s:.1f} s {chain}")
                self.assertEqual((chain["comm"], chain["chain"]["comm"]),
                                 ("chainload", "chainload"))
                self.assertNotEqual(chain["pid"], chain["chain"]["pid"])
                guest.wait_for(lambda: re.search(
                    r"chain of chainload \(pid \d+\) and chainload \(pid \d+\): together (9\d|100) % of a "
                    "CPU", guest.said("explain")), 5, "explain names the chain")
                guest.wait_for(lambda: re.search(
                    r"chainload \S+ chainload \(pid \d+\) (9\d|100) %", guest.said("tasks")), 5,
                    "tasks names it")
                guest.wait_for(lambda: self.is_counted(daemon), 5, "stats counts it")
                began_us = time.monotonic() * 1e6
                time.sleep(1)
                changes = sum(decision["monotonic_us"] >= began_us for decision in daemon.decisions())
                tap.note(f"{backend}: {changes} changes in a second")
                self.assertLessEqual(changes, CHANGES_PER_S * len(programs.policies()))
                self.assertIsNone(load.poll())
            guest.wait_for(lambda: not highest(), 10, "all domains down again")
            guest.wait_for(lambda: not any(self.chain_of(daemon, name) for name in programs.policies()), 10,
                           "no chain any more")

    def test_moves(self):
        """A chain that goes on as it is is not followed all the time, but where it comes to another CPU, at once"""
        daemon = guest.KeptDaemon.with_policy(POLICY.format("setspeed", "on"))
        took_ms = []

        def first_rise(name, since_us):
            return next((decision["monotonic_us"] for decision in daemon.decisions()
                         if decision["domain"] == name and decision["monotonic_us"] > since_us and
                         decision["target_khz"] > decision["previous_khz"]), None)
        domain_of = {cpu: name for name in programs.policies() for cpu in guest.cpus_of(name)}
        away = next(cpu for cpu in sorted(domain_of) if cpu and domain_of[cpu] != domain_of[CPUS[0]])
        with token() as load:
            moves = max(map(int, os.listdir(f"/proc/{load.pid}/task")))
            for cpu in (away, CPUS[1]) * (LOOKS // 2):
                time.sleep(0.5)
                moved_us, rise = time.monotonic() * 1e6, []
                os.sched_setaffinity(moves, {cpu})
                if domain_of[cpu] == domain_of[CPUS[0]]:  # where the other one is
                    continue
                guest.wait_for(lambda: rise.append(first_rise(domain_of[cpu], moved_us)) or rise[-1], 1,
                               f"a rise on CPU {cpu}")
                took_ms.append((rise[-1] - moved_us) / 1000)
        tap.note("it rises after " + " ".join(f"{took:.1f}" for took in took_ms) + " ms")
        self.assertLess(max(took_ms), AT_ONCE_MS)

    def test_begins(self):
        """Beside a chain that goes on as it is, one that begins is seen within a quarter of a second"""
        daemon = guest.KeptDaemon.with_policy(POLICY.format("setspeed", "on"))
        took_ms = []

        def at_highest():
            return {name for name in CHAIN_DOMAINS if daemon.domain(name)["target_khz"] == HIGHEST_KHZ}
        with settled(1), token() as load:
            for _ in range(LOOKS):
                load.send_signal(signal.SIGSTOP)
                guest.wait_for(lambda: not at_highest(), 5, "the fall")
                time.sleep(0.2)
                load.send_signal(signal.SIGCONT)
                took_ms.append(1000 * guest.wait_for(at_highest, 5, "a rise"))
        tap.note("it rises after " + " ".join(f"{took:.1f}" for took in took_ms) + " ms")
        self.assertLess(max(took_ms), NOTICED_MS)

    def test_chains_off(self):
        daemon = guest.KeptDaemon.with_policy(POLICY.format("setspeed", "off"))
        with token():
            time.sleep(1)
            self.assertFalse(any(self.chain_of(daemon, name) for name in programs.policies()))

    def test_cap(self):
        """A capped chain asks for no more than its cap."""
        rule = "[rule slow]\ncomm = chainload\ncap = 50%\n"
        daemon = guest.KeptDaemon.with_policy(POLICY.format("setspeed", "on") + rule)
        with token():
            guest.wait_for(lambda: any(self.chain_of(daemon, name) for name in programs.policies()), 10,
                           "a chain")
            # A thread that began before its process was known is found by the next scan.
            time.sleep(1.5)
            shares = set()
            # A chain that moves is in no domain for a moment, or just beginning in the next.
            for _ in range(LOOKS):
                shares |= {daemon.domain(name)["target_khz"] / half_of_machine(name)
                           for name in programs.policies() if self.chain_of(daemon, name)}
                time.sleep(0.05)
        # All of one CPU, of which the cap leaves half of the machine's capacity.
        self.assertEqual(max(shares), 1)


class Ways(unittest.TestCase):
    def test_ways(self):
        """Who wakes whom, by the native test, with what this machine's kernel may lack: nbd"""
        for module in ("nbd", "fuse", "veth", "loop", "ext4"):
            subprocess.run(["modprobe", module], check=True)
        disk = guest.null_blk("null_blk_create", "memory_backed=1", "size=500", "completion_nsec=100000")
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(f"mkfs.ext4 -q {disk} && mount {disk} {directory}", shell=True, check=True)
            try:
                done = subprocess.run([f"{guest.BUILD}/tests/native/test-tracer-wakers"], cwd=directory, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env={**os.environ, "WAKEGOV_BUILD": guest.BUILD})
            finally:
                subprocess.run(["umount", directory], check=True)
        for line in done.stdout.splitlines():
            tap.note(line)
        self.assertEqual(done.returncode, 0)
        self.assertIn("nbd: ", done.stdout)
        self.assertNotIn("not here", done.stdout)


class Workers(LoadAlone):
    def setUp(self):
        super().setUp()
        workloads.ext4()
        before = guest.read(UNBOUND)
        guest.write(UNBOUND, f"{1 << CPUS[1]:x}")
        self.addCleanup(guest.write, UNBOUND, before)
        # The journal's thread has a share of its own, and is not to be on that CPU.
        journal = subprocess.run(["pgrep", "^jbd2/"], check=True, text=True, capture_output=True).stdout
        os.sched_setaffinity(int(journal), {0})

    def test_worker(self):
        """A kernel worker that ends a task's writes does little, and yet the task waits for it: as fast as for the task"""
        daemon = guest.KeptDaemon.with_policy(POLICY.format("setspeed", "on") + "[io-boost]\nenabled = no\n")
        domain = next(name for name in programs.policies() if CPUS[1] in guest.cpus_of(name))

        def chain():
            return next((found for found in (daemon.call("Explain", domain=domain)["decision"] or {}).get("contenders", [])
                         if found["reason"] == "chain" and found["pid"] == writer.pid), None)
        with subprocess.Popen(["taskset", "-c", str(CPUS[0]), "python3", "-c", WRITER]) as writer:
            try:
                guest.wait_for(chain, 10, "the writer's chain where its worker is")
                time.sleep(1.5)  # of a chain that has just begun little is known
                targets = [daemon.domain(domain)["target_khz"] for _ in range(LOOKS) if not time.sleep(0.05)]
            finally:
                writer.kill()
        tap.note(f"{domain}, where only the worker runs: {' '.join(str(khz // 1000) for khz in targets)} MHz")
        # 900 to 1000 MHz in six starts, but for one look of 10 in three of them; the worker's own need is the lowest.
        self.assertGreater(statistics.median(targets), 2 * LOWEST_KHZ)
        self.assertGreater(sorted(targets)[1], LOWEST_KHZ)


class Takers(LoadAlone):
    def targets(self, mode):
        """Where only the third thread of the load runs, which does little; before, all of them were there"""
        daemon = guest.KeptDaemon.with_policy(POLICY.format("setspeed", "on"))
        domain = next(name for name in programs.policies() if CPUS[1] in guest.cpus_of(name))
        with subprocess.Popen(["taskset", "-c", str(CPUS[1]), f"{guest.BUILD}/tests/lab/chainload", mode, "1000"],
                              stdout=subprocess.DEVNULL) as load:
            try:
                tasks = f"/proc/{load.pid}/task"
                guest.wait_for(lambda: len(os.listdir(tasks)) == 4, 5, "the threads")
                time.sleep(0.5)
                for tid in sorted(map(int, os.listdir(tasks)))[1:3]:
                    os.sched_setaffinity(tid, {CPUS[0]})
                time.sleep(0.5)
                targets = [daemon.domain(domain)["target_khz"] for _ in range(LOOKS) if not time.sleep(0.05)]
            finally:
                load.kill()
        tap.note(f"{mode}: {' '.join(str(khz // 1000) for khz in targets)} MHz")
        return targets

    def test_taker(self):
        """One that takes over what a chain waits for is as fast as the chain needs, however little it does"""
        self.assertGreater(min(self.targets("taking-over")), 2 * LOWEST_KHZ)

    def test_beside(self):
        """One for which none waits is as fast as it needs itself"""
        self.assertLess(max(self.targets("one-beside")), 2 * LOWEST_KHZ)


class Sleepers(LoadAlone):
    def targets(self, work_s, policy="", relayed=False, each_s=0.03, backend="setspeed"):
        """Where a loop on another CPU wakes one each 30 ms, which works so long, and for which it does not wait"""
        daemon = guest.KeptDaemon.with_policy(POLICY.format(backend, "on") + policy)
        domains = [name for name in programs.policies() if set(CPUS) & set(guest.cpus_of(name))]
        with subprocess.Popen(["python3", "-c", LOOP.format(work_s=work_s, relayed=relayed, each_s=each_s)], start_new_session=True) as loop:
            try:
                time.sleep(1)
                targets = [daemon.domain(name)["target_khz"] for _ in range(LOOKS) for name in domains
                           if not time.sleep(0.02)]
            finally:
                os.killpg(loop.pid, 9)
        tap.note(f"{work_s * 1000:.1f} ms: {' '.join(str(khz // 1000) for khz in targets)} MHz")
        return targets

    def test_tiny(self):
        """One that has next to nothing of its chain's time asks for what it needs itself"""
        self.assertLess(max(self.targets(0)), 2 * LOWEST_KHZ)

    def test_not_awaited(self):
        """Those that a loop wakes, itself or through another, ask for what they need themselves, as it never waits for them"""
        for backend, relayed in ("setspeed", False), ("setspeed", True), ("limits", False), ("uclamp", False):
            with self.subTest(backend=backend, relayed=relayed):
                self.assertLess(max(self.targets(0.0003, "", relayed, 0.002, backend)), 2 * LOWEST_KHZ)

    def test_capped(self):
        """The cap of a loop holds for those that it wakes, itself or through another, which have none, on each CPU"""
        for relayed in False, True:
            with self.subTest(relayed=relayed):
                self.assertGreater(max(self.targets(0.003, "", relayed)), 2 * LOWEST_KHZ)
                capped = self.targets(0.003, "[rule loop]\ncomm = loop\ncap = 30%\n", relayed)
                self.assertLess(max(capped), 2 * LOWEST_KHZ)


class Frames(LoadAlone):
    def check(self, backend):
        """A chain that comes each 17 ms and needs more or less keeps its frequency, and is done in time"""
        daemon = guest.KeptDaemon.with_policy(POLICY.format(backend, "on"))
        began_us = time.monotonic() * 1e6
        with subprocess.Popen(workloads.frameload("browser").split(), text=True,
                              stdout=subprocess.PIPE) as load:
            time.sleep(0.1)
            children = guest.read(f"/proc/{load.pid}/task/{load.pid}/children").split()
            for pid, cpu in zip((load.pid, *map(int, children)), (*CPUS, CPUS[1])):
                os.sched_setaffinity(pid, {cpu})
            done, p50_us, p99_us = map(float, load.communicate()[0].split())
        ended_us = time.monotonic() * 1e6
        lowest = sum(began_us + 1e6 < decision["monotonic_us"] < ended_us and
                     decision["domain"] in CHAIN_DOMAINS and
                     decision["target_khz"] <= LOWEST_KHZ for decision in daemon.decisions())
        tap.note(f"{backend}: {done} % are done, after {p50_us:.0f} us, {p99_us:.0f} at the 99th "
                 f"percentile, {lowest} times at the lowest OPP in between")
        self.assertGreaterEqual(done, 98)
        self.assertLess(p99_us, FRAME_US)
        self.assertEqual(lowest, 0)

    def test_limits(self):
        self.check("limits")

    def test_uclamp(self):
        self.check("uclamp")


class Input(guest.EachBackend, LoadAlone):
    """What a key press wakes: real interrupts of the keyboard's controller, after a second of idleness each"""
    def setUp(self):
        super().setUp()
        workloads.input_devices()

    @staticmethod
    def run_load(mode):
        """The median of what it takes from the event to the end of its work, in us"""
        cpus = ",".join(map(str, CPUS))
        done = subprocess.run(["taskset", "-c", cpus, *workloads.frameload(mode, 5).split()], text=True, check=True,
                              stdout=subprocess.PIPE)
        return float(done.stdout.split()[1])

    @staticmethod
    def seen(daemon):
        """How many events began a chain"""
        return next(program["events"] for program in daemon.call("Status")["programs"]
                    if program["name"] == "add_input_randomness")

    @contextlib.contextmanager
    def highest(self):
        guest.KeptDaemon.end()
        guest.set_governor("performance")
        try:
            yield
        finally:
            guest.set_governor(programs.own_governor())

    def times(self, backend, chains):
        """Under performance and under wakegov"""
        with self.highest():
            best_us = self.run_load("key")
        daemon = guest.KeptDaemon.with_policy(POLICY.format(backend, chains))
        with settled(1):
            took_us = self.run_load("key")
        tap.note(f"{backend}, chains {chains}: {took_us:.0f} us after a key press, {best_us:.0f} at the highest "
                 f"OPP: {took_us / best_us:.2f}; {self.seen(daemon)} events")
        return best_us, took_us

    def check(self, backend):
        best_us, took_us = self.times(backend, "on")
        self.assertLessEqual(took_us, INPUT_MOST * best_us)

    def test_off(self):
        best_us, took_us = self.times("limits", "off")
        self.assertGreater(took_us, 2 * best_us)

    def test_mouse(self):
        """A mouse that moves each 8 ms raises nothing, though each move reports its buttons as well"""
        daemon = guest.KeptDaemon.with_policy(POLICY.format("limits", "on"))
        began_us, before = time.monotonic() * 1e6, self.seen(daemon)
        self.run_load("mouse")
        raised = [decision for decision in daemon.decisions() if decision["monotonic_us"] > began_us + 1e6 and
                  decision["domain"] in CHAIN_DOMAINS and decision["target_khz"] > 2 * LOWEST_KHZ]
        self.assertEqual((self.seen(daemon), raised), (before, []))


if __name__ == "__main__":
    tap.main()
