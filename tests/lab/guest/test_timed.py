#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The timed machine itself: speed is what the driver was asked for, and the counters tell it."""
import contextlib
import glob
import hashlib
import os
import shutil
import sqlite3
import statistics
import struct
import subprocess
import time
import unittest

import guest
import tap
import utilisation

DRIVERS = {"acpi": "acpi-cpufreq", "msr": "acpi-cpufreq", "pstate": "intel_cpufreq",
           "hwp-passive": "intel_cpufreq", "pstate-active": "intel_pstate", "hwp": "intel_pstate",
           "amd": "amd-pstate-epp", "amd-passive": "amd-pstate", "amd-guided": "amd-pstate"}
CHOOSING = ("hwp", "hwp-passive", "amd")
OPPS_MHZ = (1800, 1400, 1000, 600, 400)
APERF, MPERF, TURBO_LIMITS, BASE_MHZ = 0xe8, 0xe7, 0x1ad, 1000
PACKAGE_ENERGY, ENERGY_UNITS = 0x611, 1 << 20  # of a joule
# A work takes less than a millisecond at the highest OPP: some repetitions are free of ticks.
REPETITIONS = 12


def set_mhz(cpu, mhz):
    """By the limits, which every driver obeys; an HWP looks at them each half a millisecond."""
    utilisation.set_mhz(f"policy{cpu}", mhz)
    time.sleep(0.01)


def counter(cpu, number):
    with open(f"/dev/cpu/{cpu}/msr", "rb") as file:
        file.seek(number)
        return struct.unpack("Q", file.read(8))[0]


def set_counter(cpu, number, value):
    with open(f"/dev/cpu/{cpu}/msr", "wb") as file:
        file.seek(number)
        file.write(struct.pack("Q", value))


def timed_ns(work):
    start = time.monotonic_ns()
    work()
    return time.monotonic_ns() - start


def least_ns(work):
    return min(timed_ns(work) for _ in range(REPETITIONS))


def loop():
    for _ in range(1000):
        pass


def database_work():
    """Rows are read from memory: what is written would grow SQLite's own memory, now and then."""
    database = sqlite3.connect(":memory:")
    database.execute("create table t(a, b)")
    database.executemany("insert into t values (?, ?)", ((x, x * 7919 % 101) for x in range(500)))
    return lambda: database.execute("select sum(a) from t where b % 3 = 1").fetchall()


