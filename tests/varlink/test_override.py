#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Overrides: asked for, listed, cancelled and refused, by any client and by wakegovctl."""

import json
import os
import subprocess
import unittest

from service import PATIENCE_S, ServiceTest, WAKEGOVCTL, needs_fixture

OK, REFUSED, USAGE = range(3)


def error_of(reply):
    return reply.get("error"), reply["parameters"]


@needs_fixture
class Methods(ServiceTest):
    def setUp(self):
        super().setUp()
        self.raw = self.connect()
        for override in self.overrides():
            self.call("CancelOverride", id=override["id"])

    def call(self, method, **parameters):
        return self.raw.call(f"io.wakegov.{method}", parameters)

    def overrides(self):
        return self.call("Overrides")["parameters"]["overrides"]

    def add(self, **parameters):
        return self.call("AddOverride", domain="policy0", **parameters)

    def assert_left(self, override, seconds):
        """Takes the time that is left out of it: that goes on."""
        left_s = override.pop("left_us") / 1e6
        self.assertTrue(seconds - PATIENCE_S < left_s <= seconds, left_s)

    def test_added_listed_cancelled(self):
        added = self.add(min_khz=1200000, max_khz=1800000, for_us=90000000)["parameters"]["override"]
        self.assert_left(added, 90)
        self.assertEqual(added, {"id": added["id"], "domain": "policy0", "min_khz": 1200000,
                                 "max_khz": 1800000, "frozen_khz": None, "uid": os.geteuid(),
                                 "pid": None, "comm": None, "rule": None,
                                 "children": False, "floor": None, "cap": None, "io_boost": None,
                                 "idle_latency": None})
        listed = self.overrides()
        self.assert_left(listed[0], 90)
        self.assertEqual(listed, [added])
        self.assertEqual(self.call("CancelOverride", id=added["id"])["parameters"], {})
        self.assertEqual(self.overrides(), [])

    def test_ends_after_ten_minutes_unless_told(self):
        frozen = self.add(freeze=True)["parameters"]["override"]
        self.assert_left(frozen, 600)
        self.assertEqual(frozen["frozen_khz"], 2400000)

    def test_refused_with_the_parameter(self):
        for wrong, parameter in (({}, "freeze"), ({"freeze": False}, "freeze"),
                                 ({"freeze": True, "min_khz": 1}, "freeze"),
                                 ({"min_khz": 0}, "min_khz"), ({"min_khz": -5}, "min_khz"),
                                 ({"max_khz": 2 ** 32}, "max_khz"),
                                 ({"min_khz": 2000, "max_khz": 1000}, "min_khz"),
                                 ({"max_khz": 1000, "for_us": 0}, "for_us"),
                                 ({"max_khz": 1000, "for_us": 30 * 86400000000 + 1}, "for_us"),
                                 ({"max_khz": "1GHz"}, "max_khz"),
                                 ({"max_khz": 1000, "pids": 5}, "pids")):
            with self.subTest(wrong):
                self.assertEqual(error_of(self.add(**wrong)),
                                 ("org.varlink.service.InvalidParameter",
                                  {"parameter": parameter}))
        self.assertEqual(self.overrides(), [])

    def test_of_tasks(self):
        added = self.call("AddOverride", pid=812, children=True, cap="30%", io_boost="off",
                          for_us=90000000)["parameters"]["override"]
        self.assert_left(added, 90)
        self.assertEqual({key: added[key] for key in added if added[key] is not None},
                         {"id": added["id"], "pid": 812, "comm": "make", "children": True,
                          "cap": "30%", "io_boost": "off", "uid": os.geteuid()})
        added = self.call("AddOverride", rule="backup", min_khz=1200000)["parameters"]["override"]
        self.assertEqual((added["rule"], added["floor"], added["min_khz"]),
                         ("backup", "1200000kHz", None))
        added = self.call("AddOverride", pid=812, floor="0.7ms")["parameters"]["override"]
        self.assertEqual(added["floor"], "700us")

    def test_of_tasks_refused(self):
        for wrong, parameter in (({"max_khz": 1}, "domain"), ({"pid": 0, "cap": "1"}, "pid"),
                                 ({"pid": 5, "domain": "policy0", "freeze": True}, "pid"),
                                 ({"pid": 5, "rule": "a", "max_khz": 1}, "rule"),
                                 ({"rule": "a", "domain": "policy0", "max_khz": 1}, "rule"),
                                 ({"rule": "a", "children": True, "cap": "1"}, "children"),
                                 ({"domain": "policy0", "cap": "30%"}, "cap"),
                                 ({"domain": "policy0", "class": "batch"}, "class"),
                                 ({"pid": 812, "cap": "30%", "max_khz": 1}, "cap"),
                                 ({"pid": 812, "floor": "30%", "freeze": True}, "floor"),
                                 ({"pid": 812}, "freeze"),
                                 ({"pid": 812, "cap": "2ms"}, "cap"),
                                 ({"pid": 812, "floor": "9us"}, "floor"),
                                 ({"pid": 812, "cap": "much"}, "cap")):
            with self.subTest(wrong):
                self.assertEqual(error_of(self.call("AddOverride", **wrong)),
                                 ("org.varlink.service.InvalidParameter",
                                  {"parameter": parameter}))
        for wrong, name in (({"pid": 813}, "Task"), ({"rule": "x"}, "Rule")):
            with self.subTest(wrong):
                key = name.lower() if name != "Task" else "pid"
                self.assertEqual(error_of(self.call("AddOverride", **{"io_boost": "off", **wrong})),
                                 (f"io.wakegov.NoSuch{name}", {key: wrong[key]}))
        self.assertEqual(self.overrides(), [])

    def test_unknown_domain_and_number(self):
        self.assertEqual(error_of(self.call("AddOverride", domain="policy77", max_khz=1000)),
                         ("io.wakegov.NoSuchDomain", {"domain": "policy77"}))
        for number in (12345, 0, -1, 2 ** 40):
            self.assertEqual(error_of(self.call("CancelOverride", id=number)),
                             ("io.wakegov.NoSuchOverride", {"id": number}))

    def test_full(self):
        for _ in range(64):
            self.assertNotIn("error", self.add(max_khz=1000000))
        name, parameters = error_of(self.add(max_khz=1000000))
        self.assertEqual(name, "io.wakegov.TooManyOverrides")
        self.assertEqual(parameters, {"max": 64})


