# SPDX-License-Identifier: GPL-2.0-only
"""What the tests inside the VM share: cpufreq's files, the daemon, loads."""
import atexit
import contextlib
import functools
import glob
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.join(REPO, os.environ.get("WAKEGOV_BUILD", "build"))
sys.path.insert(0, os.path.join(REPO, "tests/lib"))

CPUFREQ = "/sys/devices/system/cpu/cpufreq"
CONTROLS = ("scaling_governor", "scaling_setspeed", "scaling_min_freq", "scaling_max_freq")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def shell_write(path, value):
    """As an administrator does: another process that opens, writes and closes."""
    subprocess.run(["sh", "-c", f"echo {value} > {path}"], check=True)


def link(name, program):
    """A path whose last part is the name, and so that of a task that executes it."""
    path = f"/tmp/{name}"
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    os.symlink(program, path)
    return path


def policy(name, control):
    return f"{CPUFREQ}/{name}/{control}"


def capacity(cpu):
    """At its highest OPP, of 1024; all are alike where the kernel does not say so."""
    path = f"/sys/devices/system/cpu/cpu{cpu}/cpu_capacity"
    return int(read(path)) if os.path.exists(path) else 1024


def frequency(name):
    return int(read(policy(name, "scaling_cur_freq")))


def changes(name):
    """How often the domain's frequency was changed so far."""
    return int(read(policy(name, "stats/total_trans")))


def time_in_state(name):
    """Seconds at each frequency in kHz so far."""
    lines = read(policy(name, "stats/time_in_state")).splitlines()
    return {int(khz): int(ticks) / 100 for khz, ticks in (line.split() for line in lines)}


# What the timed machine counts for all CPUs, in uJ: by RAPL, and on arm64 behind the frequencies'
# registers.
RAPL_UJ = "/sys/class/powercap/intel-rapl:0/energy_uj"
ARM_UJ = 0xb008000


def energy_j():
    """What all CPUs have drawn so far; None where it is not counted."""
    if os.uname().machine == "aarch64":
        with open("/dev/mem", "rb") as file:
            page = mmap.mmap(file.fileno(), mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ,
                             offset=ARM_UJ)
        with page:
            return int.from_bytes(page[:8], "little") / 1e6
    return int(read(RAPL_UJ)) / 1e6 if os.path.exists(RAPL_UJ) else None


def share_at_lowest(before, after):
    """Of the time between two of time_in_state, what was spent at the lowest OPP, 0 to 1."""
    spent = {khz: after[khz] - before[khz] for khz in after}
    return spent[min(spent)] / sum(spent.values())


def tunables():
    """Every tunable of every governor in use, shared or a policy's own, as bytes."""
    found = glob.glob(f"{CPUFREQ}/*/*") + glob.glob(f"{CPUFREQ}/policy*/*/*")
    state = {}
    for path in sorted(found):
        folder = os.path.basename(os.path.dirname(path))
        if folder != "stats" and not folder.startswith("policy") and os.path.isfile(path):
            with open(path, "rb") as file:
                state[os.path.relpath(path, CPUFREQ)] = file.read()
    return state


def snapshot():
    """Every control of every domain and every tunable of its governor, as bytes."""
    state = tunables()
    for path in sorted(glob.glob(f"{CPUFREQ}/policy*")):
        for control in CONTROLS:
            with open(f"{path}/{control}", "rb") as file:
                state[f"{os.path.basename(path)}/{control}"] = file.read()
    return state


# By the host's clock (lab run --clock host) a guest takes as many times longer for anything, and stands
# still for seconds, as the host has other work. In virtual time a wait means what it says.
PATIENCE, STILL_S = (5, 30) if os.environ.get("LAB_CLOCK", "host") == "host" else (1, 0)


