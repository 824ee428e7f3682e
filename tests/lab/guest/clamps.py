# SPDX-License-Identifier: GPL-2.0-only
"""What a task asks of the scheduler."""
import ctypes
import os

# sched_setattr(2) and sched_getattr(2)
SETATTR, GETATTR = (274, 275) if os.uname().machine == "aarch64" else (314, 315)


def clamps_of(pid):
    """What the task asks for, as sched_getattr(2) tells: (least, most)."""
    attributes = bytearray(56)
    attributes[0] = len(attributes)
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    if ctypes.CDLL(None, use_errno=True).syscall(GETATTR, pid, buffer, len(attributes), 0):
        raise ProcessLookupError(pid)
    return int.from_bytes(attributes[48:52], "little"), int.from_bytes(attributes[52:56], "little")


def written_for(least, most):
    """What is to be written so that schedutil gives that: before Linux 6.8 it clamps first, and then adds a
    quarter."""
    if tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (6, 8):
        return least, most
    most = most * 4 // 5 if most < 1024 else most
    return min(-(-least * 4 // 5), most), most


def reset_most(pid):
    """The task asks for the default as its most again, as sched_setattr(2) with -1 does."""
    keep_all, clamp_max = 0x18, 0x40
    attributes = bytearray(56)
    attributes[0] = len(attributes)
    attributes[8:16] = (keep_all | clamp_max).to_bytes(8, "little")
    attributes[52:56] = b"\xff" * 4
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    if ctypes.CDLL(None, use_errno=True).syscall(SETATTR, pid, buffer, 0):
        raise OSError(ctypes.get_errno(), "sched_setattr")
