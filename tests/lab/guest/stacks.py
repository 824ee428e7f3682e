# SPDX-License-Identifier: GPL-2.0-only
"""The storage stack, for tables of programs: where the kernel's own threads do part of what a program waits for."""
import contextlib
import json
import os

import guest
from workloads import (WORK, completion, fio_sync, listens, log, printed, python, repeated, server, shell, tbench,
                       tbench_command, work_folder, workload)

KEY = "00" * 64  # of AES-256 in XTS


def null_blk(name, *attributes):
    shell(f". tests/lab/guest/null-blk.sh; [ -b /dev/{name} ] || "
          f"null_blk_create {name} completion_nsec=80000 {' '.join(attributes)}")
    return f"/dev/{name}"


def sectors(disk):
    return int(guest.read(f"/sys/class/block/{disk.rpartition('/')[2]}/size"))


def mapped(name, target, size=None, disk="nullb5"):
    """A device of the mapper's on this disk; {} in the target is the disk."""
    path = null_blk(disk, "size=256")
    table = f"0 {size or sectors(path)} {target.format(path)}\n"
    shell(f"modprobe -q dm-{target.split()[0]} || :; dmsetup create --noudevsync {name}; dmsetup mknodes {name}",
          input=table)


def crypt(name, *options):
    def need():
        mapped(name, f"crypt aes-xts-plain64 {KEY} 0 {{}} 0" +
               (f" {len(options)} {' '.join(options)}" if options else ""))
    return need


def thin():
    """All of its blocks are there, and shared with a snapshot."""
    if os.path.exists("/dev/mapper/thin"):
        return
    null_blk("nullb6", "size=16", "memory_backed=1")
    shell("modprobe dm-thin-pool; dd if=/dev/zero of=/dev/nullb6 bs=4k count=1 status=none")
    data = null_blk("nullb7", "size=128")
    shell("dmsetup create --noudevsync pool; dmsetup mknodes pool; dmsetup message pool 0 'create_thin 0'",
          input=f"0 {sectors(data)} thin-pool /dev/nullb6 {data} 128 0 1 skip_block_zeroing\n")
    shell("dmsetup create --noudevsync thin; dmsetup mknodes thin", input="0 65536 thin /dev/mapper/pool 0\n")
    shell("dd if=/dev/zero of=/dev/mapper/thin bs=1M count=32 oflag=direct status=none; "
          "dmsetup suspend thin; dmsetup message pool 0 'create_snap 1 0'; dmsetup resume thin")


def raid(level, disks):
    """An array as large as each of its disks, or more, whose parity is right as all of them read as zero."""
    def need():
        names, md = [f"nullbr{level}{letter}" for letter in range(disks)], f"/sys/block/md_{level}/md"
        half = None
        for name in names:
            half = sectors(null_blk(name, "size=64", "memory_backed=1")) // 2
        shell(f"modprobe raid{456 if level == 5 else level}; "
              f"echo md_{level} >/sys/module/md_mod/parameters/new_array")
        guest.write(f"{md}/metadata_version", "none")
        guest.write(f"{md}/level", f"raid{level}")
        guest.write(f"{md}/raid_disks", disks)
        if level in (5, 10):
            guest.write(f"{md}/chunk_size", 65536)
            guest.write(f"{md}/layout", 2 if level == 5 else 0x102)
        guest.write(f"{md}/component_size", half)
        for slot, name in enumerate(names):
            guest.write(f"{md}/new_dev", guest.read(f"/sys/block/{name}/dev"))
            guest.write(f"{md}/dev-{name}/slot", slot)
        guest.write(f"{md}/resync_start", "none")
        guest.write(f"{md}/array_state", "active")
        shell(f"mknod /dev/md_{level} b $(tr : ' ' </sys/block/md_{level}/dev) || :")
    return need


def loop():
    """On a file of an ext4 with a latency, past its cache."""
    path = null_blk("nullb8", "memory_backed=1", "size=300")
    folder = f"{WORK}/under-loop"
    shell(f"modprobe loop; mkfs.ext4 -q {path}; mkdir -p {folder}; mount {path} {folder}; "
          f"fallocate -z -l 64M {folder}/file || dd if=/dev/zero of={folder}/file bs=1M count=64 status=none; "
          f"losetup --direct-io=on /dev/loop7 {folder}/file")


def zram():
    shell("modprobe zram num_devices=1; echo zstd >/sys/block/zram0/comp_algorithm || :; "
          "echo 64M >/sys/block/zram0/disksize; "
          "head -c 32M /dev/urandom | od -An -tx1 | head -c 32M >/dev/zram0")


def swapping(path):
    """While the context lasts, to this disk."""
    @contextlib.contextmanager
    def fresh():
        shell(f"swapon {path}")
        try:
            yield
        finally:
            shell(f"swapoff {path}")
    return fresh


