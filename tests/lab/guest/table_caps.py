#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table caps: busy loops under caps beside interactive work, by the kernel alone and by each backend.

Usage: table_caps.py ROUNDS: how often a task without a cap comes and goes. Prints figures, and judges none of them.
"""
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

import guest

DOMAINS = {"policy0": (0, 1), "policy2": (2, 3)}
CAPS = {"policy0": 30, "policy2": 45}  # per cent
BURSTS_US = (200, 470, 730, 1000)  # at the highest frequency; of each, a task on every CPU
HIGHEST_MHZ = 1800
PERIOD_US = 53333  # 16 tasks: 300 wake-ups a second
SECONDS = 5
RULES = "".join(f"[rule cap{cap}]\ncomm = cap{cap}\ncap = {cap}%\n" for cap in CAPS.values())
TRACING = "/sys/kernel/tracing"
BACKENDS = ("kernel", "setspeed", "uclamp", "limits")
FREE = "free"  # the task without a cap
FREE_SECONDS = 0.3


def opps(name):
    return sorted(int(khz) for khz in
                  guest.read(guest.policy(name, "scaling_available_frequencies")).split())


def capped_khz(name):
    """The lowest OPP at or above the cap, which is in 1024ths."""
    cap = round(CAPS[name] * 10.24)
    return next(khz for khz in opps(name) if khz * 1024 >= cap * opps(name)[-1])


def set_comm(name):
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write(name)


@contextlib.contextmanager
def capped_loops(caps, by_kernel, nice=0):
    """A busy loop on each CPU, by its cap in per cent. Forked, so that no program's start is measured."""
    pids = []
    for cpu, cap in caps.items():
        pid = os.fork()
        if not pid:
            os.sched_setaffinity(0, {cpu})
            os.nice(nice)
            set_comm(f"cap{cap}")
            while True:
                pass
        pids.append(pid)
        if by_kernel:
            subprocess.run(["uclampset", "-M", str(round(cap * 10.24)), "-p", str(pid)], check=True,
                           stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def interactive():
    return [guest.start_load("periodic", "--period-us", str(PERIOD_US), "--busy-cycles",
                             str(busy_us * HIGHEST_MHZ), "--threads", "4", "--cpus", "0-3", "--pin",
                             "--margin-ms", "1000", "--time", str(SECONDS), "--json")
            for busy_us in BURSTS_US]


def measured(load):
    """What freqload says of itself at its end."""
    out, error = load.communicate(timeout=60)
    if load.returncode:
        raise RuntimeError(f"freqload: {error}")
    return json.loads(out.splitlines()[-1])


def residency():
    """Shares at or below the capped OPP and at the highest, by domain, and the load's bursts a second."""
    loads = interactive()
    for load in loads:
        load.stdout.readline()  # begin
    before = {name: guest.time_in_state(name) for name in DOMAINS}
    loads[0].stdout.readline()  # end
    shares = {}
    for name in DOMAINS:
        after = guest.time_in_state(name)
        spent = {khz: after[khz] - before[name][khz] for khz in after}
        low = sum(spent[khz] for khz in spent if khz <= capped_khz(name))
        shares[name] = (low / sum(spent.values()), spent[max(spent)] / sum(spent.values()))
    return shares, sum(measured(load)["work_per_s"] for load in loads)


def start_tracing():
    if not os.path.exists(f"{TRACING}/trace"):
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    guest.write(f"{TRACING}/trace_clock", "mono")
    for event, condition in (("sched/sched_waking", f'comm == "{FREE}"'),
                             ("sched/sched_switch", f'prev_comm == "{FREE}" && prev_state != 0')):
        guest.write(f"{TRACING}/events/{event}/filter", condition)
        guest.write(f"{TRACING}/events/{event}/enable", 1)
    guest.write(f"{TRACING}/events/power/cpu_frequency/enable", 1)


def traced():
    """Rows of seconds, event, arguments since the trace was emptied."""
    for line in guest.read(f"{TRACING}/trace").splitlines():
        found = re.search(r"\s([\d.]+): (\w+): (.*)", line)
        if found:
            yield float(found[1]), found[2], found[3]


def first(rows, event, text, after=0.0):
    return next((at for at, name, arguments in rows
                 if name == event and at >= after and re.search(text, arguments)), None)


def frequency_after(rows, at, cpu, khz, wanted):
    """When the CPU's frequency, khz before all rows, is first one that is wanted, not before `at`."""
    matches = ((when, re.match(rf"state=(\d+) cpu_id={cpu}$", arguments))
               for when, event, arguments in rows if event == "cpu_frequency")
    changes = [(when, int(found[1])) for when, found in matches if found]
    for when, new_khz in changes:
        if when <= at:
            khz = new_khz
    if wanted(khz):
        return at
    return next((when for when, new_khz in changes if when > at and wanted(new_khz)), None)


def sleeps(pid):
    comm, state = guest.read(f"/proc/{pid}/stat").split(" ")[1:3]
    return (comm, state) == (f"({FREE})", "S")


def come_and_go(name, cpu):
    """ms from when a task without a cap is runnable to the highest OPP, and from its end to the cap."""
    guest.write(f"{TRACING}/trace", "")
    before_khz = guest.frequency(name)
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.sched_setaffinity(0, {cpu})
        set_comm(FREE)
        os.read(reader, 1)
        until = time.monotonic() + FREE_SECONDS
        while time.monotonic() < until:
            pass
        os._exit(0)
    guest.wait_for(lambda: sleeps(pid), 5, f"{FREE} waits")
    time.sleep(0.3)
    os.write(writer, b"x")
    os.waitpid(pid, 0)
    time.sleep(0.5)
    os.close(reader)
    os.close(writer)
    rows = list(traced())
    began = [at for at, event, _ in rows if event == "sched_waking"][-1]
    ended = [at for at, event, _ in rows if event == "sched_switch"][-1]
    highest, capped = opps(name)[-1], capped_khz(name)
    up = frequency_after(rows, began, cpu, before_khz, lambda khz: khz == highest)
    down = frequency_after(rows, ended, cpu, before_khz, lambda khz: khz <= capped)
    return (up and (up - began) * 1000, down and (down - ended) * 1000)


def spread(values):
    known = [value for value in values if value is not None]
    never = f", {len(values) - len(known)} never" if len(known) < len(values) else ""
    if not known:
        return "never"
    return f"{statistics.median(known):.1f} ({min(known):.1f}-{max(known):.1f}{never})"


def measure(backend, rounds):
    by_kernel = backend == "kernel"
    guest.set_governor("schedutil")
    daemon = contextlib.nullcontext() if by_kernel else \
        guest.Daemon(f"[wakegov]\nbackend = {backend}\n{RULES}")
    caps = {cpu: CAPS[name] for name, cpus in DOMAINS.items() for cpu in cpus}
    with daemon, capped_loops(caps, by_kernel):
        time.sleep(1)
        shares, bursts_per_s = residency()
        ups, downs = zip(*(come_and_go("policy0", 1) for _ in range(rounds)))
    return shares, bursts_per_s, ups, downs


def main(rounds):
    kernel_bursts_per_s = None
    start_tracing()
    for name in DOMAINS:
        print(f"{name}: two busy loops, cap {CAPS[name]} % of {opps(name)[-1] // 1000} MHz; capped "
              f"OPP {capped_khz(name) // 1000} MHz")
    print(f"\n{'backend':10}{'at or below the capped OPP':28}{'at the highest':18}"
          f"{'interactive work':18}{'lifted, ms':24}back, ms")
    for backend in BACKENDS:
        shares, bursts_per_s, ups, downs = measure(backend, rounds)
        kernel_bursts_per_s = kernel_bursts_per_s or bursts_per_s
        low, high = (" / ".join(f"{share[which]:.1%}" for share in shares.values())
                     for which in (0, 1))
        print(f"{backend:10}{low:28}{high:18}{bursts_per_s / kernel_bursts_per_s:<18.1%}"
              f"{spread(ups):24}{spread(downs)}", flush=True)
    print(f"\nResidency over {SECONDS} s beside bursts of {BURSTS_US[0]}-{BURSTS_US[-1]} us at the "
          f"highest frequency,\n{16e6 / PERIOD_US:.0f} a second in all. kernel: uclampset under "
          f"schedutil. interactive work: bursts done, to the kernel's.\nlifted, back: a busy task "
          f"without a cap is runnable, and ends, on CPU 1: median (least-most) of {rounds}.\n"
          f"Kernel {os.uname().release}, emulated; each CPU's time goes by its frequency.")


if __name__ == "__main__":
    main(int(sys.argv[1]))
