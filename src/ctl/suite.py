#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl benefit --suite: loads that need no package, under this machine's own governor, performance
and wakegov, as a table and a file to send.

A round has each load under each governor once, for the same time, in random order. A row has the means of the
rounds with intervals of 95 %: what was done, the time that 99 of 100 took, and the energy. Where wakegovd drives no
domain, it is compared with itself while it traces nothing: that is what it costs.

wakegovctl starts this program with its options as JSON.
"""
import contextlib
import glob
import json
import math
import mmap
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ beside the programs
import wakegov_measuring as measuring  # noqa: E402
from wakegov_measuring import REFUSED, Failure  # noqa: E402

ROUNDS = 5
BLOCK_LEAST_S = 0.25
SETTLE_SHARE = 5  # of a block what passes before it is measured, as in benefit.py
PIECE_S, FRAME_S, FRAME_WORK_S, STEP_S = 0.005, 1 / 60, 0.007, 0.00025  # work is at full speed
CAP_PERCENT = 30
ASKED_S = 11  # wakegovd that drives nothing traces for ten seconds after it was asked: src/daemon/modules/watching.c
FILE_BYTES, READ_BYTES = 64 << 20, 4096
OWN, PERFORMANCE, WAKEGOV, WITHOUT = "own", "performance", "wakegov", "without"


def spin(turns):
    for _ in range(turns):
        pass


def turns_per_s():
    """How fast this CPU runs now: the best of several, as something may come between."""
    def once():
        begin_s = time.perf_counter()
        spin(200000)
        return 200000 / (time.perf_counter() - begin_s)
    return max(once() for _ in range(20))


class Window:
    """When a block's tasks are measured, how much work is a second's at full speed, and on which CPUs they run."""

    def __init__(self, begin_s, end_s, per_s, cpus, disk):
        self.begin_s, self.end_s, self.per_s, self.cpus, self.disk = begin_s, end_s, per_s, cpus, disk

    def work(self, seconds):
        spin(int(seconds * self.per_s))

    def repeat(self, once):
        """What once() says of each time, of those within the window: the seconds that it took."""
        found = []
        while (now_s := time.monotonic()) < self.end_s:
            took = once()
            if now_s >= self.begin_s and time.monotonic() <= self.end_s:
                found.append(took)
        return found


def timed(once):
    begin_s = time.monotonic()
    once()
    return time.monotonic() - begin_s


# The tasks of each load: functions of the window. The times that the first returns are the load's.

def chain():
    """A client and a server on two CPUs, which work in turn."""
    there, here = os.pipe(), os.pipe()

    def client(window):
        os.sched_setaffinity(0, {window.cpus[0]})

        def turn():
            window.work(STEP_S)
            os.write(there[1], b"x")
            os.read(here[0], 1)
        found = window.repeat(lambda: timed(turn))
        os.write(there[1], b"e")
        return found

    def server(window):
        os.sched_setaffinity(0, {window.cpus[1 % len(window.cpus)]})
        while os.read(there[0], 1) == b"x":
            window.work(STEP_S)
            os.write(here[1], b"x")
        return []
    return [client, server]


def frames():
    """Work that is due 60 times a second: how late each was, and 0 where it was in time."""
    def draw(window):
        due_s = time.monotonic()

        def frame():
            nonlocal due_s
            due_s = max(due_s, time.monotonic() - FRAME_S)
            time.sleep(max(0, due_s - time.monotonic()))
            window.work(FRAME_WORK_S)
            due_s += FRAME_S
            return max(0, time.monotonic() - due_s)
        return window.repeat(frame)
    return [draw]


def pieces():
    """Work after a pause, as after a key press: the time until it is done."""
    def answer(window):
        chance = random.Random(1)

        def piece():
            due_s = time.monotonic() + chance.uniform(0.05, 0.15)
            time.sleep(due_s - time.monotonic())
            window.work(PIECE_S)
            return time.monotonic() - due_s
        return window.repeat(piece)
    return [answer]


def reads():
    """One read after the other, at random places, past the page cache."""
    def reader(window):
        chance, buffer = random.Random(1), mmap.mmap(-1, READ_BYTES)
        file = os.open(window.disk, os.O_RDONLY | os.O_DIRECT)
        blocks = FILE_BYTES // READ_BYTES
        return window.repeat(
            lambda: timed(lambda: os.preadv(file, [buffer], chance.randrange(blocks) * READ_BYTES)))
    return [reader]


def loop(cpu):
    def run(window):
        os.sched_setaffinity(0, {window.cpus[cpu]})
        return window.repeat(lambda: timed(lambda: window.work(0.001)))
    return run


def full():
    return [loop(cpu) for cpu in range(len(os.sched_getaffinity(0)))]


def capped():
    return [loop(-1)]


def rate(times, for_s):
    return len(times[0]) / for_s


# What a load is called, its tasks, its figure, the figure's unit, and whether a time of 99 in 100 is known of it.
LOADS = {
    "chain": ("a client and its server, a *chain*: rounds/s", chain, rate, True),
    "frames": ("frames, 60 a second: % drawn in time", frames,
               lambda times, for_s: 100 * sum(late == 0 for late in times[0]) / (for_s / FRAME_S), False),
    "pieces": ("5 ms of work after a pause: ms", pieces,
               lambda times, _: 1000 * statistics.fmean(times[0]) if times[0] else None, True),
    "reads": ("reads of 4 KiB from a disk, one at a time: reads/s", reads, rate, True),
    "full": ("every CPU at work: % of one CPU's full speed", full,
             lambda times, for_s: sum(map(len, times)) / for_s / 10, False),
    "cap": (f"a loop capped at {CAP_PERCENT} %: % of full speed", capped,
            lambda times, for_s: len(times[0]) / for_s / 10, False),
}


class Tasks:
    """A load's tasks as processes, which send what they found, and end with this program."""

    def __init__(self, tasks, window):
        self.children = []
        for task in tasks:
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                self.become(task, window, writer)
            os.close(writer)
            self.children.append((child, reader))

    @staticmethod
    def become(task, window, writer):
        code = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            signal.alarm(math.ceil(window.end_s - time.monotonic()) + 30)
            with os.fdopen(writer, "w", encoding="ascii") as file:
                json.dump(task(window), file)
            code = 0
        finally:
            os._exit(code)

    def found(self):
        texts = []
        for _, reader in self.children:
            with os.fdopen(reader, encoding="ascii") as file:
                texts.append(file.read())
        self.end()
        if not all(texts):
            raise Failure("a load's task failed", REFUSED)
        return [json.loads(text) for text in texts]

    def end(self):
        for child, _ in self.children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.children = []


