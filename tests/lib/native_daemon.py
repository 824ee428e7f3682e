# SPDX-License-Identifier: GPL-2.0-only
"""A wakegovd on this machine's kernel, with a policy and a directory of its own."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(TESTS, "lab/guest"))
from guest import call, end_group, wait_for  # noqa: E402

BUILD = os.path.abspath(os.environ.get("WAKEGOV_BUILD", "build"))
WAKEGOVD = os.path.join(BUILD, "wakegovd")
WAKEGOVCTL = os.path.join(BUILD, "wakegovctl")


class NativeDaemon(unittest.TestCase):
    POLICY = ""
    WHERE = None  # its directory lies; None: where temporary files do

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="wakegov-native-", dir=self.WHERE)
        os.chmod(self.dir, 0o755)  # for clients of other users
        self.addCleanup(shutil.rmtree, self.dir)
        self.config = self.path("wakegov.conf")
        self.run_dir = self.path("run")
        self.socket = self.path("run/io.wakegov")
        self.write(self.POLICY)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, text):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def popen(self, command, **options):
        process = subprocess.Popen(command, start_new_session=True, **options)
        self.addCleanup(self.end, process)
        return process

    end = staticmethod(end_group)

    def command(self, *options):
        return [WAKEGOVD, "--config", self.config, "--run-dir", self.run_dir, *options]

    def start_daemon(self, command=None):
        with open(self.path("log"), "w", encoding="utf-8") as log:
            daemon = self.popen(command or self.command(), stdout=log, stderr=log)
        wait_for(lambda: "governing" in self.said() or daemon.poll() is not None, 30, "a start")
        self.assertIsNone(daemon.poll(), self.said())
        return daemon

    def said(self):
        with open(self.path("log"), encoding="utf-8") as file:
            return file.read()

    def rule(self, name):
        for rule in call(self.socket, "Rules")["rules"]:
            if rule["name"] == name:
                return rule
        return None

    def tasks(self, name):
        return self.rule(name)["tasks"]

    def matches(self, pid):
        rules = call(self.socket, "ExplainRules", pid=pid)["rules"]
        return [rule["rule"]["name"] for rule in rules if rule["matches"]]

    @staticmethod
    def comm(pid):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()

    def start_named(self, name, code="import time; time.sleep(600)", **options):
        text = f"import ctypes, os; ctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\n" + code
        return self.popen([sys.executable, "-c", text], **options)

    def ctl(self, *arguments):
        return subprocess.run([WAKEGOVCTL, "--socket", self.socket, *arguments], check=True,
                              capture_output=True, text=True, timeout=30).stdout
