#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Overrides: asked for, listed, cancelled and refused, by any client and by wakegovctl."""

import json
import os
import unittest

from service import PATIENCE_S, ServiceTest, needs_fixture, wakegovctl

OK, REFUSED, USAGE = range(3)
LIMIT = {"max-frequency": "1GHz"}


def error_of(reply):
    return reply.get("error"), reply["parameters"]


@needs_fixture
class Methods(ServiceTest):
    def setUp(self):
        super().setUp()
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
        settings = {"min-frequency": "1.2GHz", "max-frequency": "50%"}
        added = self.add(settings=settings, for_us=90000000)["parameters"]["override"]
        self.assert_left(added, 90)
        self.assertEqual(added, {"id": added["id"], "domain": "policy0", "settings": settings,
                                 "uid": os.geteuid(), "pid": None, "comm": None, "rule": None,
                                 "children": False})
        listed = self.overrides()
        self.assert_left(listed[0], 90)
        self.assertEqual(listed, [added])
        self.assertEqual(self.call("CancelOverride", id=added["id"])["parameters"], {})
        self.assertEqual(self.overrides(), [])

    def test_ends_after_ten_minutes_unless_told(self):
        self.assert_left(self.add(settings=LIMIT)["parameters"]["override"], 600)

    def refuse(self, parameters, parameter):
        with self.subTest(parameters):
            self.assertEqual(error_of(self.call("AddOverride", **parameters)),
                             ("org.varlink.service.InvalidParameter", {"parameter": parameter}))

    def test_refused_with_the_parameter(self):
        """test-override-table tries what settings and targets can be"""
        for wrong, parameter in (({}, "settings"), ({"settings": {}}, "settings"),
                                 ({"settings": []}, "settings"),
                                 ({"settings": {"max-frequency": 1000}}, "max-frequency"),
                                 ({"settings": {"max-frequency": "1GHz", "min-frequency": "2GHz"}}, "min-frequency"),
                                 ({"settings": LIMIT, "for_us": 0}, "for_us"),
                                 ({"settings": LIMIT, "for_us": 30 * 86400000000 + 1}, "for_us"),
                                 ({"settings": LIMIT, "pids": 5}, "pids"),
                                 ({"settings": {"cap": "30%"}}, "cap")):
            self.refuse({"domain": "policy0", **wrong}, parameter)
        self.refuse({"pid": 0, "settings": {"cap": "1%"}}, "pid")
        self.refuse({"pid": 5000812, "settings": {"cap": "much"}}, "cap")
        self.assertEqual(self.overrides(), [])

    def test_of_tasks(self):
        settings = {"cap": "30%", "io-boost": "off", "response": "0.7ms"}
        added = self.call("AddOverride", pid=5000812, children=True, settings=settings,
                          for_us=90000000)["parameters"]["override"]
        self.assert_left(added, 90)
        self.assertEqual({key: added[key] for key in added if added[key] is not None},
                         {"id": added["id"], "pid": 5000812, "comm": "make", "children": True,
                          "settings": settings, "uid": os.geteuid()})
        added = self.call("AddOverride", rule="backup", settings={"floor": "1.2GHz"})["parameters"]["override"]
        self.assertEqual((added["rule"], added["settings"]), ("backup", {"floor": "1.2GHz"}))

    def test_of_tasks_refused(self):
        for wrong, name in (({"pid": 5000813}, "Task"), ({"rule": "x"}, "Rule"), ({}, "Task")):
            with self.subTest(wrong):
                # Without all of these it is of the caller, which is not in the fixture.
                key = name.lower() if name != "Task" else "pid"
                self.assertEqual(error_of(self.call("AddOverride", settings={"io-boost": "off"}, **wrong)),
                                 (f"io.wakegov.NoSuch{name}", {key: wrong.get(key, os.getpid())}))
        self.assertEqual(self.overrides(), [])

    def test_unknown_domain_and_number(self):
        self.assertEqual(error_of(self.call("AddOverride", domain="policy77", settings=LIMIT)),
                         ("io.wakegov.NoSuchDomain", {"domain": "policy77"}))
        for number in (12345, 0, -1, 2 ** 40):
            self.assertEqual(error_of(self.call("CancelOverride", id=number)),
                             ("io.wakegov.NoSuchOverride", {"id": number}))

    def test_full(self):
        for _ in range(96):
            self.assertNotIn("error", self.add(settings=LIMIT))
        name, parameters = error_of(self.add(settings=LIMIT))
        self.assertEqual(name, "io.wakegov.TooManyOverrides")
        self.assertEqual(parameters, {"max": 96})


