# SPDX-License-Identifier: GPL-2.0-only
"""The rows of lab table programs: what they need, their commands, and how their figures are read."""
import contextlib
import csv
import os
import re

import guest
from pauses import PAUSES
from stacks import STACKS, null_blk
from workloads import (CPU, DISK, WORK, bound_disk, chainload, cold, completion, drifting_disk, ext4, fio,
                       fio_command, fio_sync, frameload, hackbench, input_devices, latency_disk, listens, log, network_card, objects,
                       printed, python, remount, repeated, server, shell, tbench, tbench_command, tbench_server, turns,
                       work_folder, workload)

TREE = f"{DISK}/tree"


def tree():
    """Our own sources, committed."""
    ext4()
    shell(f"mkdir {TREE}; cp -r src bpf include tests/unit tests/native {TREE}; cd {TREE}; "
          "git init -q; git -c core.compression=0 add .; "
          "git -c user.name=x -c user.email=x commit -qm tree")


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


def nginx():
    return server(["nginx", "-c", f"{WORK}/nginx.conf", "-p", WORK, "-e", "stderr"],
                  lambda: os.path.exists(f"{WORK}/nginx.pid"))


def redis():
    """Each write is in the log, and the log on the disk, before it is answered."""
    shell(f"rm -rf {DISK}/redis; mkdir {DISK}/redis")
    return server(["redis-server", "--port", "6379", "--save", "", "--appendonly", "yes", "--appendfsync",
                   "always", "--dir", f"{DISK}/redis"], listens(6379))


def memcached():
    return server(["memcached", "-u", "root", "-l", "127.0.0.1"], listens(11211))


@contextlib.contextmanager
def cold_copy():
    shell(f"rm -rf {DISK}/copy")
    remount()
    yield


@contextlib.contextmanager
def mounted_btrfs():
    disk = null_blk("nullb9", "memory_backed=1", "size=300")
    shell(f"modprobe btrfs; mkfs.btrfs -q -f {disk}; mkdir -p {WORK}/btrfs; "
          f"mount -o compress-force=zstd {disk} {WORK}/btrfs")
    try:
        yield
    finally:
        shell(f"umount {WORK}/btrfs")


def git_daemon():
    shell(f"rm -rf {WORK}/clone; touch {TREE}/.git/git-daemon-export-ok")
    return server(["git", "-c", "safe.directory=*", "daemon", "--listen=127.0.0.1", "--reuseaddr",
                   f"--base-path={DISK}"], listens(9418))


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


def redis_benchmark(text):
    """Its last line: the test, requests/s, and in ms the mean, the least, p50, p95, p99, the most."""
    row = next(csv.reader([text.splitlines()[-1]]))
    return float(row[1]), float(row[4]) * 1000, float(row[6]) * 1000


def stress_ng(text):
    """Of its table: the stressor, its operations, real time, user's, the kernel's, operations a second."""
    return float(re.search(r"^stress-ng: metrc.*\] +\w[\w-]* +(?:[\d.]+ +){4}([\d.]+)", text, re.M)[1]), None, None


def memcaslap(text):
    """It tells of times only by powers of two."""
    return float(re.search(r"TPS: (\d+)", text)[1]), None, None


def cyclictest(text):
    counts = {int(us): int(count) for us, count in re.findall(r"^(\d{6}) (\d+)", text, re.M)}
    total, seen, found = sum(counts.values()), 0, {}
    for us in sorted(counts):
        seen += counts[us]
        for part in (50, 99):
            if part not in found and seen * 100 >= total * part:
                found[part] = us
    return None, found[50], found[99]


SQLITE_COMMITS = repeated("db.execute(\"insert into t values(?, ?)\", (1, now)); db.commit()", f"""import sqlite3
for suffix in ("", "-journal"):
    if os.path.exists("{DISK}/d" + suffix): os.unlink("{DISK}/d" + suffix)
os.sched_setaffinity(0, {{{CPU}}})
db = sqlite3.connect("{DISK}/d")
db.execute("create table t(a, b)"); db.commit()""", 1.5)
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


