#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A machine of a fleet: wakegovd under a load, and its metrics in files that the host sees too.

They are written by the commands of the units in conf, in a loop in place of the timer, until the
host makes a file `stop` beside them. With the argument "new" there is no I/O boost.
"""
import os
import re
import subprocess
import sys
import time

import guest

# The folder that the lab shares with the host.
FOLDER = "/run/lab"
EVERY_S = 2
LOAD_S = "3600"


def command_of(unit):
    """Of ExecStart=, with the programs that were built here."""
    with open(f"{guest.REPO}/conf/{unit}", encoding="utf-8") as file:
        command = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", file.read(), re.M)[1]
    return command.replace("/usr/bin/", "").replace("/usr/share/wakegov", f"{guest.REPO}/conf")


def start_benefit():
    """In seconds instead of minutes."""
    command = command_of("fleet/wakegov-benefit.service")
    short = command.replace(" benefit ", " benefit --for 24s --block 2s ")
    return subprocess.Popen(["/bin/sh", "-c", short], cwd=FOLDER)


def main():
    write = command_of("examples/wakegov-metrics.service")
    device = guest.null_blk()
    boost = "[io-boost]\nenabled = no\n" if sys.argv[1:] == ["new"] else ""
    with guest.Daemon(f"[wakegov]\nbackend = setspeed\n{boost}"):
        loads = [guest.start_load("psync", "--file", device, "--cpus", "0", "--time", LOAD_S),
                 guest.start_load("periodic", "--cpus", "2", "--time", LOAD_S)]
        benefit = start_benefit()
        while not os.path.exists(f"{FOLDER}/stop"):
            subprocess.run(["/bin/sh", "-c", write], cwd=FOLDER, check=True)
            time.sleep(EVERY_S)
            assert all(load.poll() is None for load in loads), "a load ended"
        for process in (benefit, *loads):
            process.kill()


if __name__ == "__main__":
    main()
