#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two machines of a fleet, one after the other: wakegovd under a load, and its metrics every two seconds.

They are written by the commands of the units, in a loop in place of the timer, until benefit
has been at its end for a while. A line of JSON on standard output has what the files are then; the last
one of a machine has benefit's answer as well. The machine "new" has no I/O boost.
"""
import glob
import json
import os
import re
import subprocess
import tempfile
import time

import guest

EVERY_S = 2
AFTER_BENEFIT = 10  # more of them
LOAD_S = "3600"


def command_of(unit):
    """Of ExecStart=, with the programs that were built here."""
    with open(f"{guest.REPO}/systemd/{unit}.in", encoding="utf-8") as file:
        command = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", file.read(), re.M)[1]
    return command.replace("@bindir@/", "").replace("@datadir@/wakegov", f"{guest.REPO}/conf")


def benefit(folder):
    """In seconds instead of minutes."""
    command = command_of("wakegov-benefit.service")
    short = command.replace(" benefit ", " benefit --for 32s --block 2s ")
    return subprocess.Popen(["/bin/sh", "-c", short], cwd=folder)


def files(folder):
    found = {}
    for path in sorted(glob.glob(f"{folder}/*.prom")):
        with open(path, encoding="utf-8") as file:
            found[os.path.basename(path)] = {"text": file.read(), "mtime_s": os.stat(path).st_mtime}
    return found


def observe(half, folder):
    write = command_of("wakegov-metrics.service")
    began_s, process, after = time.time(), benefit(folder), 0
    while after < AFTER_BENEFIT:
        subprocess.run(["/bin/sh", "-c", write], cwd=folder, check=True)
        line = {"half": half, "began_s": began_s, "files": files(folder)}
        if process.poll() is not None:
            after += 1
        if after == AFTER_BENEFIT:
            with open(f"{folder}/benefit.json", encoding="utf-8") as file:
                line["benefit"] = json.load(file)
        print(json.dumps(line), flush=True)
        time.sleep(EVERY_S)


def main():
    device = guest.null_blk()
    # The former governor, which benefit compares with: without the boost nothing changes.
    guest.set_governor("powersave")
    for half, boost in (("old", ""), ("new", "[io-boost]\nenabled = no\n")):
        with tempfile.TemporaryDirectory() as folder, \
                guest.Daemon(f"[wakegov]\nbackend = setspeed\n{boost}"):
            loads = [guest.start_load("psync", "--file", device, "--cpus", "0", "--time", LOAD_S),
                     guest.start_load("periodic", "--cpus", "2", "--time", LOAD_S)]
            observe(half, folder)
            assert all(load.poll() is None for load in loads), "a load ended"
            for load in loads:
                load.kill()
                load.wait()


if __name__ == "__main__":
    main()