class Program:
    """A program that does its work for each line, and answers how long that took."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def least_ns(self):
        found = []
        for _ in range(4 * REPETITIONS):
            self.process.stdin.write("10\n")
            found.append(int(self.process.stdout.readline().split()[0]))
        return min(found)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Timed(unittest.TestCase):
    def setUp(self):
        for cpu in range(os.cpu_count()):
            set_mhz(cpu, OPPS_MHZ[0])
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        os.sched_setaffinity(0, {0})

    def check_scales(self, name, measure, delta=0.01):
        measure()
        cycles = {}
        for mhz in OPPS_MHZ:
            set_mhz(0, mhz)
            cycles[mhz] = measure() * mhz / 1000
            tap.note(f"{name} at {mhz} MHz: {cycles[mhz]:.3f} cycles")
        for mhz, count in cycles.items():
            self.assertAlmostEqual(count / cycles[OPPS_MHZ[0]], 1, delta=delta, msg=f"{mhz} MHz")

    def test_loop(self):
        """A loop takes as many cycles at each OPP, within 1 %"""
        self.check_scales("loop", lambda: least_ns(loop))

    def test_rows(self):
        """SQLite takes as many cycles at each OPP, within 1 %"""
        work = database_work()
        self.check_scales("rows", lambda: least_ns(work))

    def test_two(self):
        """Two busy CPUs do not slow each other"""
        alone = least_ns(loop)
        set_mhz(2, OPPS_MHZ[-1])
        with guest.busy_loop(2):
            beside = least_ns(loop)
        tap.note(f"alone {alone} ns, beside a slow one {beside} ns")
        self.assertAlmostEqual(beside / alone, 1, delta=0.01)

    def test_counters(self):
        """APERF and MPERF give the frequency of a busy CPU, within 0.5 %"""
        subprocess.run(["modprobe", "msr"], check=True)
        for mhz in OPPS_MHZ:
            set_mhz(0, mhz)
            aperf, mperf = counter(0, APERF), counter(0, MPERF)
            for _ in range(20):
                loop()
            found = (counter(0, APERF) - aperf) / (counter(0, MPERF) - mperf) * BASE_MHZ
            tap.note(f"{mhz} MHz: {found:.3f} by APERF and MPERF")
            self.assertAlmostEqual(found / mhz, 1, delta=0.005)

    def test_heat(self):
        """A limit that nobody announces holds at once, and goes"""
        subprocess.run(["modprobe", "msr"], check=True)
        limits = counter(0, TURBO_LIMITS)
        free = least_ns(loop)
        set_counter(0, TURBO_LIMITS, 0x0606060606060606)
        limited = least_ns(loop)
        set_counter(0, TURBO_LIMITS, limits)
        tap.note(f"free {free} ns, limited to 600 MHz {limited} ns")
        self.assertAlmostEqual(limited / free, 3, delta=0.03)
        self.assertAlmostEqual(least_ns(loop) / free, 1, delta=0.01)

    def test_written_counters(self):
        """Counters jump and go back when they are written, and count on"""
        subprocess.run(["modprobe", "msr"], check=True)
        for number in APERF, MPERF:
            set_counter(0, number, 1 << 40)
            self.assertGreater(counter(0, number), 1 << 40)
            set_counter(0, number, 1000)
            self.assertLess(counter(0, number), 1 << 40)
            self.assertGreater(counter(0, number), 1000)


CHASE = r"""
#include <stdio.h>
#include <time.h>
#define N (8 << 20 >> 6) /* 64 bytes each: more than the cache has */
static void *line[N][8];
int main(void)
{
	struct timespec a, b;
	void **p = line[0];
	char ask[16];

	/* A step of odd size goes through all lines, and none is a neighbour of the last. */
	for (unsigned i = 0; i < N; i++)
		line[i * 40503u % N][0] = line[(i + 1) * 40503u % N];
	while (fgets(ask, sizeof(ask), stdin)) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < 5000; i++)
			p = *p;
		clock_gettime(CLOCK_MONOTONIC, &b);
		printf("%ld %d\n", (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec, !p);
		fflush(stdout);
	}
}
"""


def compiling():
    subprocess.run(["gcc", "-O1", "-x", "c", "-o", "/tmp/chase", "-"], input=CHASE, text=True,
                   check=True)


class Stalls(unittest.TestCase):
    """With --stalls, how many times as long a work takes at 400 MHz as at 1800"""

    def setUp(self):
        os.sched_setaffinity(0, {0})

    @classmethod
    def tearDownClass(cls):
        """What differs in the least between two runs shows here."""
        for name in ("interrupts", "softirqs", "vmstat", "stat"):
            with open(f"/proc/{name}", encoding="ascii") as file:
                tap.note(f"{name}: {hashlib.sha256(file.read().encode()).hexdigest()}")
        tap.note(f"all took {time.monotonic_ns()} ns")

    def check_ratio(self, name, measure, least, most):
        measure()
        took = {}
        for mhz in OPPS_MHZ[0], OPPS_MHZ[-1]:
            set_mhz(0, mhz)
            took[mhz] = measure()
        ratio = took[OPPS_MHZ[-1]] / took[OPPS_MHZ[0]]
        tap.note(f"{name}: {took} ns, ratio {ratio:.3f}")
        self.assertGreater(ratio, least)
        self.assertLess(ratio, most)

    def test_loop(self):
        """A loop that needs no memory takes 4.5 times as long, within 2 %"""
        self.check_ratio("loop", lambda: least_ns(loop), 4.41, 4.59)

    def test_compiling(self):
        """A compiler takes 3.9 to 4.4 times as long"""
        self.check_ratio("compiling", lambda: timed_ns(compiling), 3.9, 4.4)

    def test_memory(self):
        """What goes from one address in memory to the next takes 1.1 to 1.5 times as long"""
        compiling()
        chase = Program("/tmp/chase")
        self.addCleanup(chase.end)
        self.check_ratio("chase", chase.least_ns, 1.1, 1.5)


# For each line "CPU LINES WRITES" it goes to that CPU, passes over so many lines of which none is a
# neighbour of another, loads of each, or stores, and answers how long one took, in ns.
PASSES = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <time.h>
#define N (1 << 17) /* twice what the groups' caches have of such lines */
static volatile long line[N][2 * 8];
int main(void)
{
	struct timespec a, b;
	int cpu, n, writes;
	cpu_set_t cpus;
	long sum = 0;

	while (scanf("%d %d %d", &cpu, &n, &writes) == 3) {
		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (unsigned i = 0; i < n; i++)
			if (writes)
				line[i * 40503u % n][0] = i;
			else
				sum += line[i * 40503u % n][0];
		clock_gettime(CLOCK_MONOTONIC, &b);
		printf("%.3f %d\n", ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / n, !sum);
		fflush(stdout);
	}
}
"""
NEAR_NS, FAR_NS, MEMORY_NS = 17, 80, 100
FIT_OWN, FIT_SHARED, FIT_NONE = 1 << 10, 1 << 14, 1 << 17  # lines