def wait_for(condition, seconds, what):
    """Returns how long it took; an AssertionError that names what did not come.

    In virtual time that is within so many seconds; by the host's clock they are a quiet host's.
    """
    start, most = time.monotonic(), seconds * PATIENCE + STILL_S
    while True:
        looked = time.monotonic()
        if condition():
            return time.monotonic() - start
        # The last look begins after that time, however long the host stood still before.
        if looked - start >= most:
            raise AssertionError(f"not within {most} s: {what}")
        # All CPUs share one thread of the host, and looks are a load of their own, which a domain follows: a
        # look that takes long leaves most of the time to what it waits for, and a long wait has few looks.
        rare = min((looked - start) / 20, 0.1)
        time.sleep(min(max(0.005, rare, 2 * (time.monotonic() - looked)), 1))


def said(*arguments):
    """What wakegovctl prints, in one line"""
    done = subprocess.run([f"{BUILD}/wakegovctl", *arguments], check=False, text=True, capture_output=True)
    return " ".join(done.stdout.split())


def set_governor(name):
    for path in glob.glob(f"{CPUFREQ}/policy*/scaling_governor"):
        write(path, name)


def restart_governors():
    """As the kernel has them at its start, whatever the limits of a test before did to them.

    A limit that a test itself sets and takes away while a domain is idle leaves the domain there:
    see actuator/limits.h, by which wakegovd prevents that for its own.
    """
    for path in glob.glob(f"{CPUFREQ}/policy*/scaling_governor"):
        governor = read(path)
        write(path, "performance")
        write(path, governor)


def tell_domain(name):
    """What a domain has and who runs, for the reader of a test that failed."""
    for control in (*CONTROLS, "scaling_cur_freq"):
        print(f"# {name} {control} {read(policy(name, control))}", flush=True)
    script = ("top -b -n1 -H -o %CPU | head -n 16; grep -E 'IWI|LOC|RES' /proc/interrupts; "
              "dmesg --level=err,warn | tail -n 16")
    lines = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False).stdout
    for line in lines.splitlines():
        print(f"# {line}", flush=True)


NULL_BLK = {"null_blk_create": "nullb1", "null_blk_create_bound": "nullb2",
            "null_blk_create_paced": "nullb3"}
made_null_blk = {}


def null_blk(function="null_blk_create", *arguments):
    """A block device with that latency; see null-blk.sh. Returns its path.

    One that other tests of this boot left may have another.
    """
    name = NULL_BLK[function]
    if made_null_blk.get(name) != arguments:
        script = (f". {REPO}/tests/lab/guest/null-blk.sh; [ ! -b /dev/{name} ] || null_blk_remove {name}; "
                  f'{function} {name} "$@"')
        subprocess.run(["bash", "-c", script, "null_blk", *arguments], check=True)
        if os.path.exists("/run/udev/control"):
            # Until then udev may set the node's mode again after a test has.
            subprocess.run(["udevadm", "settle"], check=True)
        made_null_blk[name] = arguments
    return f"/dev/{name}"


def reads_of(device):
    """Completed since the start of the machine."""
    return int(read(f"/sys/block/{device.removeprefix('/dev/')}/stat").split()[0])


def reads_per_second(device):
    before, start = reads_of(device), time.monotonic()
    time.sleep(1)
    return (reads_of(device) - before) / (time.monotonic() - start)


def ended_with(test, process):
    """The process, which is killed when the test ends."""
    test.addCleanup(process.__exit__, None, None, None)  # closes its pipes, and waits
    test.addCleanup(process.kill)
    return process


