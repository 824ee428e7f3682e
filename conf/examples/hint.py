#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Hints the class background for this program while it runs; wakegovctl hint classes lists them."""
import json
import socket


def hint(class_name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("/run/wakegov/io.wakegov")
    call = {"method": "io.wakegov.HoldHint", "more": True, "parameters": {"class": class_name}}
    connection.sendall(json.dumps(call).encode() + b"\0")
    reply = json.loads(connection.recv(4096).rstrip(b"\0"))
    if "error" in reply:
        raise RuntimeError(reply["error"])
    return connection  # the hint holds until it is closed


if __name__ == "__main__":
    held = hint("background")
    input("hinted; Enter ends it ")