def swap_zram():
    shell("modprobe zram num_devices=1; id=$(cat /sys/class/zram-control/hot_add); mv /dev/zram$id /dev/zram-swap; cd /sys/block/zram$id; "
          "echo zstd >comp_algorithm || :; echo 96M >disksize; mkswap /dev/zram-swap")


def swap_disk():
    shell(f"mkswap {null_blk('nullbswap', 'memory_backed=1', 'size=96')}")


# Pages that are as compressible as text, touched by chance, one and a half times as many as the group may have.
SWAPPED = repeated("memory[random.randrange(PAGES) << 12] ^= 1", """import mmap, random
PAGES = 9216
memory, text = mmap.mmap(-1, PAGES << 12), (open("tests/README.md", "rb").read() * 3)[:32768]
for page in range(PAGES):
    memory[page << 12:(page + 1) << 12] = text[page * 7 % 28672:][:4096]
random.seed(1)""")


def limited(command, mib):
    """In a group that may have that much memory."""
    group = "/sys/fs/cgroup/limited"
    return f"mkdir -p {group}; echo {mib}M >{group}/memory.max; echo $$ >{group}/cgroup.procs; {command}"


def formatted(kind, options="", size=400):
    """A file system on a disk with a latency, mounted at WORK/KIND."""
    def need():
        path = null_blk(f"nullb{kind}", "memory_backed=1", f"size={size}")
        shell(f"modprobe {kind}; mkfs.{kind} {options} {path}; mkdir -p {WORK}/{kind}; mount {path} {WORK}/{kind}")
    return need


def bcache():
    """Writes go to a cache first, on a disk that is faster."""
    cache = null_blk("nullbcache", "memory_backed=1", "size=128")
    shell(". tests/lab/guest/null-blk.sh; null_blk_create nullbback memory_backed=1 size=128 completion_nsec=400000")
    shell(f"modprobe bcache; make-bcache -b 64k -w 4k --writeback -C {cache} -B /dev/nullbback; "
          f"for disk in {cache} /dev/nullbback; do echo $disk >/sys/fs/bcache/register || :; done")
    guest.wait_for(lambda: os.path.exists("/dev/bcache0"), 5, "bcache0")


def bridge():
    """Two network namespaces, each with a pair of veth to a bridge."""
    shell("""modprobe bridge; modprobe veth; ip link add bridge0 type bridge; ip addr add 10.3.0.254/24 dev bridge0; ip link set bridge0 up
        for side in 1 2; do
            ip netns add side$side
            ip link add to$side type veth peer name eth0 netns side$side; ip link set to$side master bridge0 up
            ip -n side$side addr add 10.3.0.$side/24 dev eth0; ip -n side$side link set eth0 up
        done""")


def far_tbench():
    return server(["ip", "netns", "exec", "side2", "tbench_srv"], listens(7003, "10.3.0.2"))


@contextlib.contextmanager
def threaded():
    """What each end of a pair receives it gets from a kernel thread."""
    each = "for side in 1 2; do {0} to$side; ip netns exec side$side {0} eth0; done"
    shell(each.format("sh -c 'ethtool -K $0 gro on tso off; echo 1 >/sys/class/net/$0/threaded'"))
    with far_tbench():
        yield
    shell(each.format("sh -c 'ethtool -K $0 gro off tso on'"))


# A client and a server over vsock, whose packets a worker hands over; each on a CPU of its own where pinned.
VSOCK = """import socket
listening = socket.socket(socket.AF_VSOCK); listening.bind((1, 7)); listening.listen()
there = not os.fork()
if {pinned}: os.sched_setaffinity(0, {{1 + there}})
if there:
    asked, _ = listening.accept()
    while asked.recv(64): asked.send(b"y")
    os._exit(0)
asked = socket.socket(socket.AF_VSOCK); asked.connect((1, 7))"""


def vsock():
    shell("modprobe vsock_loopback")


def set_to(path, value):
    """While the context lasts, a file of the kernel's."""
    @contextlib.contextmanager
    def fresh():
        before = guest.read(path)
        guest.write(path, value)
        try:
            yield
        finally:
            guest.write(path, before)
    return fresh


def dumper():
    """Gets core dumps from the kernel, which starts it."""
    work_folder()
    guest.write(f"{WORK}/dump", "#!/bin/sh\nexec gzip -1 >/dev/null\n")
    os.chmod(f"{WORK}/dump", 0o755)


# Protocols that no module offers, each of which the kernel asks modprobe for.
ASKED_FOR = """import socket
for family in list(range(46, 70)) * 2:
    try: socket.socket(family)
    except OSError: pass
"""

EXPORT, MOUNTED = f"{WORK}/export", f"{WORK}/nfs"


