# SPDX-License-Identifier: GPL-2.0-only
"""What a task asks of the scheduler."""
import ctypes


def clamps_of(pid):
    """What the task asks for, as sched_getattr(2) tells: (least, most)."""
    attributes = bytearray(56)
    attributes[0] = len(attributes)
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    if ctypes.CDLL(None, use_errno=True).syscall(315, pid, buffer, len(attributes), 0):
        raise ProcessLookupError(pid)
    return int.from_bytes(attributes[48:52], "little"), int.from_bytes(attributes[52:56], "little")
