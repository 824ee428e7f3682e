# SPDX-License-Identifier: GPL-2.0-only
"""The storage stack, for tables of programs: where the kernel's own threads do part of what a program waits for."""
import contextlib
import json
import os

import guest
from workloads import WORK, completion, shell, work_folder, workload

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


def row(name, command, *needs):
    return workload(name, "IOPS", "higher", command, rates, needs)


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
    workload("nfs", "ms", "lower", f"cat {MOUNTED}/* | wc -c", completion, (nfs,), mounted_nfs),
)