class Shared(unittest.TestCase):
    """With --stalls --llcs 2, what a line waits by where it is: CPUs 0 and 1 share a cache, and 2 and 3"""

    @classmethod
    def setUpClass(cls):
        for cpu in range(4):
            set_mhz(cpu, OPPS_MHZ[0])
        subprocess.run(["gcc", "-O1", "-x", "c", "-o", "/tmp/passes", "-"], input=PASSES, text=True,
                       check=True)
        cls.program = subprocess.Popen("/tmp/passes", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, bufsize=1)

    @classmethod
    def tearDownClass(cls):
        cls.program.communicate()
        tap.note(f"all took {time.monotonic_ns()} ns")

    def took_ns(self, cpu, lines, writes):
        self.program.stdin.write(f"{cpu} {lines} {int(writes)}\n")
        return float(self.program.stdout.readline().split()[0])

    def waits_ns(self, lines, *passes):
        """How long a line of the last pass waits longer than where the CPU has all: the median."""
        found = []
        for _ in range(5):
            took = [self.took_ns(cpu, lines, writes) for cpu, writes in passes][-1]
            cpu, writes = passes[-1]
            self.took_ns(cpu, FIT_OWN, writes)
            found.append(took - self.took_ns(cpu, FIT_OWN, writes))
        tap.note(f"{lines} lines, {passes}: {found} ns")
        return statistics.median(found)

    def test_handed_over(self):
        """What a CPU has written waits 17 ns on the other of its group, and 80 on one of another"""
        for writes in False, True:
            self.assertAlmostEqual(self.waits_ns(FIT_OWN, (0, True), (1, writes)), NEAR_NS, delta=2)
            self.assertAlmostEqual(self.waits_ns(FIT_OWN, (0, True), (2, writes)), FAR_NS, delta=3)

    def test_taken_away(self):
        """What two CPUs have read waits for neither, until one has written it"""
        for other, ns in (1, NEAR_NS), (2, FAR_NS):
            both = (0, False), (other, False)
            self.assertAlmostEqual(self.waits_ns(FIT_OWN, *both, (0, False)), 0, delta=3)
            self.assertAlmostEqual(self.waits_ns(FIT_OWN, *both, (other, False)), 0, delta=3)
            self.assertAlmostEqual(self.waits_ns(FIT_OWN, *both, (0, True)), 0, delta=3)
            self.assertAlmostEqual(self.waits_ns(FIT_OWN, *both, (0, True), (other, False)), ns, delta=3)

    def test_sizes(self):
        """What only the group's cache can hold waits 17 ns, what another group's has 80, and what none has 100"""
        again = (0, False), (0, False)
        self.assertAlmostEqual(self.waits_ns(FIT_SHARED, *again), NEAR_NS, delta=2)
        self.assertAlmostEqual(self.waits_ns(FIT_SHARED, *again, (0, True), (2, False)), FAR_NS, delta=3)
        self.assertAlmostEqual(self.waits_ns(FIT_NONE, *again), MEMORY_NS, delta=5)


IDLE_US = {"C2": 85, "C3": 200}
PACKAGE_W = 0.5
WAKE_UPS = 30
SLEEP_S = 0.005


def late_us(sleep_s=SLEEP_S, wake_ups=WAKE_UPS):
    """How late a thread wakes up that sleeps so long each time: the median."""
    late = []
    for _ in range(wake_ups):
        until = time.monotonic() + sleep_s
        time.sleep(sleep_s)
        late.append((time.monotonic() - until) * 1e6)
    return statistics.median(late)