def end_group(process):
    """Kills the process and its children, which are a process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def start_load(*arguments):
    return subprocess.Popen([f"{BUILD}/tests/lab/freqload", *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


class BusyLoop:
    """A child that does nothing but run, on one CPU, from start() to stop(); it sleeps before and after.

    To make a process, to move it and to end it takes tens of milliseconds in an emulated machine, in
    which the CPU runs and sleeps: what a governor makes of a loop is to be counted from when it began
    and when it came to rest.
    """

    def __init__(self, cpu):
        self.times = mmap.mmap(-1, mmap.PAGESIZE)  # began, is to stop, stopped
        self.ready, ready = os.pipe()
        wait, self.release = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.sched_setaffinity(0, {cpu})
            for _ in range(12):  # of what is known of a task, an eighth is forgotten with each sleep
                time.sleep(0.002)
            os.write(ready, b"x")
            os.read(wait, 1)
            self.times[:8] = struct.pack("d", time.monotonic() * 1e6)
            while not self.times[8]:
                pass
            self.times[16:24] = struct.pack("d", time.monotonic() * 1e6)
            os.read(wait, 1)
        os.close(ready)
        os.close(wait)
        os.read(self.ready, 1)

    def start(self):
        """Returns when it has begun, in us of CLOCK_MONOTONIC."""
        os.write(self.release, b"x")
        return self.time(0, "the loop begins")

    def stop(self):
        """Returns when it came to rest, in us of CLOCK_MONOTONIC."""
        self.times[8] = 1
        return self.time(16, "the loop stops")

    def time(self, at, what):
        wait_for(lambda: any(self.times[at:at + 8]), 5, what)
        return struct.unpack("d", self.times[at:at + 8])[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.ready)
        os.close(self.release)


@contextlib.contextmanager
def busy_loop(cpu):
    """A child that does nothing but run, on one CPU."""
    with BusyLoop(cpu) as loop:
        loop.start()
        yield


def call(path, method, **parameters):
    """One Varlink call; returns the parameters of the reply or raises with its error."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60 * PATIENCE)
        connection.connect(path)
        message = {"method": f"io.wakegov.{method}", "parameters": parameters}
        connection.sendall(json.dumps(message).encode() + b"\0")
        reply = b""
        while not reply.endswith(b"\0"):
            part = connection.recv(1 << 16)
            if not part:
                raise ConnectionError("the daemon hung up")
            reply += part
    reply = json.loads(reply[:-1])
    if "error" in reply:
        raise RuntimeError(f"{reply['error']}: {reply.get('parameters')}")
    return reply["parameters"]


