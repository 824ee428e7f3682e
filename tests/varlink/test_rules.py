#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rules, RuleTasks and ExplainRules: refused with the field, and in wakegovctl's words."""

import json
import unittest

from service import ServiceTest, needs_fixture, wakegovctl
from test_rights import NOBODY, READERS, RightsTest

OK, REFUSED, USAGE = range(3)


@needs_fixture
class Methods(ServiceTest):
    def test_refused(self):
        call = self.raw.call
        self.assert_error(call("io.wakegov.ExplainRules", {"pid": 5}), "io.wakegov.NoSuchTask",
                          pid=5)
        for wrong in ({"pid": 0}, {"pid": -1}, {"pid": 2 ** 31}, {"pid": "5000812"}, {}):
            with self.subTest(wrong):
                self.assert_invalid(call("io.wakegov.ExplainRules", wrong), "pid")
        self.assert_error(call("io.wakegov.RuleTasks", {"rule": "none"}), "io.wakegov.NoSuchRule",
                          rule="none")
        for wrong, values in (("limit", (0, -1, 101)), ("offset", (-1, 2 ** 32))):
            for value in values:
                with self.subTest(wrong, value=value):
                    self.assert_invalid(call("io.wakegov.RuleTasks",
                                             {"rule": "backup", wrong: value}), wrong)
                    self.assert_invalid(call("io.wakegov.CappedTasks", {wrong: value}), wrong)

    def test_capped(self):
        """who is capped, and by which rule or override, page by page"""
        first = self.raw.call("io.wakegov.CappedTasks", {"limit": 2})["parameters"]
        self.assertEqual([task["pid"] for task in first["tasks"]], [900, 901])
        last = self.raw.call("io.wakegov.CappedTasks", {"offset": first["next_offset"]})["parameters"]
        self.assertEqual(last, {"next_offset": None, "tasks": [
            {"pid": 950, "tgid": 950, "comm": "make", "cap": "1200000kHz", "rule": "override-3",
             "file": "", "line": 0}]})

    def test_pages(self):
        """pages go on where the last one ended; a thread that is gone has no name"""
        pids, offset = [], 0
        while offset is not None:
            page = self.raw.call("io.wakegov.RuleTasks", {"rule": "backup", "limit": 2,
                                                          "offset": offset})["parameters"]
            self.assertLessEqual(len(page["tasks"]), 2)
            pids += page["tasks"]
            offset = page["next_offset"]
        self.assertEqual([task["pid"] for task in pids[1:]], [4194303, 4194302, 4194301, 4194300])
        self.assertEqual({task["comm"] for task in pids[1:]}, {None})
        with open(f"/proc/{pids[0]['pid']}/comm", encoding="utf-8") as file:
            self.assertEqual(pids[0]["comm"], file.read().strip())


@needs_fixture
class CommandLines(RightsTest):
    def why(self, raw):
        reply = raw.call("io.wakegov.ExplainRules", {"pid": 5000812})
        self.assertIn("rules", reply["parameters"], reply)
        return reply["parameters"]["rules"][-1]["conditions"]

    def test_who_sees_them(self):
        """by who asks, who has to live: a pid is of the namespace in which its process is"""
        self.assertIn("tar c", str(self.why(self.connection_of(0, 0, lives=True))))
        self.assertIn("tar c", str(self.why(self.connection_of(NOBODY, READERS, lives=True))))
        self.assertIsNone(self.why(self.connection_of(NOBODY, NOBODY, lives=True)))


@needs_fixture
class Control(ServiceTest):
    def run_command(self, *arguments, code=OK):
        done = wakegovctl("--socket", self.path, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def test_rules(self):
        lines = self.run_command("rules").splitlines()
        self.assertEqual(lines[1].split(), ["backup", "x.conf:12", "5", "17", "30", "%", "-", "off",
                                            "policy0", "command", "=", "tar*"])
        self.assertRegex(lines[2], r"^backup: \S+ \(\d+\), - \(4194303\), - \(4194302\), "
                                   r"- \(4194301\) and 1 more, see: wakegovctl rules backup$")
        self.assertEqual(lines[3], "backup: 3 tasks spread over the caches")
        self.assertIn("2 tasks found no place: raise max-ruled-tasks (16384)", lines[4])
        rules = json.loads(self.run_command("--json", "rules"))["rules"]
        self.assertEqual([task["pid"] for task in rules[0]["threads"][1:]],
                         [4194303, 4194302, 4194301, 4194300])

    def test_one_rule(self):
        lines = self.run_command("rules", "backup").splitlines()
        self.assertEqual(lines[0], "backup (x.conf:12), for command = tar*: 5 now, 17 came to match")
        self.assertEqual(lines[6].split(), ["4194300", "800", "-"])
        self.assertEqual(len(lines), 7)
        rule = json.loads(self.run_command("--json", "rules", "backup"))
        self.assertEqual((rule["name"], len(rule["threads"])), ("backup", 5))
        self.assertIn("no rule 'tar'", self.run_command("rules", "tar", code=REFUSED))

    def test_gone(self):
        """of a task that is gone that is said, once, whoever asks"""
        for command in ("rules", "explain"):
            with self.subTest(command):
                self.assertEqual(self.run_command(command, "5", code=REFUSED),
                                 "wakegovctl: there is no task with this number. See: ps -eL\n")

    def test_one_task(self):
        text = self.run_command("rules", "5000812")
        self.assertIn("rules for make (thread 5000812 of process 800)", text)
        self.assertIn("  yes  backup (x.conf:12), cap 30 %, io-boost off: command is 'tar c'", text)
        self.run_command("rules", "5", code=REFUSED)
        for wrong in (("0",), ("backup", "5000812")):
            self.run_command("rules", *wrong, code=USAGE)

    def test_explained_with_its_domain(self):
        text = self.run_command("explain", "5000812")
        self.assertLess(text.index("policy0, CPUs"), text.index("rules for make"))
        self.assertNotIn("rules for", self.run_command("explain", "policy0"))


if __name__ == "__main__":
    unittest.main()
