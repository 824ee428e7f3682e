#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Ordinary programs under one governor after the other, on the machine whose CPUs really slow down.

table_programs.py [--seed N] [--governors LIST] [--workloads LIST]: a JSON object a line for each workload
under each governor. A governor is one of cpufreq's, `own` for the one that is there without wakegov
(schedutil, else the driver's powersave), `wakegov` for wakegovd beside that, or `wakegov_BACKEND`.
A workload is an entry of WORKLOADS: what it needs, the command that is measured, and how its figure
is read from what it prints.
"""
import argparse
import collections
import contextlib
import csv
import json
import os
import random
import re
import socket
import subprocess
import time

import guest

WORK = "/run/work"
DISK = f"{WORK}/disk"  # ext4 on a disk with a latency
DISK_DEVICE, DISK_NS = "nullb4", 80000
TREE = f"{DISK}/tree"
CPU = 1  # of workloads with one thread of interest
BASE_MHZ = 1000  # at which MPERF counts
EVENTS = ("msr/aperf/", "msr/mperf/", "power:cpu_frequency", "duration_time")
EVENT_SOURCES = "/sys/bus/event_source/devices"

Workload = collections.namedtuple("Workload", "name unit better command read needs fresh")


def workload(name, unit, better, command, read, needs=(), fresh=None):
    """better: higher or lower; needs: set up once; fresh: done before each run."""
    return Workload(name, unit, better, command, read, needs, fresh)


def shell(command, **options):
    return subprocess.run(["bash", "-ec", command], check=True, text=True, capture_output=True,
                          **options).stdout


# What workloads need.

def latency_disk():
    guest.null_blk("null_blk_create", "completion_nsec=100000")


def bound_disk():
    guest.null_blk("null_blk_create_bound")


def drifting_disk():
    """Read from front to back, its latency goes up and down between 60 and 180 us, each 1.6 MB a step."""
    steps_us, sectors, step, table = (60, 90, 130, 180), 3200, 1, []
    for step_us in steps_us:
        shell(f". tests/lab/guest/null-blk.sh; null_blk_create nullb{step_us} size=800 "
              f"completion_nsec={step_us * 1000}")
    random.seed(1)
    for start in range(0, 500 * sectors, sectors):
        step = min(max(step + random.choice((-1, 0, 1)), 0), len(steps_us) - 1)
        table.append(f"{start} {sectors} linear /dev/nullb{steps_us[step]} {start}")
    shell("dmsetup create --noudevsync drift; dmsetup mknodes drift", input="\n".join(table))


def work_folder():
    os.makedirs(WORK, exist_ok=True)


def ext4():
    work_folder()
    if os.path.ismount(DISK):
        return
    shell(f". tests/lab/guest/null-blk.sh; null_blk_create {DISK_DEVICE} memory_backed=1 size=500 "
          f"completion_nsec={DISK_NS}; mkfs.ext4 -q /dev/{DISK_DEVICE}; mkdir -p {DISK}")
    mount()


def mount():
    shell(f"mount /dev/{DISK_DEVICE} {DISK}")


def remount():
    """So that nothing of it is cached; the programs stay so."""
    shell(f"umount {DISK}")
    mount()


def tree():
    """Our own sources, committed."""
    ext4()
    shell(f"mkdir {TREE}; cp -r src bpf include tests/unit tests/native {TREE}; cd {TREE}; "
          "git init -q; git -c core.compression=0 add .; "
          "git -c user.name=x -c user.email=x commit -qm tree")


def objects():
    """Some C files such as a kernel's, and a Makefile."""
    work_folder()
    folder = f"{WORK}/make"
    os.makedirs(folder, exist_ok=True)
    for number in range(4):
        functions = "".join(
            f"static struct n *f{i}(struct n *t, int k) {{ if (!t) {{ t = kmalloc(sizeof(*t)); "
            f"t->k = k * {i + number}; return t; }} if (k < t->k) t->l = f{i}(t->l, k); else "
            f"t->r = f{i}(t->r, k ^ {i}); return t; }}\n" for i in range(8))
        calls = "".join(f"t = f{i}(t, k);" for i in range(8))
        guest.write(f"{folder}/{number}.c", "struct n { struct n *l, *r; int k; };\n"
                    "void *kmalloc(unsigned long);\n" + functions +
                    f"struct n *g{number}(struct n *t, int k) {{ {calls} return t; }}\n")
    guest.write(f"{folder}/Makefile", "O := $(patsubst %.c,%.o,$(wildcard *.c))\n"
                "built-in.a: $O\n\tar rcs $@ $^\n%.o: %.c\n\tgcc -O2 -c -o $@ $<\n")


def data():
    work_folder()
    shell(f"head -c 200000 /usr/bin/perl >{WORK}/data")


def sound():
    work_folder()
    shell(f"sox -q -n -r 44100 -c 2 {WORK}/sound.wav synth 1.6 pluck E2 pluck A3")


def sqlite():
    ext4()
    shell(f"""python3 - <<'END'
import sqlite3
db = sqlite3.connect("{DISK}/read.db")
db.execute("create table t(k integer primary key, v blob)")
db.executemany("insert into t values(?, zeroblob(900))", ((i,) for i in range(4000)))
db.commit()
END""")


PG, PG_BIN = f"{DISK}/pg", "/usr/lib/postgresql/15/bin"
AS_NOBODY = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
PG_SETTINGS = """listen_addresses = ''
unix_socket_directories = '/tmp'
shared_buffers = 1MB
autovacuum = off
"""


def pg_ctl(verb):
    shell(f"{AS_NOBODY} {PG_BIN}/pg_ctl -s -w -D {PG} -l /tmp/pg.log {verb}")


def postgres():
    """A database of 60 MB."""
    ext4()
    shell(f"mkdir {PG}; chown nobody {PG}; {AS_NOBODY} {PG_BIN}/initdb -N -A trust -U postgres "
          f"--wal-segsize=1 {PG}")
    with open(f"{PG}/postgresql.conf", "a", encoding="ascii") as file:
        file.write(PG_SETTINGS)
    pg_ctl("start")
    shell(f"{PG_BIN}/pgbench -i -q -s 4 -h /tmp -U postgres postgres")
    pg_ctl("stop")


@contextlib.contextmanager
def running_postgres():
    pg_ctl("start")
    try:
        yield
    finally:
        pg_ctl("stop")


@contextlib.contextmanager
def cold_postgres():
    remount()
    with running_postgres():
        yield


@contextlib.contextmanager
def warm_postgres():
    with running_postgres():
        shell(f"{PG_BIN}/psql -qh /tmp -U postgres -c 'select sum(abalance) from pgbench_accounts' postgres")
        yield


@contextlib.contextmanager
def cold():
    remount()
    yield


NGINX = f"""daemon off; worker_processes 2; pid {WORK}/nginx.pid; user root;
events {{}}
http {{ access_log off; sendfile on; client_body_temp_path {WORK}; proxy_temp_path {WORK};
fastcgi_temp_path {WORK}; uwsgi_temp_path {WORK}; scgi_temp_path {WORK};
server {{ listen 127.0.0.1:8080; root {WORK}/www; gzip on; gzip_min_length 1; }} }}
"""


def www():
    work_folder()
    guest.write(f"{WORK}/nginx.conf", NGINX)
    shell(f"mkdir -p {WORK}/www; head -c 8000 README.md >{WORK}/www/index.html")


@contextlib.contextmanager
def server(command, is_up):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        guest.wait_for(is_up, 10, f"{command[0]} is up")
        yield
    finally:
        process.terminate()
        process.wait()


def listens(port):
    def is_up():
        with socket.socket() as probe:
            return not probe.connect_ex(("127.0.0.1", port))
    return is_up


def nginx():
    return server(["nginx", "-c", f"{WORK}/nginx.conf", "-p", WORK, "-e", "stderr"],
                  lambda: os.path.exists(f"{WORK}/nginx.pid"))


def tbench_server():
    return server(["tbench_srv"], listens(7003))


def redis():
    """Each write is in the log, and the log on the disk, before it is answered."""
    shell(f"rm -rf {DISK}/redis; mkdir {DISK}/redis")
    return server(["redis-server", "--port", "6379", "--save", "", "--appendonly", "yes", "--appendfsync",
                   "always", "--dir", f"{DISK}/redis"], listens(6379))


@contextlib.contextmanager
def cold_copy():
    shell(f"rm -rf {DISK}/copy")
    remount()
    yield


# How a figure is read: each gives the figure, and p50 and p99 in us where there are some.

def fio(text):
    job = json.loads(text[text.index("{"):])["jobs"][0]["read"]
    percentile = job["clat_ns"]["percentile"]
    return job["iops"], percentile["50.000000"] / 1000, percentile["99.000000"] / 1000


def printed(text):
    """What our own small loops print."""
    return tuple(float(word) for word in text.split())


def wrk(text):
    def us(which):
        value, unit = re.search(rf"\s{which}%\s+([\d.]+)(us|ms|s)", text).groups()
        return float(value) * {"us": 1, "ms": 1000, "s": 1e6}[unit]
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), us(50), us(99)