def watch(path):
    """A client that looks on until its socket is closed: one of events that seldom happen."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    message = {"method": "io.wakegov.Monitor", "parameters": {"kinds": ["error"]}, "more": True}
    connection.sendall(json.dumps(message).encode() + b"\0")
    connection.settimeout(60 * PATIENCE)
    assert b"error" not in connection.recv(1 << 16)
    return connection


def cpus_of(name):
    """Of a domain."""
    return [int(cpu) for cpu in read(policy(name, "affected_cpus")).split()]


class Places:
    """Where everything runs that is not bound to a CPU of its own."""
    kept_to = None

    @staticmethod
    def everywhere():
        return set(range(os.cpu_count()))

    @staticmethod
    def move(those_on, to):
        """Tasks that may run on just those CPUs, of the kernel too, and so all that they start."""
        for task in glob.glob("/proc/[0-9]*/task/[0-9]*"):
            with contextlib.suppress(OSError):  # ended, or bound by the kernel
                tid = int(os.path.basename(task))
                if os.sched_getaffinity(tid) == those_on:
                    os.sched_setaffinity(tid, to)


def stay_off(domain_cpus, test=None):
    """Keeps the test's looking, who answers it, and what else can be moved away from what it looks at.

    Until the end of the test, where that is given.
    """
    if test:
        test.addCleanup(run_anywhere)
    run_anywhere()
    Places.kept_to = Places.everywhere() - set(domain_cpus)
    Places.move(Places.everywhere(), Places.kept_to)


def run_anywhere():
    """Ends stay_off(); also for a test that has bound itself to a CPU."""
    if Places.kept_to:
        Places.move(Places.kept_to, Places.everywhere())
    os.sched_setaffinity(0, Places.everywhere())


def restore():
    """Restores what a daemon left, as the unit does after its end; what it says."""
    return subprocess.run([f"{BUILD}/wakegovd", "--restore"], check=True, text=True,
                          capture_output=True).stderr


@functools.cache
def read_once(path):
    """
    Brings all of a program into memory: else the host's clock decides for how long it waits for a
    page of what it does for the first time.
    """
    with open(path, "rb") as file:
        file.read()


class Daemon:
    """wakegovd in the foreground, with its own policy, and its log in memory."""

    def __init__(self, policy_text="", arguments=(), run_dir="/run/wakegov", prefix=()):
        self.policy_path = "/tmp/wakegov-test.conf"
        self.socket = f"{run_dir}/io.wakegov"
        self.log_path = "/tmp/wakegovd.log"
        self.command = [*prefix, f"{BUILD}/wakegovd", "--config", self.policy_path, "--run-dir",
                        run_dir, *arguments]
        self.set_policy(policy_text)
        self.process = None
        self.watcher = None  # of one that governs nothing, and so traces only while it is looked at
        self.told = 0  # of its log, what other tests have seen to

    def set_policy(self, text):
        with open(self.policy_path, "w", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        if self is not KeptDaemon.running:
            KeptDaemon.end()
        read_once(f"{BUILD}/wakegovd")
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, stderr=log, stdout=log)
        wait_for(lambda: "governing" in self.log() or self.process.poll() is not None, 60,
                 "the daemon is up")
        if self.process.poll() is not None:
            raise AssertionError("wakegovd ended at its start: " + self.log())
        if "--observe" in self.command or "backend = observe" in read(self.policy_path):
            self.watcher = watch(self.socket)
        return self

    def run_to_end(self):
        """For starts that must fail: the exit status and the log."""
        KeptDaemon.end()
        done = subprocess.run(self.command, capture_output=True, text=True, timeout=60 * PATIENCE,
                              check=False)
        for line in done.stderr.splitlines():
            print("# " + line, flush=True)
        return done.returncode, done.stderr

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()[self.told:]

    def stop(self, number=signal.SIGTERM):
        if self.watcher:
            self.watcher.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=60 * PATIENCE)

    def call(self, method, **parameters):
        return call(self.socket, method, **parameters)

    def domain(self, name):
        return next(d for d in self.call("Domains")["domains"] if d["name"] == name)

    def decisions(self):
        return self.call("Decisions")["decisions"]

    def switches(self):
        """How often the kernel let the daemon run: voluntary and involuntary switches."""
        status = read(f"/proc/{self.process.pid}/status")
        return sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", status))

    def memory_kib(self):
        """By the kernel's names: Pss, Rss, Anonymous and others."""
        rollup = read(f"/proc/{self.process.pid}/smaps_rollup")
        return {name: int(kib) for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", rollup, re.M)}

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class KeptDaemon(Daemon):
    """One that a test may leave running for the next: a start takes longer than most tests.

    For what a policy does. What a start or an end does needs a Daemon of its own, which ends this one.
    """
    running = None

    @classmethod
    def with_policy(cls, text):
        """The one that runs, with that policy by a reload; started where there is none of its backend."""
        daemon = cls.running
        if not daemon or daemon.process.poll() is not None or daemon.backend != cls.backend_of(text):
            cls.end()
            cls.running = cls(text)
            cls.running.backend = cls.backend_of(text)
            return cls.running.start()
        daemon.told += len(daemon.log())
        daemon.set_policy(text)
        daemon.call("Reload")
        return daemon

    @staticmethod
    def backend_of(text):
        found = re.search(r"^backend = (\w+)$", text, re.M)
        return found and found.group(1)

    @classmethod
    def end(cls):
        """To be called by who looks at what it puts back, or leaves no daemon to those after it."""
        daemon, cls.running = cls.running, None
        if daemon:
            daemon.stop()


class EndsKept:
    """For classes of tests, of one backend or of any, whose daemon ends with them."""
    BACKEND = ""

    @classmethod
    def tearDownClass(cls):
        KeptDaemon.end()

    def shortDescription(self):
        text = super().shortDescription()
        return f"{self.BACKEND}: {text}" if self.BACKEND else text


class PutBack(EndsKept):
    """What all of their policies did is put back, whichever test was the last."""

    @classmethod
    def setUpClass(cls):
        KeptDaemon.end()
        cls.before = snapshot()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        wait_for(lambda: snapshot() == cls.before, 5, "everything put back")


atexit.register(KeptDaemon.end)


class EachBackend:
    """For a test case whose check() is the test."""
    def check(self, backend):
        raise NotImplementedError

    def test_setspeed(self):
        self.check("setspeed")

    def test_limits(self):
        self.check("limits")

    def test_uclamp(self):
        self.check("uclamp")