class Machine:
    """Who governs: one of the modes. Nothing is held once it is closed."""

    def __init__(self, options):
        self.daemon = measuring.Daemon(options["socket"], options["timeout_us"] / 1e6)
        self.held, self.mode = None, None
        states = self.states()
        if "handed-back" in states:
            raise Failure(measuring.refusal("HandBack", "io.wakegov.HandedBack", {}), REFUSED)
        self.modes = [OWN, PERFORMANCE, WAKEGOV] if "driven" in states else [WITHOUT, WAKEGOV]
        self.policies = sorted(glob.glob("/sys/devices/system/cpu/cpufreq/policy*"))

    def states(self):
        return [domain["state"] for domain in self.daemon.call("Status")["domains"]]

    def close(self):
        if self.held:
            self.held.close()
            self.held = None

    def enter(self, mode):
        if OWN in self.modes:
            self.govern(mode)
        elif mode != self.mode:
            self.close()
            if mode == WAKEGOV:
                self.held = self.daemon.call("Monitor", {"kinds": ["error"]}, keep=True)
            else:
                time.sleep(ASKED_S)
        self.mode = mode

    def govern(self, mode):
        self.close()
        if mode == WAKEGOV:
            measuring.wait_for_governing(lambda: "driven" in self.states())
        else:
            self.held = self.daemon.hand_back(PERFORMANCE if mode == PERFORMANCE else None)

    def order(self, chance, loads):
        """Each load under each mode. Without domains a change of modes takes a while, so that loads share it."""
        modes = chance.sample(self.modes, len(self.modes))
        blocks = [(load, mode) for mode in modes for load in chance.sample(loads, len(loads))]
        return chance.sample(blocks, len(blocks)) if OWN in self.modes else blocks

    def cap(self, mode, pid):
        """By wakegov, or as the kernel has it: by a clamp, where there is uclampset."""
        if mode == WAKEGOV and OWN in self.modes:
            self.daemon.call("AddOverride", {"pid": pid, "settings": {"cap": f"{CAP_PERCENT}%"}, "for_us": 60000000})
        elif OWN in self.modes and shutil.which("uclampset"):
            subprocess.run(["uclampset", "-M", str(1024 * CAP_PERCENT // 100), "-p", str(pid)], check=False,
                           stderr=subprocess.DEVNULL)

    def describe(self):
        """What a file to send has of the machine: no names, no serial numbers."""
        model = [line.partition(":")[2].strip() for line in measuring.read("/proc/cpuinfo").splitlines()
                 if line.startswith("model name")]
        drivers = {measuring.read(f"{path}/scaling_driver") for path in self.policies}
        return {"cpu": model[0] if model else os.uname().machine, "cpus": os.cpu_count(),
                "driver": ", ".join(sorted(drivers)) or None, "kernel": os.uname().release}


@contextlib.contextmanager
def disk_file():
    """A file that is read past the page cache; None where no file can be, as in memory."""
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        try:
            file.write(os.urandom(1 << 20) * (FILE_BYTES >> 20))
            os.fsync(file.fileno())
            os.close(os.open(file.name, os.O_RDONLY | os.O_DIRECT))
            major, minor = (get(os.stat(file.name).st_dev) for get in (os.major, os.minor))
            found = file.name if os.path.exists(f"/sys/dev/block/{major}:{minor}") else None
        except OSError:
            found = None
        yield found


class Suite:
    def __init__(self, machine, meters, for_s, disk):
        self.machine, self.meters, self.disk = machine, meters, disk
        self.loads = [load for load in LOADS if (load != "reads" or disk) and (load != "cap" or OWN in machine.modes)]
        self.block_s = max(BLOCK_LEAST_S, for_s / ROUNDS / len(self.loads) / len(machine.modes))
        self.found = {load: {mode: [] for mode in machine.modes} for load in self.loads}
        machine.enter(PERFORMANCE if OWN in machine.modes else WITHOUT)
        self.per_s = turns_per_s()

    def measure(self, load, mode):
        """A block's figure, its 99th percentile in ms, and its energy, in J or seconds of a CPU at full speed."""
        _, tasks, figure, has_p99 = LOADS[load]
        self.machine.enter(mode)
        now_s = time.monotonic()
        window = Window(now_s + self.block_s / SETTLE_SHARE, now_s + self.block_s, self.per_s,
                        sorted(os.sched_getaffinity(0)), self.disk)
        running = Tasks(tasks(), window)
        try:
            if load == "cap":
                self.machine.cap(mode, running.children[0][0])
            self.meters.wait(window.begin_s)
            before = self.meters.sample()
            self.meters.wait(window.end_s)
            after = self.meters.sample()
            times = running.found()
        finally:
            running.end()
        energy = "joules" if self.meters.meter.source and after["lost"] == before["lost"] else "full_cpu_s"
        for_s = after["s"] - before["s"]
        result = {"figure": figure(times, window.end_s - window.begin_s),
                  "power": (after[energy] - before[energy]) / for_s}
        if has_p99 and times[0]:
            result["p99_ms"] = 1000 * sorted(times[0])[int(0.99 * (len(times[0]) - 1))]
        return result

    def run(self, seed):
        chance = random.Random(seed)
        for number in range(ROUNDS):
            for load, mode in self.machine.order(chance, self.loads):
                self.found[load][mode].append(self.measure(load, mode))
            print(f"round {number + 1} of {ROUNDS} is done", file=sys.stderr)


def summary(results):
    """{figure, p99_ms, power: [mean, half of the interval]} of a load under one governor, of the blocks in which
    it did something, if these are three or more."""
    known = {key: [result[key] for result in results if result.get(key) is not None]
             for key in ("figure", "p99_ms", "power")}
    return {key: [round(value, 6) for value in measuring.mean_of(values)]
            for key, values in known.items() if len(values) > 2}


def answer_of(suite, seed):
    source = suite.meters.meter.source
    return suite.machine.describe() | {
        "modes": suite.machine.modes, "rounds": ROUNDS, "block_s": round(suite.block_s, 3), "seed": seed,
        "power_unit": "W" if source else "busy CPUs at full speed, estimated", "power_source": source,
        "loads": {load: {mode: summary(results) for mode, results in by_mode.items()}
                  for load, by_mode in suite.found.items()}}


def cell(found, unit):
    """ "1234 ± 5; p99 1.2 ms; 3.41 ± 0.02 W"."""
    def number(value, half, more=""):
        decimals = measuring.decimals_of(half) if half > 0 else 0
        return f"{value:.{decimals}f} ± {half:.{decimals}f}{more}"

    parts = [number(*found["figure"]) if "figure" in found else "nothing"]
    if "p99_ms" in found:
        parts.append(f"p99 {number(*found['p99_ms'])} ms")
    if found.get("power", [0])[0] > 0:
        parts.append(number(*found["power"], f" {unit}"))
    return "; ".join(parts)


def table_of(answer):
    """As README's: a row for each load, a column for each governor. tests/bench/hardware writes it too."""
    unit = "W" if answer["power_unit"] == "W" else "CPUs"
    lines = [f"{answer['cpu']}, {answer['cpus']} CPUs, {answer['driver'] or 'without cpufreq'}, Linux "
             f"{answer['kernel']}; {answer['rounds']} rounds of {answer['block_s']:g} s, ± at 95 %"
             + ("" if unit == "W" else "; power is estimated, in CPUs at full speed"), "",
             f"| load | {' | '.join(answer['modes'])} |", "|---" * (len(answer["modes"]) + 1) + "|"]
    for load, by_mode in answer["loads"].items():
        lines.append(f"| {LOADS[load][0]} | "
                     + " | ".join(cell(by_mode[mode], unit) for mode in answer["modes"]) + " |")
    return "\n".join(lines)


def write(answer, path):
    """Says first what the file gets."""
    text = json.dumps(answer, indent=2) + "\n"
    print(f"\n{path} gets this, to send:\n{text}", end="")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}", REFUSED) from error


def on_signal(number, _):
    signal.signal(number, signal.SIG_DFL)
    raise Failure("ended before its figures were complete; wakegov governs as before", REFUSED)


def main(options, paths):
    if len(paths) > 1:
        raise Failure("--suite takes one file, or none", REFUSED)
    seed = random.randrange(1 << 31)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    with contextlib.closing(Machine(options)) as machine, disk_file() as disk:
        suite = Suite(machine, measuring.Meters(), options["for_us"] / 1e6, disk)
        suite.run(seed)
    answer = answer_of(suite, seed)
    print(json.dumps(answer, indent=2) if options["json"] else table_of(answer))
    if paths:
        write(answer, paths[0])


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]), sys.argv[2:])
    except Failure as caught:
        measuring.complain(caught.args[0])
        sys.exit(caught.args[1])
