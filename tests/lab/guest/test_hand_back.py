#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The domains are lent to another governor for a while, under every backend. In virtual time."""
import json
import os
import signal
import socket
import subprocess
import sys
import unittest

import guest
import tap
from clamps import clamps_of

DOMAINS = ("policy0", "policy2")
POLICY = """
[domain policy0]
max-frequency = 1GHz
[rule low]
comm = capped
cap = 30%
"""


class Stream:
    """A call that goes on, for as long as it is open."""

    def __init__(self, daemon, method, **parameters):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60 * guest.PATIENCE)
        self.socket.connect(daemon.socket)
        call = {"method": f"io.wakegov.{method}", "more": True, "parameters": parameters}
        self.socket.sendall(json.dumps(call).encode() + b"\0")
        self.read = b""

    def reply(self):
        while b"\0" not in self.read:
            part = self.socket.recv(1 << 16)
            if not part:
                raise ConnectionError("the daemon hung up")
            self.read += part
        reply, self.read = self.read.split(b"\0", 1)
        return json.loads(reply)

    def close(self):
        self.socket.close()


class HandBack(guest.PutBack, unittest.TestCase):
    def setUp(self):
        guest.stay_off({0, 1}, self)
        self.daemon = guest.KeptDaemon.with_policy(f"[wakegov]\nbackend = {self.BACKEND}\n{POLICY}")

    def hand_back(self, **parameters):
        stream = Stream(self.daemon, "HandBack", for_us=600_000_000, **parameters)
        self.addCleanup(stream.close)
        self.assertEqual(stream.reply(), {"parameters": {"ended": None}, "continues": True})
        return stream

    def start_capped(self):
        task = guest.ended_with(self, subprocess.Popen([guest.link("capped", sys.executable), "-S", "-c", "while True: pass"],
                                                       preexec_fn=lambda: os.sched_setaffinity(0, {0})))
        return task

    def states(self):
        return [self.daemon.domain(name)["state"] for name in DOMAINS]

    def governors(self):
        return [guest.read(guest.policy(name, "scaling_governor")) for name in DOMAINS]

    def wait_governed(self):
        guest.wait_for(lambda: self.states() == ["driven", "driven"], 5, "governed again")

    def wait_capped(self, task):
        """By its clamp, or by the frequency of the domain, where it alone runs."""
        if self.BACKEND == "uclamp":
            guest.wait_for(lambda: clamps_of(task.pid)[1] < 1024, 5, "the clamp")
        guest.wait_for(lambda: guest.frequency("policy0") <= 600000, 5, "the cap")

    def wait_as_before(self):
        guest.wait_for(lambda: guest.snapshot() == self.before, 5, "everything put back")

    def test_original(self):
        """handed back, all is as it was, also after a reload; and governed when the client goes"""
        task = self.start_capped()
        self.wait_capped(task)
        stream = self.hand_back()
        self.wait_as_before()
        guest.wait_for(lambda: clamps_of(task.pid) == (0, 1024), 5, "no clamp")
        guest.wait_for(lambda: guest.frequency("policy0") == 1800000, 5, "schedutil's")
        self.assertEqual(self.states(), ["handed-back", "handed-back"])
        status = self.daemon.call("Status")
        self.assertIsNone(status["hand_back"]["governor"])
        self.assertEqual([program["name"] for program in status["programs"]
                          if program["state"] == "attached"], ["iter/task"])
        self.daemon.call("Reload")
        second = Stream(self.daemon, "HandBack", for_us=1000)
        self.assertEqual(second.reply()["error"], "io.wakegov.HandedBack")
        second.close()
        self.assertEqual(guest.snapshot(), self.before)
        self.assertEqual(clamps_of(task.pid), (0, 1024))
        task.kill()
        task.wait()
        task = self.start_capped()  # which nothing traces
        stream.close()
        self.wait_governed()
        self.wait_capped(task)
        self.assertIsNone(self.daemon.call("Status")["hand_back"])
        self.daemon.stop()
        self.wait_as_before()

    def test_named(self):
        """handed to another governor until its time is over; what none offers changes nothing"""
        refused = Stream(self.daemon, "HandBack", governor="nonsense", for_us=1000)
        self.assertEqual(refused.reply()["parameters"], {"parameter": "governor"})
        refused.close()
        self.assertEqual(self.states(), ["driven", "driven"])
        stream = Stream(self.daemon, "HandBack", governor="powersave", for_us=1_000_000)
        self.assertIsNone(stream.reply()["parameters"]["ended"])
        self.assertEqual(self.governors(), ["powersave", "powersave"])
        self.assertRegex(guest.said("status"), "handed back to powersave for [0-9.]+ m?s more")
        self.assertEqual(stream.reply(), {"parameters": {"ended": "time"}})
        stream.close()
        self.wait_governed()

    def test_ended(self):
        """SIGTERM and SIGKILL while handed to another governor leave everything as it was"""
        self.hand_back(governor="powersave")
        self.daemon.stop(signal.SIGTERM)
        self.wait_as_before()
        self.assertFalse(os.path.exists("/run/wakegov/originals"))
        self.daemon.start()
        self.hand_back(governor="powersave")
        self.daemon.stop(signal.SIGKILL)
        self.assertEqual(self.governors(), ["powersave", "powersave"])
        guest.restore()
        self.wait_as_before()

    def test_foreign(self):
        """who sets a governor meanwhile keeps the domain, and the others are governed again"""
        stream = self.hand_back(governor="powersave")
        path = guest.policy("policy2", "scaling_governor")
        subprocess.run(["sh", "-c", f"echo performance > {path}"], check=True)
        guest.wait_for(lambda: self.states() == ["handed-back", "yielded"], 5, "a yield")
        stream.close()
        guest.wait_for(lambda: self.states() == ["driven", "yielded"], 5, "the other governed")
        self.assertEqual(guest.read(path), "performance")
        self.daemon.stop()
        self.assertEqual(guest.read(path), "performance")
        guest.write(path, "schedutil")
        self.wait_as_before()


class Setspeed(HandBack):
    BACKEND = "setspeed"


class Limits(HandBack):
    BACKEND = "limits"


class Uclamp(HandBack):
    BACKEND = "uclamp"


del HandBack

if __name__ == "__main__":
    tap.main()
