#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Explain: refused with the field, and in wakegovctl's words."""

import json
import os
import socketserver
import subprocess
import tempfile
import threading
import unittest

from service import PATIENCE_S, ServiceTest, WAKEGOVCTL, needs_fixture, wakegovctl

OK, REFUSED, USAGE = range(3)


@needs_fixture
class Methods(ServiceTest):
    def explain(self, **parameters):
        return self.raw.call("io.wakegov.Explain", parameters)

    def test_the_chain(self):
        reply = self.explain(pid=5000812)["parameters"]
        self.assertEqual(reply["domain"]["name"], "policy0")
        decision = reply["decision"]
        self.assertEqual([c["reason"] for c in decision["contenders"]], ["io-boost", "chain", "utilisation"])
        self.assertEqual(decision["io"]["measured_gain_permille"], 405)
        self.assertEqual([c for c in decision["clamps"] if c["acted"]],
                         [{"by": "policy-max", "khz": 2400000, "override": 7, "acted": True}])
        self.assertEqual(reply["acted"]["read_back_khz"], 2400000)
        self.assertIsNone(decision["skipped"])
        decision = self.explain(domain="policy1")["parameters"]["decision"]
        self.assertIsNone(decision["io"])
        self.assertEqual(decision["skipped"], {"khz": 1600000, "energy_permille": 1333,
                                            "source": "the kernel's energy model"})

    def test_past_is_the_line_of_the_list(self):
        """What was written when the target changed is what all ways show, later too."""
        decisions = self.raw.call("io.wakegov.Decisions")["parameters"]["decisions"]
        reply = self.explain(domain="policy0", at_us=2500)["parameters"]
        self.assertEqual(reply["decision"], next(d for d in decisions if d["monotonic_us"] == 2000))
        self.assertEqual(reply["acted"], reply["decision"])

    def test_errors(self):
        for wrong, name, parameters in (
                ({"domain": "policy99"}, "NoSuchDomain", {"domain": "policy99"}),
                ({"cpu": 4}, "NoSuchCpu", {"cpu": 4}), ({"pid": 5}, "NoSuchTask", {"pid": 5}),
                ({"cpu": 0, "at_us": 1}, "NotRemembered", {"at_us": 1})):
            with self.subTest(wrong):
                self.assert_error(self.explain(**wrong), f"io.wakegov.{name}", **parameters)

    def test_parameters(self):
        for wrong, parameter in (({}, "domain"), ({"cpu": -1}, "cpu"), ({"pid": 0}, "domain"),
                                 ({"domain": "policy0", "cpu": 0}, "domain"),
                                 ({"cpu": 0, "at_us": -1}, "at_us"),
                                 ({"cpu": 0, "at_us": 2 ** 62}, "at_us"),
                                 ({"pid": 2 ** 33}, "pid"), ({"domain": 7}, "domain")):
            with self.subTest(wrong):
                self.assert_invalid(self.explain(**wrong), parameter)


