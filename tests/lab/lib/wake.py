# SPDX-License-Identifier: GPL-2.0-only
"""Wakes the guest each time that it has slept for two seconds, as a button would: wake.py SOCKET PID, by
QEMU's QMP. Ends with QEMU, whose process is PID."""
import json
import os
import socket
import sys
import time


def connect(path, pid):
    while os.path.exists(f"/proc/{pid}"):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection.makefile("rw")
        except OSError:  # QEMU has just begun
            time.sleep(0.1)
    sys.exit()


def main():
    with connect(*sys.argv[1:]) as monitor:
        for line in monitor:
            said = json.loads(line)
            command = {"QMP": "qmp_capabilities"}.get(next(iter(said)))
            if said.get("event") == "SUSPEND":
                time.sleep(2)
                command = "system_wakeup"
            if command:
                monitor.write(json.dumps({"execute": command}))
                monitor.flush()


main()