def idle_states(cpu):
    """By their names: how often the CPU was in each idle state, and how long, in us."""
    found = {}
    for path in glob.glob(f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state*"):
        found[guest.read(f"{path}/name")] = [int(guest.read(f"{path}/{of}")) for of in ("usage", "time")]
    return found


class IdleStates(unittest.TestCase):
    """With --energy laptop: what a deeper idle state takes to leave, which no frequency shortens"""

    def setUp(self):
        os.sched_setaffinity(0, {1})
        guest.write("/proc/self/timerslack_ns", 1)
        self.addCleanup(self.limit, 0)
        set_mhz(1, OPPS_MHZ[0])

    def limit(self, us):
        guest.write("/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", us)

    def test_latency(self):
        """A sleeper wakes up later by what the deepest state takes that the CPU may enter"""
        for mhz in OPPS_MHZ[0], OPPS_MHZ[-1]:
            set_mhz(1, mhz)
            found = {}
            for name, us in ("C1", 5), ("C2", 100), ("C3", 0):
                self.limit(us)
                late_us()
                found[name] = late_us()
            tap.note(f"at {mhz} MHz late by {found} us")
            for name, us in IDLE_US.items():
                self.assertAlmostEqual(found[name] - found["C1"], us, delta=2 + us / 20, msg=name)

    def test_counted(self):
        """The kernel counts the states, and a limit keeps the CPU out of those that take longer"""
        self.assertEqual(guest.read("/sys/devices/system/cpu/cpuidle/current_driver"), "acpi_idle")
        for us, used in (0, "C3"), (100, "C2"), (5, "C1"):
            self.limit(us)
            late_us()
            before = idle_states(1)
            late_us()
            times = {name: [b - a for a, b in zip(before[name], after)]
                     for name, after in idle_states(1).items()}
            tap.note(f"at most {us} us: {times}")
            self.assertGreaterEqual(times[used][0], WAKE_UPS)
            self.assertGreater(times[used][1], 0.8 * WAKE_UPS * SLEEP_S * 1e6)
            for name, state_us in IDLE_US.items():
                if us and state_us > us:
                    self.assertEqual(times[name], [0, 0], name)

    def test_energy(self):
        """A machine that sleeps deeply draws less: CPUs leak nothing, and in the deepest state the package sleeps too"""
        subprocess.run(["modprobe", "msr"], check=True)
        drawn = {}
        # The lower of two: what the machine still has to do after its start is in one of them.
        for us in 5, 100, 0, 5, 100, 0:
            for cpu in range(os.cpu_count()):
                guest.write(f"/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us", us)
                os.sched_setaffinity(0, {cpu})  # which wakes it: a sleeping CPU stays in its state
            late_us()
            start, begin = counter(0, PACKAGE_ENERGY), time.monotonic()
            time.sleep(0.5)
            watts = (counter(0, PACKAGE_ENERGY) - start) / ENERGY_UNITS / (time.monotonic() - begin)
            drawn[us] = min(watts, drawn.get(us, watts))
        tap.note(f"drawn {drawn} W")
        self.assertLess(drawn[100], 0.8 * drawn[5])
        self.assertAlmostEqual(drawn[100], PACKAGE_W, delta=0.2 * PACKAGE_W)  # and ticks
        self.assertLess(drawn[0], PACKAGE_W / 2)  # one may stay in the state that it was in for a while

    def test_offline(self):
        """A CPU goes offline and comes back"""
        path = "/sys/devices/system/cpu/cpu2/online"
        guest.write(path, 0)
        time.sleep(0.2)
        guest.write(path, 1)
        os.sched_setaffinity(0, {2})
        late_us()


class Threads(unittest.TestCase):
    """With --threads 2, what two threads of a core share: CPUs 0 and 1, and 2 and 3"""

    def setUp(self):
        self.assertEqual(guest.read("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list"), "2-3")
        for cpu in range(4):
            utilisation.keep_limits(self, f"policy{cpu}")
            set_mhz(cpu, OPPS_MHZ[0])
        os.sched_setaffinity(0, {0})

    def test_cycles(self):
        """Two busy threads of a core do 1.2 times the work of one, and two cores twice"""
        alone = least_ns(loop)
        for cpu, part in (1, 0.6), (2, 1):
            with guest.busy_loop(cpu):
                beside = least_ns(loop)
            tap.note(f"alone {alone} ns, beside CPU {cpu} {beside} ns")
            self.assertAlmostEqual(alone / beside, part, delta=0.01)

    def test_clock(self):
        """A core has the higher frequency that its threads ask for, also by APERF and MPERF"""
        subprocess.run(["modprobe", "msr"], check=True)
        fast = least_ns(loop)
        for mhz in (400, 1800), (1800, 400), (600, 600):
            for cpu in 1, 0:  # an idle CPU's governor does not look at its limits
                os.sched_setaffinity(0, {cpu})
                set_mhz(cpu, mhz[cpu])
            aperf, mperf = counter(0, APERF), counter(0, MPERF)
            slow = least_ns(loop)
            found = (counter(0, APERF) - aperf) / (counter(0, MPERF) - mperf) * BASE_MHZ
            tap.note(f"{mhz} MHz: {slow} ns, {found:.1f} MHz by APERF and MPERF")
            self.assertAlmostEqual(fast * 1800 / slow, max(mhz), delta=10)
            self.assertAlmostEqual(found, max(mhz), delta=5)

    def test_said(self):
        """A cap on one thread holds until the other asks for more, and explain says so"""
        os.sched_setaffinity(0, {2, 3})  # what looks has no cap
        for cpu in range(4):
            guest.write(guest.policy(f"policy{cpu}", "scaling_min_freq"), OPPS_MHZ[-1] * 1000)
        with guest.BusyLoop(0) as capped, guest.BusyLoop(1) as free, guest.Daemon() as daemon:
            self.assertEqual([daemon.domain(f"policy{cpu}").get("siblings") for cpu in (0, 3)], ["1", "2"])
            daemon.call("AddOverride", pid=capped.pid, settings={"cap": "30%"})
            capped.start()
            guest.wait_for(lambda: guest.frequency("policy0") < 700000, 5, "the cap")
            free.start()
            guest.wait_for(lambda: guest.frequency("policy0") > 1700000, 5, "the core's clock")
            said = subprocess.run([f"{guest.BUILD}/wakegovctl", "explain", "policy0"], check=True, capture_output=True, text=True).stdout
            self.assertIn("runs at 1800 MHz", said)
            self.assertIn("that of CPU 1 too, as threads of a core have one", said)

    def test_reader(self):
        """A reader that began beside a busy thread is as fast as the clock makes it when that one is done"""
        os.sched_setaffinity(0, {2, 3})
        for cpu in range(4):
            guest.write(guest.policy(f"policy{cpu}", "scaling_min_freq"), OPPS_MHZ[-1] * 1000)
        disk = guest.null_blk()
        for backend in "setspeed", "limits", "uclamp":
            with guest.Daemon(f"[wakegov]\nbackend = {backend}\n"):
                with guest.busy_loop(1):
                    reader = guest.start_load("psync", "--file", disk, "--cpus", "0", "--time", "5")
                    time.sleep(2)
                time.sleep(1)
                rate = guest.reads_per_second(disk)
                reader.communicate()
            tap.note(f"{backend}: {rate:.0f} reads per second")
            self.assertGreater(rate, 3700)  # 3,900 at 1800 MHz and 2,200 at 400

    def test_energy(self):
        """Two busy threads draw 1.2 times as much more than an idle core as one does"""
        subprocess.run(["modprobe", "msr"], check=True)
        drawn = []
        for busy in (), (2,), (2, 3):
            with contextlib.ExitStack() as loops:
                for cpu in busy:
                    loops.enter_context(guest.busy_loop(cpu))
                start, begin = counter(0, PACKAGE_ENERGY), time.monotonic()
                time.sleep(0.5)
                drawn.append((counter(0, PACKAGE_ENERGY) - start) / ENERGY_UNITS / (time.monotonic() - begin))
        tap.note(f"with no busy thread, one and two {drawn} W")
        self.assertAlmostEqual((drawn[2] - drawn[0]) / (drawn[1] - drawn[0]), 1.2, delta=0.02)


class Driver(unittest.TestCase):
    def test_driver(self):
        """The driver binds, and its limits decide the speed"""
        name = guest.read(guest.policy("policy0", "scaling_driver"))
        self.assertEqual(name, DRIVERS[os.environ["LAB_DRIVER"]])
        governor = guest.policy("policy0", "scaling_governor")
        self.addCleanup(guest.write, governor, guest.read(governor))
        guest.write(governor, "performance")
        utilisation.keep_limits(self, "policy0")
        os.sched_setaffinity(0, {0})
        set_mhz(0, 1800)
        loop()
        fast = least_ns(loop)
        set_mhz(0, 600)
        slow = least_ns(loop)
        tap.note(f"{os.environ['LAB_DRIVER']}: {fast} ns at 1800 MHz, {slow} ns at 600 MHz")
        self.assertAlmostEqual(slow / fast, 3, delta=0.03)

    def test_preference(self):
        """Where CPUs choose by themselves a profile sets the energy preference, also by a rule; elsewhere all
        is as before"""
        path = guest.policy("policy0", "energy_performance_preference")
        self.assertEqual(os.path.exists(path), os.environ["LAB_DRIVER"] in CHOOSING)
        if not os.path.exists(path):
            return
        guest.write(guest.policy("policy0", "scaling_governor"), "powersave")
        before = guest.read(path)
        policy = "[rule work]\ncomm = eppwork\n[profile work]\nwhen = rule work\n" \
                 "domain policy0.energy-preference = balance_power\n"
        with guest.Daemon(policy) as daemon:
            shutil.copy("/bin/cat", "/tmp/eppwork")
            with subprocess.Popen(["/tmp/eppwork"], stdin=subprocess.PIPE):
                guest.wait_for(lambda: guest.read(path) == "balance_power", 5, "the rule's")
            guest.wait_for(lambda: guest.read(path) == before, 5, f"{before} after the task")
            daemon.call("ChooseProfile", profile="quiet")
            guest.wait_for(lambda: guest.read(path) == "power", 5, "quiet")
            daemon.call("ChooseProfile", profile="performance")
            guest.wait_for(lambda: guest.read(path) == "performance", 5, "performance")
            daemon.call("ChooseProfile")
            guest.wait_for(lambda: guest.read(path) == before, 5, f"{before} again")
        self.assertEqual(guest.read(path), before)

    @unittest.skipUnless(os.environ["LAB_DRIVER"] in ("hwp", "amd"), "no governor hides a preference")
    def test_hidden_preference(self):
        """A preference that the performance governor hides is set again after it, or restored"""
        path, governor = (guest.policy("policy0", control)
                          for control in ("energy_performance_preference", "scaling_governor"))
        guest.write(governor, "powersave")
        guest.write(path, "balance_performance")

        def play():
            """Long enough for the daemon to see the game."""
            guest.shell_write(governor, "performance")
            self.assertEqual(guest.read(path), "performance")
            time.sleep(0.5)

        with guest.Daemon("[domain]\nenergy-preference = power\n") as daemon:
            self.assertEqual(guest.read(path), "power")
            play()
            guest.shell_write(governor, "powersave")
            guest.wait_for(lambda: guest.read(path) == "power", 5, "the policy's, after the game")
            play()
            daemon.stop()
            self.assertIn("stays to be restored", daemon.log())
        guest.write(governor, "powersave")
        guest.restore()
        self.assertEqual(guest.read(path), "balance_performance")

    @unittest.skipUnless(os.environ["LAB_DRIVER"] in CHOOSING, "no energy preference")
    def test_preference_of_an_offline_cpu(self):
        """A policy that is read while a CPU is offline reaches its domain when it is back"""
        path = guest.policy("policy1", "energy_performance_preference")
        guest.write(guest.policy("policy1", "scaling_governor"), "powersave")
        before = guest.read(path)
        with guest.Daemon("") as daemon:
            guest.write("/sys/devices/system/cpu/cpu1/online", 0)
            self.addCleanup(guest.write, "/sys/devices/system/cpu/cpu1/online", 1)
            guest.wait_for(lambda: daemon.domain("policy1")["state"] == "offline", 5, "offline")
            daemon.set_policy("[domain]\nenergy-preference = power\n")
            daemon.call("Reload")
            guest.write("/sys/devices/system/cpu/cpu1/online", 1)
            guest.wait_for(lambda: guest.read(path) == "power", 5, "the policy's")
        self.assertEqual(guest.read(path), before)


if __name__ == "__main__":
    tap.main()