def pgbench(text):
    """Of the log's transactions those that ended after a quarter of a second."""
    rows = [line.split() for line in text.splitlines()]
    ends = [(int(row[4]) * 1000000 + int(row[5]), int(row[2])) for row in rows]
    start = min(end - took for end, took in ends) + 250000
    late = [(end, took) for end, took in ends if end > start]
    took = sorted(us for _, us in late)
    return (len(late) / (max(late)[0] - start) * 1e6, took[len(took) // 2],
            took[len(took) * 99 // 100])


def tbench(text):
    return float(re.search(r"Throughput ([\d.]+)", text)[1]), None, None


def redis_benchmark(text):
    """Its last line: the test, requests/s, and in ms the mean, the least, p50, p95, p99, the most."""
    row = next(csv.reader([text.splitlines()[-1]]))
    return float(row[1]), float(row[4]) * 1000, float(row[6]) * 1000


def hackbench(text):
    return float(re.search(r"Time: ([\d.]+)", text)[1]) * 1000, None, None


def cyclictest(text):
    counts = {int(us): int(count) for us, count in re.findall(r"^(\d{6}) (\d+)", text, re.M)}
    total, seen, found = sum(counts.values()), 0, {}
    for us in sorted(counts):
        seen += counts[us]
        for part in (50, 99):
            if part not in found and seen * 100 >= total * part:
                found[part] = us
    return None, found[50], found[99]


def completion(_):
    """How long the command took, which who measures it knows."""
    return None, None, None


def fio_command(engine, device, depth=1, order="randread"):
    return (f"fio --name=x --filename={device} --ioengine={engine} --iodepth={depth} --direct=1 "
            f"--rw={order} --bs=4k --ramp_time=500ms --runtime=1s --time_based --thread "
            f"--cpus_allowed={CPU} --output-format=json")


SQLITE_COMMITS = f"""import os, sqlite3, time
for suffix in ("", "-journal"):
    if os.path.exists("{DISK}/d" + suffix): os.unlink("{DISK}/d" + suffix)
os.sched_setaffinity(0, {{{CPU}}})
db = sqlite3.connect("{DISK}/d")
db.execute("create table t(a, b)"); db.commit()
start = time.monotonic(); took = []; now = start
while now < start + 1.5:
    db.execute("insert into t values(?, ?)", (1, now)); db.commit()
    before, now = now, time.monotonic()
    if before > start + 0.5: took.append(now - before)
took.sort()
print(len(took) / sum(took), took[len(took) // 2] * 1e6, took[len(took) * 99 // 100] * 1e6)
"""
SQLITE_READS = f"""import os, random, sqlite3, time
os.sched_setaffinity(0, {{{CPU}}})
db = sqlite3.connect("{DISK}/read.db")
random.seed(1); took = []; start = now = time.monotonic()
for key in random.sample(range(4000), 1500):
    db.execute("select length(v) from t where k = ?", (key,)).fetchone()
    before, now = now, time.monotonic()
    took.append(now - before)
took.sort()
print(1500 / (now - start), took[750] * 1e6, took[1485] * 1e6)
"""
# A player: takes 20 ms of sound each 20 ms, and says how late it came.
PLAYER = f"""import os, subprocess, time
sound = subprocess.Popen(["sox", "-q", "{WORK}/sound.wav", "-t", "raw", "-", "reverb", "bass", "3"],
                         stdout=subprocess.PIPE, pipesize=4096).stdout.fileno()
late = []; chunk = 44100 * 4 // 50; start = None
while True:
    got = 0
    while got < chunk:
        part = os.read(sound, chunk - got)
        if not part: break
        got += len(part)
    if got < chunk: break
    now = time.monotonic()
    start = start or now
    due = start + len(late) * 0.02
    late.append(max(0, now - due))
    time.sleep(max(0, due + 0.02 - time.monotonic()))
late.sort()
print(len(late), late[len(late) // 2] * 1e6, late[len(late) * 99 // 100] * 1e6)
"""


def pgbench_command(*options, clients=4):
    return (f"rm -f {WORK}/pg.*; {PG_BIN}/pgbench -n -c {clients} -T 2 -h /tmp -U postgres -l "
            f"--log-prefix={WORK}/pg {' '.join(options)} postgres >/dev/null; cat {WORK}/pg.*")


def python(text):
    return f"python3 -c '{text}'"


def tbench_command(clients, seconds=5):
    return f"tbench -c /usr/share/dbench/client.txt -t {seconds} {clients} 127.0.0.1"


def chainload(mode):
    return f"{guest.BUILD}/tests/lab/chainload {mode} 0.7"


def frameload(mode):
    return f"{guest.BUILD}/tests/lab/frameload {mode} 2"


def turns(text):
    return float(text), None, None


# Rounds of a pool's map(): the main thread, two threads that hand tasks out and take results in, and
# three processes wait for each other.
POOL = """import multiprocessing, time
def work(n): return sum(i * i for i in range(n))
took = []
with multiprocessing.Pool(3) as pool:
    start = now = time.monotonic()
    while now < start + 2:
        pool.map(work, [1500] * 6)
        before, now = now, time.monotonic()
        if before > start + 0.5: took.append(now - before)
took.sort()
print(len(took) / sum(took), took[len(took) // 2] * 1e6, took[len(took) * 99 // 100] * 1e6)
"""


# A script of short commands, most of which start others.
SCRIPT = """
for i in 1 2 3 4 5 6 7 8 9 10; do
    name=$(basename "$(dirname /usr/share/doc/readme)")
    expr $i + 1 >/dev/null
    printf "%s %s\\n" "$name" $i | sed s/doc/text/ | grep -q text
    test "$(cat /proc/self/comm)" = cat
    cut -d: -f1 /etc/passwd | sort | head -n 2 >/dev/null
done
"""


WORKLOADS = (
    workload("fio-psync", "IOPS", "higher", fio_command("psync", "/dev/nullb1"), fio,
             (latency_disk,)),
    workload("fio-libaio", "IOPS", "higher", fio_command("libaio", "/dev/nullb1"), fio,
             (latency_disk,)),
    workload("fio-uring16", "IOPS", "higher", fio_command("io_uring", "/dev/nullb1", 16), fio,
             (latency_disk,)),
    workload("fio-uring-bound", "IOPS", "higher", fio_command("io_uring", "/dev/nullb2", 64), fio,
             (bound_disk,)),
    workload("fio-drift", "IOPS", "higher", fio_command("psync", "/dev/mapper/drift", order="read"),
             fio, (drifting_disk,)),
    workload("sqlite-commit", "commits/s", "higher", python(SQLITE_COMMITS), printed, (ext4,)),
    workload("sqlite-read", "rows/s", "higher", python(SQLITE_READS), printed, (sqlite,), cold),
    workload("pgbench-read", "tps", "higher", pgbench_command("-S"), pgbench, (postgres,),
             cold_postgres),
    workload("pgbench-write", "tps", "higher", pgbench_command(), pgbench, (postgres,),
             cold_postgres),
    workload("pgbench-read1", "tps", "higher", pgbench_command("-S", clients=1), pgbench,
             (postgres,), warm_postgres),
    workload("pgbench-write1", "tps", "higher", pgbench_command(clients=1), pgbench, (postgres,),
             warm_postgres),
    *(workload(f"tbench{clients}", "MB/s", "higher", tbench_command(clients), tbench, (),
               tbench_server) for clients in (1, 2, 4)),
    # A good part of it is over before each domain is known to be kept at its highest OPP.
    workload("tbench4-2s", "MB/s", "higher", tbench_command(4, 2), tbench, (), tbench_server),
    workload("redis-aof", "requests/s", "higher",
             "redis-benchmark -t set -c 2 -n 2000 --csv", redis_benchmark, (ext4,), redis),
    workload("rsync", "ms", "lower", f"rsync -a {TREE}/src {DISK}/copy", completion, (tree,),
             cold_copy),
    workload("tar-gzip", "ms", "lower", f"tar -C {TREE} -cf - src | gzip -1 >/dev/null", completion,
             (tree,), cold),
    workload("pipeline", "ms", "lower",
             f"cat {WORK}/data | od -An -tx1 | tr a-f A-F | gzip -1 >/dev/null", completion, (data,)),
    workload("make1", "ms", "lower", f"cd {WORK}/make; rm -f *.o *.a; make -s", completion,
             (objects,)),
    workload("make", "ms", "lower", f"cd {WORK}/make; rm -f *.o *.a; make -s -j4", completion,
             (objects,)),
    workload("xz", "ms", "lower", f"xz -T1 -2 -c {WORK}/data >/dev/null", completion, (data,)),
    workload("zstd", "ms", "lower", f"zstd -q -9 -c {WORK}/data >/dev/null", completion, (data,)),
    workload("nginx", "requests/s", "higher",
             "wrk -t1 -c4 -d1s --latency -H 'Accept-Encoding: gzip' http://127.0.0.1:8080/", wrk,
             (www,), nginx),
    workload("git-status", "ms", "lower", f"cd {TREE}; git status --short", completion, (tree,),
             cold),
    workload("ripgrep", "ms", "lower", f"cd {TREE}; rg -c engine >/dev/null", completion, (tree,),
             cold),
    workload("sox", "chunks", "higher",
             python(PLAYER), printed, (sound,)),
    workload("hackbench", "ms", "lower", "hackbench -g 1 -f 10 -l 300", hackbench),
    *(workload(f"chain-{mode}", "turns/s", "higher", chainload(mode), turns)
      for mode in ("token", "futex", "pipe", "unix", "eventfd", "udp", "tcp", "timers")),
    *(workload(f"frames-{mode}", "% of those due", "higher", frameload(mode), printed)
      for mode in ("browser", "game", "sound", "rpc")),
    workload("frames-rpc-pinned", "% of those due", "higher", f"taskset -c {CPU} {frameload('rpc')}", printed),
    workload("script", "ms", "lower", SCRIPT, completion),
    workload("pool", "maps/s", "higher", python(POOL), printed),
    workload("cyclictest", "ms", "lower",
             "cyclictest --policy=other -t1 -i 3000 -l 400 -q -h 4000", cyclictest),
)


# Governors.

GOVERNORS = ("performance", "powersave", "own", "wakegov")


def own_governor():
    offered = guest.read(guest.policy("policy0", "scaling_available_governors")).split()
    return "schedutil" if "schedutil" in offered else "powersave"


def offered(names):
    """Without the backends that this machine's driver has not."""
    needs = {"wakegov_uclamp": "schedutil", "wakegov_setspeed": "userspace"}
    governors = guest.read(guest.policy("policy0", "scaling_available_governors")).split()
    return [name for name in names if name not in needs or needs[name] in governors]


def policies():
    return [name for name in sorted(os.listdir(guest.CPUFREQ)) if name.startswith("policy")]


def set_governor(name):
    for policy in policies():
        guest.write(guest.policy(policy, "scaling_governor"), name)


@contextlib.contextmanager
def governed(name):
    if not name.startswith("wakegov"):
        set_governor(own_governor() if name == "own" else name)
        yield
        return
    name, _, chains = name.partition("+")
    backend = name.partition("_")[2] or "auto"
    # A daemon that only watches is compared with performance: what differs is its cost.
    set_governor("performance" if backend == "observe" else own_governor())
    with guest.Daemon(f"[wakegov]\nbackend = {backend}\n"
                      f"[utilisation]\nchains = {chains or 'on'}\n") as daemon:
        try:
            yield
        finally:
            used = daemon.call("Status")["backend"]
            if backend not in ("auto", used):
                raise AssertionError(f"{name} ran with {used}")


# Measuring.

def events():
    """Those that this machine has: by ports it has no APERF and MPERF."""
    return [event for event in EVENTS if not event.startswith("msr/") or
            os.path.exists(f"{EVENT_SOURCES}/{event[:3]}/events/{event[4:-1]}")]


def counted(path):
    """perf stat's counts by event; None for what this machine has not."""
    counts = {}
    for line in guest.read(path).splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2] in EVENTS:
            counts[fields[2]] = float(fields[0]) if fields[0][0].isdigit() else None
    return counts


def measure(load, seed, governor):
    """One run, as what is printed of it."""
    counts_path = f"{WORK}/counts"
    options = [word for event in events() for word in ("-e", event)]
    with load.fresh() if load.fresh else contextlib.nullcontext():
        time.sleep(0.1)
        before_j = guest.energy_j()
        done = subprocess.run(["perf", "stat", "-a", "-x,", "-o", counts_path, *options, "--", "bash", "-c",
                               load.command], check=False, capture_output=True, text=True)
        joule = before_j and guest.energy_j() - before_j
    if done.returncode:
        raise RuntimeError(f"{load.name}: {done.stdout}{done.stderr}")
    figure, p50_us, p99_us = load.read(done.stdout)
    counts = counted(counts_path)
    busy = counts.get("msr/mperf/")
    # perf's own end, when it waits for the kernel, is not the program's.
    took_s = counts["duration_time"] / 1e9
    figure = took_s * 1000 if figure is None else figure
    work = figure * took_s if load.better == "higher" else 1
    return {"workload": load.name, "governor": governor, "seed": seed, "unit": load.unit,
            "better": load.better, "figure": figure, "p50_us": p50_us, "p99_us": p99_us,
            "took_s": took_s, "mean_mhz": busy and counts["msr/aperf/"] / busy * BASE_MHZ,
            "busy": busy and busy / (BASE_MHZ * 1e6) / took_s,
            "changes_per_s": counts["power:cpu_frequency"] / took_s,
            "joule": joule, "joule_per_work": joule / work if joule and work else None,
            "kernel": os.uname().release,
            "driver": os.environ["LAB_DRIVER"]}


def chosen(names, wanted, what):
    if wanted == "all":
        return list(names)
    unknown = set(wanted.split(",")) - set(names)
    if unknown:
        raise SystemExit(f"{what} {', '.join(sorted(unknown))}: expected some of {', '.join(names)}")
    return wanted.split(",")


def prepare():
    """What every measurement needs: a place, and the counter of energy."""
    work_folder()
    subprocess.run(["modprobe", "-q", "intel_rapl_msr"], check=False)


def named(name):
    return next(load for load in WORKLOADS if load.name == name)


def set_up(loads):
    """What they need, and a first run of each, so that their programs are in memory."""
    done = set()
    prepare()
    set_governor("performance")
    for load in loads:
        for need in load.needs:
            if need not in done:
                need()
                done.add(need)
        measure(load, 0, "performance")


def main(workloads=WORKLOADS, governors=GOVERNORS, governing=governed,
         setting_up=contextlib.nullcontext):
    """What of these the command line asks for; governing: a governor while the context lasts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--governors", default=",".join(governors))
    parser.add_argument("--workloads", default="all")
    options = parser.parse_args()
    names = chosen([load.name for load in workloads], options.workloads, "workload")
    loads = [load for load in workloads if load.name in names]
    with setting_up():
        set_up(loads)
    for governor in offered(options.governors.split(",")):
        with governing(governor):
            for load in loads:
                print(json.dumps(measure(load, options.seed, governor)), flush=True)


if __name__ == "__main__":
    main()
