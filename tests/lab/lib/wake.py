# SPDX-License-Identifier: GPL-2.0-only
"""Wakes the guest each time that it has slept for two seconds, as a button would: wake.py SOCKET, by
QEMU's QMP."""
import json
import socket
import sys
import time


def connect(path):
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection.makefile("rw")
        except OSError:  # QEMU has just begun
            time.sleep(0.1)


def main():
    with connect(sys.argv[1]) as monitor:
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
