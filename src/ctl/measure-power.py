#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl measure-power: what a busy CPU takes at each OPP, as opp-power lines of a policy.

A loop runs on all CPUs of one domain, which its limits keep at one OPP, beside the energy counter of the
machine. Meanwhile all other domains are at their lowest OPP and idle. Windows with the loop and idle ones
come in random order, in rounds: a round has each OPP once. A round's figure is the power of the loop's
window, less that of its idle windows, for each of the CPUs. Domains with the same OPPs take turns.

wakegovctl starts this program with its options as JSON.
"""
import contextlib
import glob
import json
import math
import mmap
import os
import random
import signal
import socket
import statistics
import struct
import sys
import time

sys.dont_write_bytecode = True  # no __pycache__ beside the programs
import wakegov_measuring as measuring  # noqa: E402
from wakegov_measuring import REFUSED, Failure  # noqa: E402

ROUNDS_LEAST = 5  # fewer make the interval twice as wide: t has 12.7 for two, 2.8 for five
WINDOW_S, WINDOW_LEAST_S = 0.25, 0.1  # powercap's counters change every millisecond
SETTLE_SHARE = 4  # of a window what passes before it is measured
IDLE_WINDOWS = 2  # in each round
OTHER_CPUS = 0.2  # so many CPUs may be busy with other work
CHARGE_LEAST_PERCENT = 10
OFF_PERCENT = 5  # a CPU whose speed differs more from its OPP's did not run there

OPPS_MAX, STEP_KHZ = 64, 100000  # as src/actuator/discovery.c
LINES_MAX = 256  # as wakegov.conf(5)
ROUNDED = 1.001  # a difference of energies that is less makes no OPP inefficient, as in src/core/opp.c


def read_list(path):
    return [int(word) for word in measuring.read(path).split() if word.isdigit()]


class Domain:
    """A cpufreq policy, whose limits keep it at one OPP."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        self.cpus = read_list(f"{path}/affected_cpus")
        self.lowest_khz, highest_khz = (measuring.number(f"{path}/cpuinfo_{end}_freq") for end in ("min", "max"))
        self.opps = self.find_opps(highest_khz)
        self.saved = [measuring.read(f"{path}/scaling_{end}_freq") for end in ("min", "max")]
        cpu = os.path.join(path, "../../cpu")
        # Cores of two kinds may have the same OPPs.
        self.kind = (tuple(self.opps), measuring.read(f"{cpu}{self.cpus[0]}/cpu_capacity") if self.cpus else "",
                     str(self.cpus and self.cpus[0] in cores_of_atoms(os.path.join(path, "../../../../.."))))

    def find_opps(self, highest_khz):
        """Those that wakegovd has, in kHz, the lowest first."""
        listed = read_list(f"{self.path}/scaling_available_frequencies")
        boost = [f"{self.path}/boost", os.path.join(self.path, "../boost")]
        if listed and next((measuring.number(file) for file in boost if os.path.exists(file)), 0) == 1:
            listed += read_list(f"{self.path}/scaling_boost_frequencies")
        if not listed and self.lowest_khz and highest_khz:
            low, high, step = int(self.lowest_khz), int(highest_khz), STEP_KHZ
            while (high - low) // step + 2 > OPPS_MAX:
                step += STEP_KHZ
            listed = [*range(low, high, step), high]
        listed = sorted(set(listed))
        n = min(len(listed), OPPS_MAX)
        return [listed[i * (len(listed) - 1) // (n - 1) if n > 1 else 0] for i in range(n)]

    def limit(self, low, high):
        """The minimum first goes out of the way of the maximum."""
        for end, khz in (("min", f"{self.lowest_khz:.0f}"), ("max", high), ("min", low)):
            with open(f"{self.path}/scaling_{end}_freq", "w", encoding="ascii") as file:
                file.write(str(khz))

    def pin(self, khz):
        """schedutil applies limits when a task next wakes up on the CPU, so this one does."""
        self.limit(khz, khz)
        for cpu in self.cpus:
            os.sched_setaffinity(0, {cpu})
            time.sleep(0.001)

    def restore(self):
        self.limit(*self.saved)


def cores_of_atoms(sys_path):
    """The CPUs that are no performance cores, where the kernel names two kinds (perf's PMU cpu_atom)."""
    found = set()
    for part in filter(None, measuring.read(f"{sys_path}/devices/cpu_atom/cpus").split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def find_groups(sys_path):
    """Domains of the same OPPs and kind, the largest group first."""
    groups = {}
    paths = glob.glob(f"{sys_path}/devices/system/cpu/cpufreq/policy*")
    for domain in map(Domain, sorted(paths, key=lambda path: int(path.rsplit("policy", 1)[1]))):
        if domain.cpus and domain.opps:
            groups.setdefault(domain.kind, []).append(domain)
    if not groups:
        raise Failure("this machine has no frequencies to measure: it has no cpufreq domain. "
                      "See: wakegovctl doctor", REFUSED)
    return sorted(groups.values(), key=len, reverse=True)


class Loops:
    """A loop on each of some CPUs, which counts its turns. It ends with this program, however that ends."""

    def __init__(self, cpus):
        self.turns = mmap.mmap(-1, 64 * len(cpus))  # a line of the cache for each
        self.children = [self.start(cpu, 64 * i) for i, cpu in enumerate(cpus)]

    def start(self, cpu, place):
        parent = os.getpid()
        child = os.fork()
        if child:
            return child
        try:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.sched_setaffinity(0, {cpu})
            turns = 0
            while os.getppid() == parent:
                for _ in range(2000):
                    turns += 1
                struct.pack_into("q", self.turns, place, turns)
        finally:
            os._exit(0)

    def wait_begun(self):
        """A fork takes a slow CPU longer than a window's settling."""
        while not all(struct.unpack_from("q", self.turns, 64 * i)[0] for i in range(len(self.children))):
            time.sleep(0.001)

    def count(self):
        return sum(struct.unpack_from("q", self.turns, 64 * i)[0] for i in range(len(self.children)))

    def end(self):
        for child in self.children:
            os.kill(child, signal.SIGKILL)
        for child in self.children:
            os.waitpid(child, 0)
        self.turns.close()


def busy_s(proc="/proc"):
    """What all CPUs were not idle, since the boot, in seconds."""
    fields = next(line.split() for line in measuring.read(f"{proc}/stat").splitlines() if line.startswith("cpu "))
    return sum(int(fields[i]) for i in (1, 2, 3, 6, 7, 8)) / os.sysconf("SC_CLK_TCK")


class Measurement:
    """Rounds of windows. Everything is put back by restore()."""

    def __init__(self, groups, meter, for_s):
        self.groups, self.meter, self.for_s = groups, meter, for_s
        self.domains = [domain for group in groups for domain in group]
        self.cpus = os.sched_getaffinity(0)
        self.rounds, self.other = [], []  # a round: {(group, kHz): (watts, turns for each s), None: watts}

    def measure(self, domain, khz, window_s):
        """A window: watts and turns in a second, of all CPUs; domain None: idle."""
        loops = None
        try:
            if domain:
                domain.pin(khz)
                os.sched_setaffinity(0, self.cpus - set(domain.cpus) or self.cpus)
                loops = Loops(domain.cpus)
                loops.wait_begun()
            self.read()  # after a fork the first reading takes longer, as memory is copied
            time.sleep(window_s / SETTLE_SHARE)
            begin_s, begin_busy = self.read(), busy_s()
            joules, turns = self.meter.joules, loops.count() if loops else 0
            time.sleep(window_s * (1 - 1 / SETTLE_SHARE))
            for_s = self.read() - begin_s
            turns = loops.count() - turns if loops else 0
            self.other.append((busy_s() - begin_busy) / for_s - (len(domain.cpus) if domain else 0))
            return (self.meter.joules - joules) / for_s, turns / for_s
        finally:
            if loops:
                loops.end()
            if domain:
                domain.pin(domain.opps[0])

    def read(self):
        now_s = time.monotonic()
        self.meter.look(now_s)
        return now_s

    def measure_round(self, chance, window_s):
        number = len(self.rounds)
        windows = [(i, khz) for i, group in enumerate(self.groups) for khz in group[0].opps]
        windows += [None] * IDLE_WINDOWS
        chance.shuffle(windows)
        found, idle = {}, []
        for window in windows:
            if window is None:
                idle.append(self.measure(None, 0, window_s)[0])
                continue
            group, khz = window
            domain = self.groups[group][number % len(self.groups[group])]
            watts, turns = self.measure(domain, khz, window_s)
            found[window] = (watts, turns, len(domain.cpus))
        idle_watts = statistics.fmean(idle)
        self.rounds.append({window: ((watts - idle_watts) / n, turns / n)
                            for window, (watts, turns, n) in found.items()} | {None: (idle_watts, 0)})

    def run(self, seed):
        chance = random.Random(seed)
        n_windows = sum(len(group[0].opps) for group in self.groups) + IDLE_WINDOWS
        n_rounds = max(ROUNDS_LEAST, int(self.for_s / n_windows / WINDOW_S))
        window_s = max(WINDOW_LEAST_S, self.for_s / n_windows / n_rounds)
        for domain in self.domains:
            domain.pin(domain.opps[0])
        while len(self.rounds) < n_rounds:
            self.measure_round(chance, window_s)
        if self.meter.lost:
            raise Failure(f"the energy counter ({self.meter.source}) could not be read at times", REFUSED)
        if (other := statistics.fmean(self.other)) > OTHER_CPUS:
            raise Failure(f"other work came meanwhile, {other:.1f} CPUs of it, so that the figures are not of "
                          "the OPPs. End it and try again", REFUSED)

    def restore(self):
        """Also where one of them cannot be written: then the others are."""
        os.sched_setaffinity(0, self.cpus)
        for domain in self.domains:
            try:
                domain.restore()
            except OSError as error:
                measuring.complain(f"cannot put back the limits of {domain.name}, {' to '.join(domain.saved)} kHz: "
                                 f"{error.strerror}")


def figures_of(rounds, group, opps):
    """What a CPU takes at each OPP, in watts for as much work as it does there at its full speed, which a
    machine that heat or current limits does not reach: {kHz: (watts, half of the interval, speed in kHz)}."""
    turns = {khz: statistics.fmean(r[group, khz][1] for r in rounds) for khz in opps}
    turns_by_khz = statistics.median(turns[khz] / khz for khz in opps)
    found = {}
    for khz in opps:
        ran_khz = turns[khz] / turns_by_khz
        if abs(ran_khz / khz - 1) * 100 <= OFF_PERCENT:
            ran_khz = khz  # as far as the loop can tell
        windows = [r[group, khz][0] for r in rounds]
        # Other work only adds: a window that had some widens the interval, and moves the figure little.
        watts, half = statistics.median(windows), measuring.mean_of(windows)[1]
        if watts - half <= 0:
            raise Failure(f"the counter shows no power of a busy CPU at {khz / 1000:.10g} MHz: {watts:.3f} ± "
                          f"{half:.3f} W above idle. Try: --for 5m", REFUSED)
        found[khz] = (watts * khz / ran_khz, half * khz / ran_khz, ran_khz)
    return found


def judge(figures):
    """Which OPPs take more energy for the same work than a faster one, beyond the intervals of the two.
    Where one takes more only within them its power is lowered to that of equal energy, so that
    chance makes no OPP inefficient. Returns {kHz: (watts for the policy, the better kHz or 0)}."""
    judged, best = {}, None
    for khz in sorted(figures, reverse=True):
        watts, half, _ = figures[khz]
        judged[khz] = watts, 0
        if best and watts / khz > ROUNDED * figures[best][0] / best:
            least, least_half = (value * khz / best for value in figures[best][:2])
            if watts - least > math.hypot(half, least_half):
                judged[khz] = watts, best
            else:
                judged[khz] = least, 0
        if not best or watts / khz < figures[best][0] / best:
            best = khz
    return judged


def answer_of(measurement, seed):
    """As wakegovctl(1) documents it."""
    groups = []
    for i, group in enumerate(measurement.groups):
        figures = figures_of(measurement.rounds, i, group[0].opps)
        judged = judge(figures)
        groups.append({"domains": [domain.name for domain in group], "opps": [
            {"khz": khz, "watts": watts, "within_watts": half, "ran_khz": ran_khz,
             "policy_watts": judged[khz][0], "better_khz": judged[khz][1] or None}
            for khz, (watts, half, ran_khz) in figures.items()]})
    return {"source": measurement.meter.source, "seed": seed, "rounds": len(measurement.rounds),
            "idle_watts": statistics.fmean(r[None][0] for r in measurement.rounds), "groups": groups}


def mhz(khz):
    return f"{khz / 1000:.10g} MHz"


def remarks_on(opp):
    """What stands above an OPP's line."""
    said = f"{opp['watts']:.3f} ± {opp['within_watts']:.3f} W"
    if opp["better_khz"]:
        said += f"; inefficient: {mhz(opp['better_khz'])} takes less energy for the same work"
    elif opp["policy_watts"] < opp["watts"]:
        said += "; no different from a faster one, and so given as much energy"
    if opp["ran_khz"] != opp["khz"]:
        said += f"; its CPUs ran at some {opp['ran_khz'] / 1000:.0f} MHz"
    return said


def policy_of(answer):
    """Lines for a file of the policy. [domain] is for the largest group: there is room for 256 lines."""
    lines = [f"# By wakegovctl measure-power, {time.strftime('%Y-%m-%d')}: what a busy CPU takes above an idle one, "
             f"in {answer['rounds']} rounds",
             f"# by {answer['source']}, with intervals of 95 %. All of the idle machine: "
             f"{answer['idle_watts']:.3f} W."]
    n_lines = 0
    for i, group in enumerate(answer["groups"]):
        for section in [f" {name}" for name in group["domains"]] if i else [""]:
            lines.append(f"[domain{section}]")
            for opp in group["opps"]:
                lines.append(f"# {mhz(opp['khz'])}: {remarks_on(opp)}")
                lines.append(f"opp-power = {mhz(opp['khz']).replace(' ', '')} {opp['policy_watts'] * 1e6:.0f}uW")
                n_lines += 1
    if n_lines > LINES_MAX:
        lines.append(f"# These are {n_lines} lines; a policy has room for {LINES_MAX}.")
    return "\n".join(lines) + "\n"


def refuse_battery(sys_path):
    for supply in glob.glob(f"{sys_path}/class/power_supply/*"):
        charge = measuring.number(f"{supply}/capacity")
        if (measuring.read(f"{supply}/type") == "Battery" and measuring.read(f"{supply}/scope") != "Device" and
                measuring.read(f"{supply}/status") == "Discharging" and charge is not None and
                charge < CHARGE_LEAST_PERCENT):
            raise Failure(f"the battery has {charge:.0f} % left, and every CPU would run at its highest "
                          "frequency. Connect the machine to the mains", REFUSED)


def find_meter(sys_path):
    """A counter: the sensors of power of a second's mean, or of a battery, are too slow for a window."""
    meter = measuring.Meter(sys_path, time.monotonic())
    if not meter.inputs or not meter.inputs[0]["counts"]:
        raise Failure("this machine shows no counter of its CPUs' energy (/sys/class/powercap). Try: modprobe "
                      "intel_rapl_msr; a virtual machine has none", REFUSED)
    return meter


def refuse_load(watch_s):
    begin = busy_s()
    time.sleep(watch_s)
    if (busy := (busy_s() - begin) / watch_s) > OTHER_CPUS:
        raise Failure(f"{busy:.1f} CPUs are busy, and their power would count as that of the OPPs. End the "
                      "load (see: top) and try again", REFUSED)


def borrow(options):
    """wakegovd hands its domains back until the connection is closed; None: it drives none, or is not there."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(options["socket"])
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except OSError as error:
            raise Failure(f"cannot ask wakegovd at {options['socket']} for its domains: {error.strerror}. See: "
                          "systemctl status wakegovd", REFUSED) from error
    daemon = measuring.Daemon(options["socket"], options["timeout_us"] / 1e6)
    states = [domain["state"] for domain in daemon.call("Status")["domains"]]
    if "handed-back" in states:
        raise Failure("wakegovd's domains are lent to another experiment. Wait for its end: wakegovctl status",
                      REFUSED)
    if "driven" not in states:
        return None
    return daemon.hand_back(None)


def on_signal(number, _):
    """A second one does not keep the limits from being put back."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise Failure(f"ended by {signal.Signals(number).name}, and all limits are put back", REFUSED)


def main(options, sys_path="/sys"):
    if os.geteuid() != 0:
        raise Failure("only root can set limits and read the counter. Try: sudo wakegovctl measure-power", REFUSED)
    groups, meter = find_groups(sys_path), find_meter(sys_path)
    refuse_battery(sys_path)
    refuse_load(1)
    seed = random.randrange(1 << 31)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    with contextlib.ExitStack() as ends:
        lent = borrow(options)
        if lent:
            ends.callback(lent.close)
        # Handed back, a domain has the limits from before wakegovd.
        measurement = Measurement(find_groups(sys_path) if lent else groups, meter, options["for_us"] / 1e6)
        ends.callback(measurement.restore)
        measurement.run(seed)
    answer = answer_of(measurement, seed)
    if options["json"]:
        print(json.dumps(answer, indent=2))
    else:
        print(policy_of(answer), end="")


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except Failure as caught:
        measuring.complain(caught.args[0])
        sys.exit(caught.args[1])
