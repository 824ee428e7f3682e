# SPDX-License-Identifier: GPL-2.0-only
"""wakegovd on this machine's own kernel events with a made-up cpufreq, watching only."""
import os
import pathlib
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "lab/guest")]
import fake_cpufreq  # noqa: E402
from guest import wait_for  # noqa: E402


class Daemon:
    def __init__(self, build, directory):
        self.socket = f"{directory}/run/io.wakegov"
        config = f"{directory}/wakegov.conf"
        with open(config, "w", encoding="utf-8") as file:
            file.write("[wakegov]\nbackend = observe\n")
        self.process = subprocess.Popen(
            fake_cpufreq.command([str(build / "wakegovd"), "--config", config, "--run-dir",
                                  f"{directory}/run"], 2800000),
            stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(self.socket), 20, "wakegovd")
        time.sleep(1)
