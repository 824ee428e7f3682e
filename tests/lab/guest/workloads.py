# SPDX-License-Identifier: GPL-2.0-only
"""What tables of programs are made of: a workload, disks and servers that it needs, and readers of figures.

A reader gives the figure, and the median and the 99th percentile of latency in us, or None.
"""
import collections
import contextlib
import json
import os
import random
import re
import socket
import subprocess

import guest

WORK = "/run/work"
DISK = f"{WORK}/disk"  # ext4 on a disk with a latency
DISK_DEVICE, DISK_NS = "nullb4", 80000
CPU = 1  # of workloads with one thread of interest

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


@contextlib.contextmanager
def cold():
    remount()
    yield


@contextlib.contextmanager
def server(command, is_up):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        guest.wait_for(is_up, 10, f"{command[0]} is up")
        yield
    finally:
        process.terminate()
        process.wait()


def listens(port, host="127.0.0.1"):
    def is_up():
        with socket.socket() as probe:
            return not probe.connect_ex((host, port))
    return is_up


def tbench_server():
    return server(["tbench_srv"], listens(7003))


# How a figure is read.

def fio(text):
    job = json.loads(text[text.index("{"):])["jobs"][0]["read"]
    percentile = job["clat_ns"]["percentile"]
    return job["iops"], percentile["50.000000"] / 1000, percentile["99.000000"] / 1000


def fio_sync(text):
    """Of writes that end with their fdatasync(), whose latency is given."""
    job = json.loads(text[text.index("{"):])["jobs"][0]
    percentile = job["sync"]["lat_ns"]["percentile"]
    return job["write"]["iops"], percentile["50.000000"] / 1000, percentile["99.000000"] / 1000


def printed(text):
    """What our own small loops print."""
    return tuple(float(word) for word in text.split())


def tbench(text):
    return float(re.search(r"Throughput ([\d.]+)", text)[1]), None, None


def hackbench(text):
    return float(re.search(r"Time: ([\d.]+)", text)[1]) * 1000, None, None


def completion(_):
    """How long the command took, which who measures it knows."""
    return None, None, None


def turns(text):
    return float(text), None, None


# Commands.

def fio_command(engine, device, depth=1, order="randread"):
    return (f"fio --name=x --filename={device} --ioengine={engine} --iodepth={depth} --direct=1 "
            f"--rw={order} --bs=4k --ramp_time=500ms --runtime=1s --time_based --thread "
            f"--cpus_allowed={CPU} --output-format=json")


def log(folder):
    """Each record makes it longer, so that its size is written as well, through the journal."""
    return (f"rm -f {folder}/log; fio --name=x --filename={folder}/log --size=64m --fallocate=none --create_on_open=1 "
            "--ioengine=psync --rw=write --bs=4k --fdatasync=1 --ramp_time=500ms --runtime=1s --time_based "
            f"--thread --cpus_allowed={CPU} --output-format=json")


def python(text):
    return f"python3 -c '{text}'"


def repeated(step, begin="", seconds=2):
    """Python that does the step again and again: how often a second, the median and the 99th percentile in us, all
    but for the first half second."""
    return python(f"""import os, time
{begin}
took = []; start = now = time.monotonic()
while now < start + {seconds}:
    {step}
    before, now = now, time.monotonic()
    if before > start + 0.5: took.append(now - before)
took.sort()
print(len(took) / sum(took), took[len(took) // 2] * 1e6, took[len(took) * 99 // 100] * 1e6)
""")


def tbench_command(clients, seconds=5, host="127.0.0.1"):
    return f"tbench -c /usr/share/dbench/client.txt -t {seconds} {clients} {host}"


def chainload(mode):
    return f"{guest.BUILD}/tests/lab/chainload {mode} 0.7"


def frameload(mode, seconds=2):
    return f"{guest.BUILD}/tests/lab/frameload {mode} {seconds}"


def network_card():
    """The card whose other end is 10.0.0.1, and asks frameload."""
    shell("modprobe virtio_net; ip link set eth0 up; ip addr replace 10.0.0.2/24 dev eth0; "
          "ip neigh replace 10.0.0.1 lladdr 52:54:00:00:00:01 dev eth0")


def input_devices():
    for module in ("evdev", "psmouse"):
        subprocess.run(["modprobe", module], check=True)
    guest.wait_for(lambda: "Mouse" in guest.read("/proc/bus/input/devices"), 10, "the mouse")
