#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A machine of a fleet: wakegovd under a load, and its metrics in files that the host sees too.

They are written by the commands of the units in conf, in a loop in place of the timer, until the
host makes a file `stop` beside them.
"""
import os
import re
import subprocess
import time

import guest

# The folder that the lab shares with the host.
FOLDER = "/run/lab"
EVERY_S = 2


def command_of(unit):
    """Of ExecStart=, with the programs that were built here."""
    with open(f"{guest.REPO}/conf/{unit}", encoding="utf-8") as file:
        command = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", file.read(), re.M)[1]
    return command.replace("/usr/bin/wakegovctl", "wakegovctl")


def main():
    write = command_of("examples/wakegov-metrics.service")
    device = guest.null_blk()
    with guest.Daemon("[wakegov]\nbackend = setspeed\n"):
        loads = [guest.start_load("psync", "--file", device, "--cpus", "0", "--time", "100000"),
                 guest.start_load("periodic", "--cpus", "2", "--time", "100000")]
        while not os.path.exists(f"{FOLDER}/stop"):
            subprocess.run(["/bin/sh", "-c", write], cwd=FOLDER, check=True)
            time.sleep(EVERY_S)
        for load in loads:
            load.kill()


if __name__ == "__main__":
    main()