# Rounds of a pool's map(): the main thread, two threads that hand tasks out and take results in, and
# three processes wait for each other.
POOL = repeated("pool.map(work, [1500] * 6)", """import multiprocessing
def work(n): return sum(i * i for i in range(n))
pool = multiprocessing.Pool(3)""")


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


# As git tests itself: a shell starts git and other short commands, and compares what they print.
GIT_TESTS = f"""export HOME={WORK} GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
rm -rf {WORK}/git; mkdir {WORK}/git; cd {WORK}/git; git init -q .
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


def latency(text):
    """The median of frameload, in ms, as the figure."""
    _, p50_us, p99_us = printed(text)
    return p50_us / 1000, p50_us, p99_us


WORKLOADS = (
    workload("fio-psync", "IOPS", "higher", fio_command("psync", "/dev/nullb1"), fio, (latency_disk,)),
    workload("fio-libaio", "IOPS", "higher", fio_command("libaio", "/dev/nullb1"), fio, (latency_disk,)),
    workload("fio-uring16", "IOPS", "higher", fio_command("io_uring", "/dev/nullb1", 16), fio, (latency_disk,)),
    workload("fio-uring-bound", "IOPS", "higher", fio_command("io_uring", "/dev/nullb2", 64), fio, (bound_disk,)),
    workload("fio-drift", "IOPS", "higher", fio_command("psync", "/dev/mapper/drift", order="read"), fio, (drifting_disk,)),
    workload("sqlite-commit", "commits/s", "higher", SQLITE_COMMITS, printed, (ext4,)),
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
    workload("fdatasync", "writes/s", "higher", log(DISK), fio_sync, (ext4,)),
    workload("memcached", "requests/s", "higher", "memcaslap -s 127.0.0.1 -t 2s -T 1 -c 4 -w 1k", memcaslap, (),
             memcached),
    workload("rsync", "ms", "lower", f"rsync -a {TREE}/src {DISK}/copy", completion, (tree,),
             cold_copy),
    workload("btrfs", "ms", "lower", f"cp -r {TREE}/src {WORK}/btrfs; sync -f {WORK}/btrfs", completion, (tree,),
             mounted_btrfs),
    workload("git-daemon", "ms", "lower", f"git clone -q git://127.0.0.1/tree {WORK}/clone", completion, (tree,),
             git_daemon),
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
    # Three tasks work after a key press, after a second of idleness; the others say what events cost.
    *(workload(name, "ms", "lower", frameload(mode, 5), latency, (input_devices,))
      for name, mode in (("key-press", "key"), ("key-typing", "typing"), ("mouse-moves", "mouse"))),
    # Somebody asks after pauses by chance, of 50 ms in the mean; a report is due after 50 ms.
    *(workload(name, "ms", "lower", frameload(name, 5), latency) for name in ("asked", "handed", "report")),
    # The same, asked by the other end of the network card: by one, two and three tasks.
    *(workload(f"outside-{tasks}", "ms", "lower", frameload(f"outside{tasks}", 5), latency, (network_card,))
      for tasks in (1, 2, 3)),
    *PAUSES,
    workload("script", "ms", "lower", SCRIPT, completion),
    workload("gitsource", "ms", "lower", GIT_TESTS, completion),
    *(workload(f"go-{mode}", unit, "higher", f"${{LAB_GOLOAD:?lab table programs builds it}} {mode}", printed)
      for mode, unit in (("channel", "rounds/s"), ("pool", "jobs/s"))),
    *(workload(f"stress-{name}", "operations/s", "higher", f"stress-ng --temp-path /run --{name} 1 -t 2 --metrics-brief 2>&1", stress_ng)
      for name in ("pipe", "udp", "mq", "fifo")),
    workload("pool", "maps/s", "higher", POOL, printed),
    workload("cyclictest", "ms", "lower",
             "cyclictest --policy=other -t1 -i 3000 -l 400 -q -h 4000", cyclictest),
    *STACKS,
)


def named(name):
    return next(load for load in WORKLOADS if load.name == name)