@needs_fixture
class Control(ServiceTest):
    def run_command(self, *arguments, code=OK):
        done = wakegovctl("--socket", self.path, "explain", *arguments, env={**os.environ, "TZ": "UTC"})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout or done.stderr

    def test_words(self):
        text = self.run_command("policy0")
        lines = text.splitlines()
        self.assertEqual(lines[0], "policy0, CPUs 0-3: runs at 1800 MHz; wakegov asked for 2400 MHz")
        for line in ("I/O        25000 per second on nvme0n1; host time is 61 % of each at the lowest", "predicted  46 % more I/O at 2400 MHz than at the lowest frequency",
                     "tried      in 14 pairs: 41 % more, plus or minus 2 %; pays",
                     "won over   chain of pid 5000813 and pid 5000814: together 47 % of a CPU; on CPU",
                     "           3, 600 of 1024: 2109 MHz; utilisation on CPU 1, 341 of 1024: 1199 MHz",
                     "rule       backup (/etc/wakegov/wakegov.conf:12) gives a floor, for pid 5000812",
                     "read back  2400 MHz right after that"):
            self.assertIn(line, lines)
        self.assertIn("policy-max 2400 MHz (override 7) <- this one limits it", text)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertTrue(text.replace("\n", "").isprintable())

    def test_task(self):
        """what the task asks for, its I/O, then its CPU's domain and its rules"""
        text = " ".join(self.run_command("5000812").split())
        self.assertRegex(text, r"^task make \(pid 5000812\), on CPU \d asks for io-boost of .* \(pid 5000812\) on CPU 2, "
                               r".* MHz; that is the highest demand pieces of up to 7.0 ms at the highest frequency, 40 so far: due, as they begin by "
                               r"a clock, however long they take \(3 votes\); the longest is in time with 14 % of a CPU at that frequency I/O 25000 per second on nvme0n1; .*"
                               r"policy0, CPUs 0-3: runs at .* rules for make \(thread 5000812 of process 800\)")

        text = " ".join(self.run_command("5000814").split())
        self.assertRegex(text, r"asks for chain of .*pid 5000813.* and pid 5000814.*: together 47 % of a CPU; on CPU 3, 600 of 1024: "
                               r"2109 MHz; another is higher pieces of up to 7.0 ms at the highest frequency, 40 so far: "
                               r"waited for, as the pause before them stays, or nothing does \(3 votes\); a second of waiting is worth 4.0 W")

    def test_who_else_limits(self):
        text = self.run_command("policy1")
        self.assertIn("wakegov.conf:12) caps it, for pid", text)  # though policy-min limits it
        self.assertIn("wakegov would ask for", text)
        self.assertIn("others     thermal: heat: cooling_device0 (Processor) is at step 3 of 7", text)
        self.assertIn("held       2400 MHz would suffice, but not yet for the hold time", text)
        self.assertIn("chosen 2400 MHz: 1600 MHz would suffice, but takes 33.3 % more energy for the same "
                      "work, says the kernel's energy model", " ".join(text.split()))

    def test_all_and_json(self):
        self.assertEqual(self.run_command().count(", CPUs "), 3)
        self.assertEqual(len(json.loads(self.run_command("--json"))["explanations"]), 3)
        reply = json.loads(self.run_command("5000812", "--json"))
        self.assertEqual((reply["domain"]["name"], reply["rules"]["comm"], reply["tasks"][0]["pid"]),
                         ("policy0", "make", 5000812))
        self.assertFalse(json.loads(self.run_command("cpu1", "--at", "1s", "--json"))["is_present"])

    def test_refused(self):
        for arguments, words in ((("policy9",), "wakegovctl domains"), (("cpu9",), "in no cpufreq"),
                                 (("5",), "there is no task with this number"),
                                 (("5", "--at", "1s"), "there is no task with this number")):
            self.assertIn(words, self.run_command(*arguments, code=REFUSED))
        for arguments in (("disk",), ("policy0", "policy1"), ("policy0", "--at", "soon"),
                          ("policy0", "--at", "25:00:00"), ("policy0", "--at", "1000000h")):
            self.assertIn("See: wakegovctl explain --help", self.run_command(*arguments, code=USAGE))


class Idle(socketserver.StreamRequestHandler):
    """A daemon whose domains are schedutil's, and have been idle for a while, but for one of them."""
    domain = {"name": "policy0", "cpus": "0-3", "state": "driven", "backend": "uclamp", "reason": "utilisation",
              "limiter": "none", "current_khz": 400000, "target_khz": 1700000, "utilisation_cap": 0,
              "asked_min_khz": None, "asked_max_khz": None, "min_khz": 400000, "max_khz": 1800000}
    replies = {"Domains": {"domains": [{**d, "name": f"policy{i}", "cpus": str(i), "current_khz": 400000 + 1000 * (i % 3),
                                        "utilisation_cap": 512 * (i == 5)} for d in [domain] for i in range(32)]},
               "Explain": {"domain": domain, "is_present": True, "decision": {
                   "target_khz": 1700000, "wanted_khz": 1700000, "reason": "utilisation", "contenders": []}}}

    def handle(self):
        text = b""
        while byte := self.rfile.read(1):
            text += byte
            if byte == b"\0":
                method = json.loads(text[:-1])["method"].split(".")[-1]
                self.wfile.write(json.dumps({"parameters": self.replies[method]}).encode() + b"\0")
                text = b""


class LeftIdle(unittest.TestCase):
    def test_words(self):
        """of an idle domain it is said what its governor keeps, and not what it would have chosen; of 32 in 3 lines"""
        with tempfile.TemporaryDirectory() as folder, \
                socketserver.ThreadingUnixStreamServer(f"{folder}/socket", Idle) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            said = {command[0]: subprocess.run([WAKEGOVCTL, "--socket", f"{folder}/socket", *command], text=True,
                                               capture_output=True, timeout=PATIENCE_S, check=True).stdout
                    for command in (("explain", "policy0"), ("domains",), ("--json", "domains"))}
        self.assertEqual(said["explain"].splitlines()[0],
                         "policy0, CPUs 0-3: is idle; schedutil keeps 400 MHz until a task runs; last decided: 1700 MHz")
        self.assertNotIn("read back", said["explain"])
        self.assertRegex(said["domains"], r"(?m)^policy0-4 +0-4 .* 400-402 MHz +idle .*\npolicy5 +5 .* ~1700 MHz .*\n"
                                          r"policy6-31 +6-31 +driven +400-402 MHz +idle ")
        self.assertEqual(len(json.loads(said["--json"])["domains"]), 32)


if __name__ == "__main__":
    unittest.main()
