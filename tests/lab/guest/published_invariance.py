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
import table_programs as programs

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
# As git tests itself: a shell starts git and other short commands, and compares what they print.
GIT_TESTS = f"""export HOME={programs.WORK} GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
rm -rf {programs.WORK}/git; mkdir {programs.WORK}/git; cd {programs.WORK}/git; git init -q .
for i in 1 2 3 4 5 6 7 8; do
    echo "line $i" >>file; git add file; git commit -q -m "commit $i"
    git rev-parse HEAD >actual; test "$(cat actual)" = "$(git log -1 --format=%H)"
    git diff HEAD~0 --stat >diff; test ! -s diff
    git ls-files | sort >files; grep -q file files
done
git log --oneline | wc -l >count; test "$(cat count)" -eq 8
git branch side; git checkout -q side; echo side >>file; git commit -qam side
git checkout -q master; git merge -q side; git fsck 2>/dev/null; git gc -q
"""


def disk():
    """Without what a run before left there."""
    programs.shell(f"rm -rf {programs.DISK}/dbench; mkdir {programs.DISK}/dbench")
    return contextlib.nullcontext()


def dbench(clients):
    return programs.workload(
        f"dbench{clients}", "MB/s", "higher",
        f"dbench -D {programs.DISK}/dbench -c /usr/share/dbench/client.txt -t 3 {clients}",
        programs.tbench, (programs.ext4,), disk)


def tbench(clients):
    return programs.workload(f"tbench{clients}", "MB/s", "higher",
                             programs.tbench_command(clients, 3), programs.tbench, (),
                             programs.tbench_server)


def make(jobs):
    return programs.workload(f"make{jobs}", "ms", "lower",
                             f"cd {programs.WORK}/make; rm -f *.o *.a; make -s -j{jobs}",
                             programs.completion, (programs.objects,))


def hackbench(name, *options):
    command = " ".join(("hackbench -g 1 -f 10 -l 200", *options))
    return programs.workload(name, "ms", "lower", command, programs.hackbench)


WORKLOADS = (
    *(tbench(clients) for clients in (1, 2, 4, 8)),
    *(dbench(clients) for clients in (1, 2, 4, 8)),
    *(make(jobs) for jobs in (1, 2, 4, 8)),
    programs.workload("gitsource", "ms", "lower", GIT_TESTS, programs.completion),
    *(programs.named(f"pgbench-{name}") for name in ("read1", "write1", "read", "write")),
    *(programs.workload(f"netperf-{kind}", "MB/s", "higher", f"python3 -c '{STREAM}' {kind}",
                        programs.turns) for kind in ("tcp", "udp")),
    *(programs.named(f"chain-{kind}") for kind in ("tcp", "udp", "pipe", "unix")),
    hackbench("hackbench-processes"),
    hackbench("hackbench-threads", "-T"),
    hackbench("hackbench-processes-pipes", "-p"),
    hackbench("hackbench-threads-pipes", "-T", "-p"),
)


def governed(name):
    """By a reference: no boosts and no chains, which schedutil has not."""
    if name not in REFERENCES:
        return programs.governed(name)
    programs.set_governor(programs.own_governor())
    return guest.Daemon("[wakegov]\nbackend = setspeed\n[io-boost]\nenabled = no\n[utilisation]\n"
                        f"chains = off\n[domain]\nfrequency-reference = {name}\n")


if __name__ == "__main__":
    programs.main(WORKLOADS, GOVERNORS, governed)
