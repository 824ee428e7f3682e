#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""slow_files.py FOLDER: a file system in user space with one file, each read of which takes a while."""
import os
import stat
import sys
import time

# What is unpacked is not in the linker's cache.
os.environ["FUSE_LIBRARY_PATH"] = "libfuse.so.2"
import fusepy as fuse  # noqa: E402

SIZE = 40 << 20
READ_S = 0.0005


class SlowFiles(fuse.Operations):
    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path == "/file":
            return {"st_mode": stat.S_IFREG | 0o444, "st_nlink": 1, "st_size": SIZE}
        raise fuse.FuseOSError(2)

    def read(self, path, size, offset, fh):
        time.sleep(READ_S)
        return bytes(size)


fuse.FUSE(SlowFiles(), sys.argv[1], foreground=True, nothreads=True)
