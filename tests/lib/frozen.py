#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A process whose memory makes whoever reads it, as /proc/PID/cmdline does, wait until this ends.

Usage: frozen.py DIRECTORY, an empty one. Prints "frozen" once it is.

Its memory has a mapping of a file on a FUSE file system that never answers a read. One thread reads
there through /proc/self/mem, and so waits with the lock of the memory held; a second one wants the
lock to map something, and from then on whoever else wants to read comes after that one. Any user can
do so, with a mount made by fusermount. The file system is a child process; both end together.
"""
import ctypes
import mmap
import os
import signal
import struct
import subprocess
import sys
import threading
import time

FUSE_FORGET, FUSE_GETATTR, FUSE_OPEN, FUSE_READ, FUSE_INIT, FUSE_INTERRUPT = 2, 3, 14, 15, 26, 36
FILE_MODE = 0o100644
PR_SET_PDEATHSIG = 1
ENOSYS = 38

libc = ctypes.CDLL(None, use_errno=True)


def attributes():
    """struct fuse_attr_out of the root, which is a file of one page."""
    return struct.pack("<QII6Q10I", 1000, 0, 0, 1, mmap.PAGESIZE, 8, 0, 0, 0, 0, 0, 0, FILE_MODE, 1,
                       0, 0, 0, mmap.PAGESIZE, 0)


def wants_lock(owner):
    """Whether a thread beside the first one sleeps uninterruptibly; what is read takes no lock."""
    threads = set(os.listdir(f"/proc/{owner}/task")) - {str(owner)}
    return any("State:\tD" in open(f"/proc/{owner}/task/{thread}/status", encoding="ascii").read()
               for thread in threads)


def serve(fuse, owner, held):
    """Answers what it takes to map the file; says so when it is asked for what is in it."""
    answers = {
        FUSE_INIT: lambda: struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 0, 0, mmap.PAGESIZE, 1, 0, 0,
                                       *[0] * 8),
        FUSE_GETATTR: attributes,
        FUSE_OPEN: lambda: struct.pack("<QII", 0, 0, 0),
    }
    while True:
        opcode, unique = struct.unpack_from("<IQ", os.read(fuse, 1 << 17), 4)
        if opcode == FUSE_READ:
            os.close(held)
            while not wants_lock(owner):
                time.sleep(0.01)
            print("frozen", flush=True)
        if opcode in (FUSE_READ, FUSE_FORGET, FUSE_INTERRUPT):
            continue
        body = answers[opcode]() if opcode in answers else b""
        error = 0 if opcode in answers else -ENOSYS
        os.write(fuse, struct.pack("<IiQ", 16 + len(body), error, unique) + body)


def map_memory(held):
    os.read(held, 1)  # ends when the lock is held
    libc.mmap(None, ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ,
              mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))


def main(directory):
    path = os.path.join(directory, "file")
    with open(path, "wb"):
        pass
    subprocess.run(["modprobe", "-q", "fuse"], check=False)
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode={FILE_MODE:o},user_id=0,group_id=0"
    if libc.mount(b"frozen", path.encode(), b"fuse", 0, options.encode()) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    owner = os.getpid()
    until_held, held = os.pipe()
    if not os.fork():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == owner:
            serve(fuse, owner, held)
        os._exit(0)
    os.close(fuse)
    os.close(held)
    file = os.open(path, os.O_RDONLY)
    os.fstat(file)  # the kernel asks for its size then
    libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ, mmap.MAP_PRIVATE, file,
                   ctypes.c_long(0))
    libc.umount2(path.encode(), 2)  # MNT_DETACH: it is there as long as it is mapped
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    threading.Thread(target=map_memory, args=(until_held,), daemon=True).start()
    os.pread(memory, 1, at)


if __name__ == "__main__":
    main(sys.argv[1])