@needs_fixture
class Control(ServiceTest):
    def run_command(self, *arguments, code=OK, **options):
        done = subprocess.run([WAKEGOVCTL, "--socket", self.path, "override", *arguments],
                              capture_output=True, text=True, timeout=PATIENCE_S, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(bool(done.stdout), code == OK)
        return done.stdout or done.stderr

    def test_values_that_cannot_be(self):
        """the option is named as it was given, and what it is to be"""
        for arguments, words in ((("policy0", "--max", "1GHz", "--for", "31d"), "--for cannot be"),
                                 (("policy0", "--min", "2GHz", "--max", "1GHz"), "--min cannot be")):
            with self.subTest(arguments):
                self.assertRegex(self.run_command(*arguments, code=REFUSED),
                                 rf"^wakegovctl: {words} that: expected .*override --help\n$")

    def test_from_first_to_last(self):
        self.assertIn("no override is in force", self.run_command("list"))
        text = self.run_command("policy0", "--min", "1.2GHz", "--for", "10m")
        self.assertRegex(text, r"^policy0: at least 1200 MHz for 10 min\. End it sooner with: "
                               r"wakegovctl override cancel (\d+)\n$")
        number = text.split()[-1]
        self.assertIn("frozen at 2400 MHz", self.run_command("--freeze", "policy1"))
        lines = [line.split() for line in self.run_command("list").splitlines()]
        self.assertEqual(lines[0], ["ID", "FOR", "WANTS", "LEFT", "BY"])
        self.assertEqual(lines[1][:5], [number, "policy0", "at", "least", "1200"])
        self.assertEqual(lines[1][-1], "root" if not os.geteuid() else str(os.geteuid()))
        listed = json.loads(self.run_command("--json"))["overrides"]
        self.assertEqual([o["domain"] for o in listed], ["policy0", "policy1"])
        self.assertEqual(self.run_command("cancel", number), "cancelled\n")
        self.assertIn("override list", self.run_command("cancel", number, code=REFUSED))

    def test_every_way_to_name_what_is_meant(self):
        text = self.run_command("cpu2", "--max", "50%", "--for", "1h30m")
        self.assertRegex(text, r"^policy0: at most 1800 MHz for 1 h 30 min\. ")
        self.assertEqual(self.run_command("cancel", "all"), "cancelled\n")
        self.assertEqual(len(self.run_command("all", "--freeze", "--for", "48h").splitlines()), 3)
        self.assertEqual(len(json.loads(self.run_command("--json"))["overrides"]), 3)
        self.run_command("cancel", "all")
        self.assertIn("no override is in force", self.run_command("cancel", "all"))
        self.run_command("812", "--max", "30%", "--min", "1.2GHz")
        listed = json.loads(self.run_command("--json"))["overrides"][0]
        self.assertEqual((listed["cap"], listed["floor"]), ("30%", "1200000kHz"))
        self.run_command("cancel", "all")
        for option, value in (("--min", "5GHz"), ("--max", "100MHz")):
            self.assertIn(f"{option} {value}: policy0 has 800-3600 MHz",
                          self.run_command("policy0", option, value, code=USAGE))
        self.assertIn("no domain 'cpu99'", self.run_command("cpu99", "--freeze", code=REFUSED))

    def test_of_tasks(self):
        for target, limit, words in (("812", "--max", "pid 812 (make): "),
                                     ("rule:backup", "--min", "rule:backup: floor 1200 MHz for ")):
            text = self.run_command(target, limit, "1.2GHz")
            self.assertIn(words, text)
            self.run_command("cancel", text.split()[-1])
        for target in "812", "rule:backup":
            text = self.run_command(target, "--response", "0.7ms", "--max", "50%")
            self.assertIn("cap 50 %, floor 700 us for ", text)
            listed = json.loads(self.run_command("--json"))["overrides"][-1]
            self.assertEqual((listed["floor"], listed["cap"]), ("700us", "50%"))
            self.run_command("cancel", text.split()[-1])
            text = self.run_command(target, "--idle-latency", "50us")
            self.assertIn(": idle-latency 50 us for ", text)
            listed = json.loads(self.run_command("--json"))["overrides"][-1]
            self.assertEqual((listed["idle_latency"], listed["cap"]), ("50us", None))
            self.run_command("cancel", text.split()[-1])
        self.assertIn("ps -eL", self.run_command("813", "--freeze", code=REFUSED))
        self.assertIn("wakegovctl rules", self.run_command("rule:x", "--max", "1GHz", code=REFUSED))
        self.assertIn("more than one frequency",
                      self.run_command("rule:backup", "--freeze", code=USAGE))

    def test_wrong_usage(self):
        for arguments, words in ((("policy0",), "--freeze"),
                                 (("policy0", "--freeze", "--max", "1GHz"), "--freeze"),
                                 (("policy0", "--max", "1"), "such as 1.2GHz"),
                                 (("policy0", "--max", "101%"), "such as 50%"),
                                 (("policy0", "--max", "1GHz", "--for", "10"), "such as 30s"),
                                 (("policy0", "policy2", "--freeze"), "one domain"),
                                 (("policy0", "--response", "2ms"), "for tasks"),
                                 (("all", "--response", "2ms", "--max", "1GHz"), "for tasks"),
                                 (("812", "--response", "2"), "none, or a time from 10us"),
                                 (("812", "--response", "2ms", "--min", "9%"), "one of the two"),
                                 (("rule:backup", "--response", "2ms", "--freeze"), "--freeze"),
                                 (("policy0", "--idle-latency", "50us"), "for tasks"),
                                 (("812", "--idle-latency", "50"), "none, or a time from 0us"),
                                 (("cancel",), "override list"),
                                 (("cancel", "x"), "override list")):
            with self.subTest(arguments):
                self.assertIn(words, self.run_command(*arguments, code=USAGE))

    def test_unknown_domain(self):
        self.assertIn("no domain 'policy9'. See: wakegovctl domains",
                      self.run_command("policy9", "--freeze", code=REFUSED))

    @unittest.skipIf(os.geteuid(), "needs root to become another user")
    def test_by_anyone(self):
        self.assertIn("sudo", self.run_command("policy0", "--freeze", code=REFUSED, user=65534))


@needs_fixture
class Run(ServiceTest):
    """There is no process but 812 here: what a command is run under is tested by native-rules."""

    def refuse(self, *arguments, words, code=USAGE):
        done = subprocess.run([WAKEGOVCTL, "--socket", self.path, "run", *arguments],
                              capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertIn(words, done.stderr)

    def test_refused(self):
        self.refuse("--cap", "30%", words="expected a command")
        self.refuse("--", "true", words="give --cap")
        self.refuse("--cap", "30%", "--", "true", words="no task", code=125)
        self.refuse("--cap", "30", "--", "true", words="--cap 30: expected none, a share")
        self.refuse("--floor", "512", "--", "true", words="--floor 512: expected none, a share")
        self.refuse("--response", "2", "--", "true", words="--response 2: expected none, or a time")
        self.refuse("--idle-latency", "2", "--", "true", words="--idle-latency 2: expected none, or a time")
        self.refuse("--response", "2ms", "--floor", "9%", "--", "true", words="give one of the two")


if __name__ == "__main__":
    unittest.main()