@needs_fixture
class Control(ServiceTest):
    def run_command(self, *arguments, code=OK, **options):
        done = wakegovctl("--socket", self.path, "override", *arguments, **options)
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
        self.assertRegex(text, r"^policy0: min-frequency 1\.2GHz for 10 min\. End it sooner with: "
                               r"wakegovctl override cancel (\d+)\n$")
        number = text.split()[-1]
        self.assertIn("min-frequency 2400000kHz, max-frequency 2400000kHz",
                      self.run_command("--freeze", "policy1"))
        lines = [line.split() for line in self.run_command("list").splitlines()]
        self.assertEqual(lines[0], ["ID", "FOR", "WANTS", "LEFT", "BY"])
        self.assertEqual(lines[1][:5], [number, "policy0", "min-frequency", "1.2GHz", "9"])
        self.assertEqual(lines[1][-1], "root" if not os.geteuid() else str(os.geteuid()))
        listed = json.loads(self.run_command("--json"))["overrides"]
        self.assertEqual([o["domain"] for o in listed], ["policy0", "policy1"])
        self.assertEqual(self.run_command("cancel", number), "cancelled\n")
        self.assertIn("override list", self.run_command("cancel", number, code=REFUSED))

    def test_every_way_to_name_what_is_meant(self):
        text = self.run_command("cpu2", "--max", "50%", "--for", "1h30m")
        self.assertRegex(text, r"^policy0: max-frequency 50% for 1 h 30 min\. ")
        self.assertEqual(self.run_command("cancel", "all"), "cancelled\n")
        self.assertEqual(len(self.run_command("all", "--freeze", "--for", "48h").splitlines()), 3)
        self.assertEqual(len(json.loads(self.run_command("--json"))["overrides"]), 3)
        self.run_command("cancel", "all")
        self.assertIn("no override is in force", self.run_command("cancel", "all"))
        self.run_command("5000812", "--max", "30%", "--min", "1.2GHz")
        listed = json.loads(self.run_command("--json"))["overrides"][0]
        self.assertEqual(listed["settings"], {"floor": "1.2GHz", "cap": "30%"})
        self.run_command("cancel", "all")
        for option, value in (("--min", "5GHz"), ("--max", "100MHz")):
            self.assertIn(f"{option} {value}: policy0 has 800 MHz to 3600 MHz",
                          self.run_command("policy0", option, value, code=USAGE))
        self.assertIn("no domain 'cpu99'", self.run_command("cpu99", "--freeze", code=REFUSED))

    def test_of_tasks(self):
        for target, limit, words in (("5000812", "--max", "pid 5000812 (make): "),
                                     ("rule:backup", "--min", "rule:backup: floor 1.2GHz for ")):
            text = self.run_command(target, limit, "1.2GHz")
            self.assertIn(words, text)
            self.run_command("cancel", text.split()[-1])
        for target in "5000812", "rule:backup":
            text = self.run_command(target, "--response", "0.7ms", "--max", "50%")
            self.assertIn("cap 50%, response 0.7ms for ", text)
            listed = json.loads(self.run_command("--json"))["overrides"][-1]
            self.assertEqual(listed["settings"], {"cap": "50%", "response": "0.7ms"})
            self.run_command("cancel", text.split()[-1])
            text = self.run_command(target, "--idle-latency", "50us")
            self.assertIn(": idle-latency 50us for ", text)
            listed = json.loads(self.run_command("--json"))["overrides"][-1]
            self.assertEqual(listed["settings"], {"idle-latency": "50us"})
            self.run_command("cancel", text.split()[-1])
        self.assertIn("ps -eL", self.run_command("5000813", "--freeze", code=REFUSED))
        self.assertIn("wakegovctl rules", self.run_command("rule:x", "--max", "1GHz", code=REFUSED))
        self.assertIn("more than one frequency",
                      self.run_command("rule:backup", "--freeze", code=USAGE))

    def test_wrong_usage(self):
        for arguments, words in ((("policy0",), "--freeze"),
                                 (("policy0", "--freeze", "--max", "1GHz"), "--freeze"),
                                 (("policy0", "--max", "1"), "expected none, a frequency from"),
                                 (("policy0", "--max", "101%"), "share from 1% to 100%"),
                                 (("policy0", "--max", "1GHz", "--for", "10"), "such as 30s"),
                                 (("policy0", "policy2", "--freeze"), "one domain"),
                                 (("policy0", "--response", "2ms"), "for tasks"),
                                 (("all", "--response", "2ms", "--max", "1GHz"), "for tasks"),
                                 (("5000812", "--response", "2"), "none, or a time from 10us"),
                                 (("5000812", "--response", "2ms", "--min", "9%"), "one of the two"),
                                 (("rule:backup", "--response", "2ms", "--freeze"), "--freeze"),
                                 (("policy0", "--idle-latency", "50us"), "for tasks"),
                                 (("5000812", "--idle-latency", "50"), "none, or a time from 0us"),
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
    """There is no process but 5000812 here: what a command is run under is tested by native-rules."""

    def refuse(self, *arguments, words, code=USAGE):
        done = wakegovctl("--socket", self.path, "run", *arguments)
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
