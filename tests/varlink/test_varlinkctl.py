#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""systemd's varlinkctl, of a release that has it, as a client. See service.py for the environment.

Environment: WAKEGOV_TOOLS, the folder that setup-tools prints.
"""

import json
import os
import subprocess
import unittest

from service import TOP, PATIENCE_S, ServiceTest, needs_fixture

VARLINKCTL = os.path.join(os.environ.get("WAKEGOV_TOOLS", ""), "varlinkctl")


class Varlinkctl(ServiceTest):
    def run_tool(self, *arguments):
        return subprocess.run([VARLINKCTL, "--no-pager", *arguments], capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)

    def call(self, method, parameters="{}"):
        return self.run_tool("-j", "call", self.path, "io.wakegov." + method, parameters)

    def test_info(self):
        done = self.run_tool("info", self.path)
        self.assertIn("wakegovd", done.stdout, done.stderr)
        self.assertIn("io.wakegov\n", done.stdout)

    def test_introspection_is_understood(self):
        done = self.run_tool("introspect", self.path, "io.wakegov")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("method Monitor", done.stdout)

    def test_interface_definitions_are_valid(self):
        for name in ("io.wakegov", "org.varlink.service"):
            done = self.run_tool("validate-idl", os.path.join(TOP, f"src/varlink/{name}.varlink"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("rror", done.stderr)

    def test_calls(self):
        for method in ("Status", "Domains", "Tasks", "Devices", "Decisions", "Stats"):
            done = self.call(method)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIsInstance(json.loads(done.stdout), dict)

    def test_errors(self):
        for method, parameters, error in (("Tasks", '{"limit":0}', "InvalidParameter"),
                                          ("Stats", '{"domain":"x"}', "NoSuchDomain"),
                                          ("Flies", "{}", "MethodNotFound"),
                                          ("Monitor", "{}", "ExpectedMore")):
            done = self.call(method, parameters)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(error, done.stderr)


@needs_fixture
class Monitor(ServiceTest):
    options = ("--events", "3")

    @staticmethod
    def next(monitor):
        """A JSON text sequence: each has a record separator before it."""
        return json.loads(monitor.stdout.readline().lstrip("\x1e"))

    def test_stream(self):
        with subprocess.Popen([VARLINKCTL, "--more", "-j", "call", self.path, "io.wakegov.Monitor",
                               '{"kinds":["decision"]}'], stdout=subprocess.PIPE,
                              text=True) as monitor:
            self.assertEqual(self.next(monitor), {"event": None})
            self.assertIn("policy", self.connect().call("io.wakegov.Reload")["parameters"])
            events = [self.next(monitor)["event"] for _ in range(3)]
            monitor.terminate()
        self.assertEqual([e["kind"] for e in events], ["decision"] * 3)


if __name__ == "__main__":
    unittest.main()
