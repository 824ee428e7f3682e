#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rules and ExplainRules: as declared, refused with the field, and in wakegovctl's words."""

import subprocess
import unittest

import varlink
from declared import type_errors
from service import PATIENCE_S, ServiceTest, WAKEGOVCTL, needs_fixture
from test_rights import NOBODY, READERS, RightsTest

OK, REFUSED, USAGE = range(3)


@needs_fixture
class Methods(ServiceTest):
    def setUp(self):
        super().setUp()
        self.raw = self.connect()

    def test_as_declared(self):
        interface = varlink.Client(f"unix:{self.path}").get_interface("io.wakegov")
        for method, parameters in (("Rules", {}), ("ExplainRules", {"pid": 812})):
            with self.subTest(method):
                reply = self.raw.call(f"io.wakegov.{method}", parameters)["parameters"]
                declared = interface.get_method(method).out_type
                self.assertEqual(type_errors(interface, declared, reply, method), [])

    def test_refused(self):
        call = self.raw.call
        self.assert_error(call("io.wakegov.ExplainRules", {"pid": 5}), "io.wakegov.NoSuchTask",
                          pid=5)
        for wrong in ({"pid": 0}, {"pid": -1}, {"pid": 2 ** 31}, {"pid": "812"}, {}):
            with self.subTest(wrong):
                self.assert_invalid(call("io.wakegov.ExplainRules", wrong), "pid")


class CommandLines(RightsTest):
    def why(self, raw):
        reply = raw.call("io.wakegov.ExplainRules", {"pid": 812})
        return reply["parameters"]["rules"][0]["why"]

    def test_who_sees_them(self):
        self.assertIn("tar c", self.why(self.connection_of(0, 0)))
        self.assertIn("tar c", self.why(self.connection_of(NOBODY, READERS)))
        self.assertIsNone(self.why(self.connection_of(NOBODY, NOBODY)))


@needs_fixture
class Control(ServiceTest):
    def run_command(self, *arguments, code=OK):
        done = subprocess.run([WAKEGOVCTL, "--socket", self.path, *arguments],
                              capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def test_rules(self):
        lines = self.run_command("rules").splitlines()
        self.assertEqual(lines[1].split(), ["backup", "x.conf:12", "3", "17", "30%", "-", "off",
                                            "policy4", "comm", "=", "tar*"])
        self.assertIn("no room for 2 times a task: raise max-ruled-tasks (16384)", lines[2])

    def test_one_task(self):
        text = self.run_command("rules", "812")
        self.assertIn("rules for tar (thread 812 of process 800)", text)
        self.assertIn("  yes  backup (x.conf:12), cap 30%, io-boost off: command is 'tar c'", text)
        self.run_command("rules", "5", code=REFUSED)
        for wrong in ("tar", "0", "-1"):
            self.run_command("rules", "--", wrong, code=USAGE)

    def test_explained_with_its_domain(self):
        text = self.run_command("explain", "812")
        self.assertLess(text.index("policy0, CPUs"), text.index("rules for tar"))
        self.assertNotIn("rules for", self.run_command("explain", "policy0"))


if __name__ == "__main__":
    unittest.main()
