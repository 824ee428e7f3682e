#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table published --of invariance: the programs of the patches for frequency invariance on x86.

Usage: published_invariance.py [--seed N] [--governors LIST] [--workloads LIST]. A JSON object a
line for each workload under each governor, as table_programs.py prints it. Governors are those of
table_programs.py, and base, turbo-1c and turbo-4c: utilisation alone, as schedutil has it, with
that frequency as the reference, by wakegovd.
"""
import contextlib

import guest
import programs_workloads
import table_programs as programs
import workloads

REFERENCES = ("base", "turbo-1c", "turbo-4c")
GOVERNORS = ("own", "base", "turbo-1c", "turbo-4c", "wakegov")
# The sender ends when it has sent for a second, which is the figure: MB of what the receiver got.
STREAM = """import os, socket, sys, time
kind, size = (socket.SOCK_STREAM, 16384) if sys.argv[1] == "tcp" else (socket.SOCK_DGRAM, 1472)
end = socket.socket(socket.AF_INET, kind); end.bind(("127.0.0.1", 0))
if kind == socket.SOCK_STREAM: end.listen()
if not os.fork():
    sender = socket.socket(socket.AF_INET, kind); sender.connect(end.getsockname())
    data = bytes(size); until = time.monotonic() + 1.5
    while time.monotonic() < until: sender.send(data)
    os._exit(0)
source = end.accept()[0] if kind == socket.SOCK_STREAM else end
source.settimeout(0.5); begin = time.monotonic() + 0.4; got = 0; now = 0
try:
    while part := source.recv(65536):
        now = time.monotonic()
        if now > begin: got += len(part)
except TimeoutError: pass
print(got / 1e6 / (now - begin))
"""


def disk():
    """Without what a run before left there."""
    workloads.shell(f"rm -rf {workloads.DISK}/dbench; mkdir {workloads.DISK}/dbench")
    return contextlib.nullcontext()


def dbench(clients):
    return workloads.workload(
        f"dbench{clients}", "MB/s", "higher",
        f"dbench -D {workloads.DISK}/dbench -c /usr/share/dbench/client.txt -t 3 {clients}",
        workloads.tbench, (workloads.ext4,), disk)


def tbench(clients):
    return workloads.workload(f"tbench{clients}", "MB/s", "higher",
                              workloads.tbench_command(clients, 3), workloads.tbench, (),
                              workloads.tbench_server)


def make(jobs):
    return workloads.workload(f"make{jobs}", "ms", "lower",
                              f"cd {workloads.WORK}/make; rm -f *.o *.a; make -s -j{jobs}",
                              workloads.completion, (workloads.objects,))


def hackbench(name, *options):
    command = " ".join(("hackbench -g 1 -f 10 -l 200", *options))
    return workloads.workload(name, "ms", "lower", command, workloads.hackbench)


WORKLOADS = (
    *(tbench(clients) for clients in (1, 2, 4, 8)),
    *(dbench(clients) for clients in (1, 2, 4, 8)),
    *(make(jobs) for jobs in (1, 2, 4, 8)),
    programs_workloads.named("gitsource"),
    *(programs_workloads.named(f"pgbench-{name}") for name in ("read1", "write1", "read", "write")),
    *(workloads.workload(f"netperf-{kind}", "MB/s", "higher", f"python3 -c '{STREAM}' {kind}",
                         workloads.turns) for kind in ("tcp", "udp")),
    *(programs_workloads.named(f"chain-{kind}") for kind in ("tcp", "udp", "pipe", "unix")),
    hackbench("hackbench-processes"),
    hackbench("hackbench-threads", "-T"),
    hackbench("hackbench-processes-pipes", "-p"),
    hackbench("hackbench-threads-pipes", "-T", "-p"),
)


def governed(name):
    """By a reference: no boosts and no chains, which schedutil has not."""
    if name not in REFERENCES:
        return programs.governed(name)
    guest.set_governor(programs.own_governor())
    return guest.Daemon("[wakegov]\nbackend = setspeed\n[io-boost]\nenabled = no\n[utilisation]\n"
                        f"chains = off\n[domain]\nfrequency-reference = {name}\n")


if __name__ == "__main__":
    programs.main(WORKLOADS, GOVERNORS, governed)