def nfs():
    """Client and server are this machine, over TCP; the files are in the server's memory."""
    work_folder()
    shell(f"modprobe nfsd; mkdir -p {EXPORT} {MOUNTED} /var/lib/nfs/v4recovery; mount -t tmpfs none {EXPORT}; "
          f"mountpoint -q /proc/fs/nfsd || mount -t nfsd none /proc/fs/nfsd; touch /etc/exports; "
          f"for i in $(seq 40); do cat src/core/*.c | head -c $((i * 3000)) >{EXPORT}/$i; done; "
          f"rpcbind -w || :; ip link set lo up; rpc.mountd --no-udp; "
          f"exportfs -i -o rw,no_root_squash,insecure,fsid=0 127.0.0.1:{EXPORT}; rpc.nfsd -N 3 -U 4")


@contextlib.contextmanager
def mounted_nfs():
    shell(f"mount -t nfs4 -o vers=4.2,tcp 127.0.0.1:/ {MOUNTED}")
    try:
        yield
    finally:
        shell(f"umount {MOUNTED}")


def rates(text):
    """Of all jobs of fio, in either direction."""
    jobs = json.loads(text[text.index("{"):])["jobs"]
    sides = [job[side] for job in jobs for side in ("read", "write") if job[side]["iops"]]
    percentile = max(sides, key=lambda side: side["iops"])["clat_ns"]["percentile"]
    return (sum(side["iops"] for side in sides), percentile["50.000000"] / 1000,
            percentile["99.000000"] / 1000)


def jobs(device, rw="randread", n=1, more=""):
    """Where they run is for the scheduler to say."""
    return (f"fio --name=x --filename={device} --ioengine=psync --direct=1 --rw={rw} --bs=4k --numjobs={n} "
            f"--group_reporting --ramp_time=1s --runtime=2s --time_based --thread {more} --output-format=json")


def row(name, command, *needs, fresh=None):
    return workload(name, "IOPS", "higher", command, rates, needs, fresh)


STACKS = (
    row("crypt", jobs("/dev/mapper/crypt"), crypt("crypt")),
    row("crypt-same-cpu", jobs("/dev/mapper/crypt-same"), crypt("crypt-same", "same_cpu_crypt")),
    row("crypt-no-queue", jobs("/dev/mapper/crypt-none"), crypt("crypt-none", "no_read_workqueue")),
    row("crypt-writes", jobs("/dev/mapper/crypt-w", "randwrite"), crypt("crypt-w")),
    row("thin", jobs("/dev/mapper/thin", more="--size=32m"), thin),
    row("thin-snapshot", jobs("/dev/mapper/thin", "randwrite", more="--size=32m"), thin),
    row("raid1", jobs("/dev/md_1", "randwrite"), raid(1, 2)),
    row("raid10", jobs("/dev/md_10", "randwrite"), raid(10, 4)),
    row("raid5", jobs("/dev/md_5", "randwrite", 2), raid(5, 3)),
    row("loop", jobs("/dev/loop7"), loop),
    row("zram", jobs("/dev/zram0", more="--size=32m"), zram),
    row("crypt-one-cpu", jobs("/dev/mapper/crypt-one"), crypt("crypt-one"), fresh=set_to("/sys/devices/virtual/workqueue/cpumask", "8")),
    row("bcache", jobs("/dev/bcache0", more="--size=32m"), bcache),
    row("bcache-writes", jobs("/dev/bcache0", "randwrite", more="--size=32m"), bcache),
    workload("xfs", "writes/s", "higher", log(f"{WORK}/xfs"), fio_sync, (formatted("xfs", "-q"),)),
    workload("f2fs", "writes/s", "higher", log(f"{WORK}/f2fs"), fio_sync, (formatted("f2fs"),)),
    workload("writeback", "ms", "lower", limited(f"dd if=/dev/zero of={WORK}/ext4/file bs=64k count=1600; sync -f {WORK}/ext4", 24),
             completion, (formatted("ext4", "-q"),)),
    *(workload(f"swap-{kind}", "touches/s", "higher", limited(f"exec {SWAPPED}", 32), printed, (need,), swapping(path))
      for kind, need, path in (("zram", swap_zram, "/dev/zram-swap"), ("disk", swap_disk, "/dev/nullbswap"))),
    *(workload(f"bridge{name}", "MB/s", "higher", f"ip netns exec side1 {tbench_command(1, 2, '10.3.0.2')}", tbench, (bridge,),
               fresh) for name, fresh in (("", far_tbench), ("-threaded", threaded))),
    *(workload(f"vsock{name}", "turns/s", "higher", repeated("asked.send(b\"x\"); asked.recv(64)", VSOCK.format(pinned=pinned)), printed,
               (vsock,))
      for name, pinned in (("", 0), ("-pinned", 1))),
    workload("core-dumps", "ms", "lower", "for i in $(seq 20); do sh -c 'kill -ABRT $$' || :; done", completion, (dumper,),
             set_to("/proc/sys/kernel/core_pattern", f"|{WORK}/dump")),
    workload("modprobe", "ms", "lower", python(ASKED_FOR), completion),
    workload("nfs", "ms", "lower", f"cat {MOUNTED}/* | wc -c", completion, (nfs,), mounted_nfs),
)
