#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The service as a generic client sees it: the varlink package from PyPI.

Run it with the interpreter that setup-venv prints; see service.py for the environment.
"""

import os
import subprocess
import sys
import unittest

import varlink
from varlink import scanner

from declared import reply_errors
from service import PATIENCE_S, TOP, ServiceTest, needs_fixture

LISTS = {"Domains": "domains", "Tasks": "tasks", "Devices": "devices", "Decisions": "decisions",
         "Overrides": "overrides", "Classes": "classes", "Hints": "hints"}
# What methods are called with that want or take something, in this order.
CALLS = {"Tasks": ({}, {"limit": 1}), "RuleTasks": ({"rule": "backup"},),
         "ExplainRules": ({"pid": 5000812},), "Decisions": ({}, {"after_us": 1}),
         "Explain": ({"domain": "policy0"}, {"domain": "policy1"}, {"domain": "policy2"},
                     {"cpu": 0, "at_us": 5000}, {"pid": 5000812}),
         "AddOverride": ({"domain": "policy0", "settings": {"max-frequency": "50%"}, "for_us": 1000},
                         {"pid": 5000812, "settings": {"cap": "30%"}, "for_us": 1000},
                         {"rule": "backup", "settings": {"io-boost": "off"}, "for_us": 1000}),
         "CancelOverride": ({"id": 1},), "HandBack": ({"for_us": 1000},), "HoldPolicy": ({"text": "[io-boost]\nslack = 3%\n"},), "Stats": ({}, {"domain": "policy0"}),
         "ChooseProfile": ({}, {"profile": "quiet"}),
         "GiveHint": ({"pid": 5000812, "class": "batch"},), "HoldHint": ({"class": "batch"},)}
# There is no engine in the fixture whose life could be recorded.
ERRORS = {"HandBack": "io.wakegov.NothingToHandBack", "Record": "io.wakegov.Failed", "StopRecording": "io.wakegov.NoRecording"}


class GenericClient(ServiceTest):
    def setUp(self):
        self.client = varlink.Client(f"unix:{self.path}")
        self.addCleanup(self.client.cleanup)

    def open(self, interface="io.wakegov"):
        """A connection that is closed when the test ends; the package leaves that to its users."""
        connection = self.client.open(interface)
        self.addCleanup(connection.close)
        return connection

    def test_lists_interfaces(self):
        self.assertEqual(self.client.get_interfaces(), ["io.wakegov", "org.varlink.service"])
        self.assertEqual(self.client.info["product"], "wakegovd")
        self.assertRegex(self.client.info["version"], r"^\d+\.\d+\.\d+")

    def test_introspection_gives_the_source_text(self):
        for name in ("io.wakegov", "org.varlink.service"):
            with open(os.path.join(TOP, "src/varlink", name + ".varlink")) as text:
                self.assertEqual(self.client.get_interface(name).get_description(), text.read())

    def test_every_declared_method_is_there(self):
        raw = self.connect()
        for name, members in ((name, self.client.get_interface(name).members.values())
                              for name in ("io.wakegov", "org.varlink.service")):
            for member in members:
                if isinstance(member, scanner._Method):
                    # None takes it, and none does anything then.
                    reply = raw.call(f"{name}.{member.name}", {"no_such_parameter": 1}, more=True)
                    self.assert_invalid(reply, "no_such_parameter")

    def test_service_interface_matches_the_package(self):
        ours = self.client.get_interface("org.varlink.service")
        theirs = varlink.Client()._interfaces["org.varlink.service"]
        self.assertLessEqual(set(theirs.members), set(ours.members))

    def test_calls_every_method(self):
        wakegov = self.open()
        self.assertIn(wakegov.Status()["mode"], ("governing", "observing"))
        for method, key in LISTS.items():
            self.assertIsInstance(getattr(wakegov, method)()[key], list)

    def methods(self):
        interface = self.client.get_interface("io.wakegov")
        return interface, [m for m in interface.members.values() if isinstance(m, scanner._Method)]

    def test_every_reply_is_as_declared(self):
        """field by field: none is missing, none is more, and each is of its type"""
        interface, methods = self.methods()
        for method in methods:
            for parameters in CALLS.get(method.name, ({},)):
                with self.subTest(method.name, **parameters):
                    reply = self.connect().call(f"io.wakegov.{method.name}", parameters, more=True)
                    self.assertEqual(reply_errors(interface, method.name, reply), [])
                    if self.fixture:
                        self.assertEqual(reply.get("error"), ERRORS.get(method.name))

    def test_parameters_are_those_declared(self):
        _, methods = self.methods()
        for method in methods:
            fields = method.in_type.fields
            needed = {name: "x" if isinstance(type_, str) else {} if isinstance(type_, scanner._Dict) else 1
                      for name, type_ in fields.items() if not isinstance(type_, scanner._Maybe)}
            for name in fields:
                with self.subTest(method.name, parameter=name):
                    reply = self.connect().call(f"io.wakegov.{method.name}",
                                                {**needed, name: {}}, more=True)
                    self.assert_invalid(reply, name)

    def test_more_on_a_method_with_one_reply(self):
        self.assertEqual(len(list(self.open().Tasks(_more=True))), 1)

    def test_unknown_interface(self):
        connection = self.client.open_connection()
        self.addCleanup(connection.close)
        with self.assertRaises(varlink.InterfaceNotFound) as caught:
            self.client.get_interface("io.wakegov.missing", connection)
        self.assertEqual(caught.exception.parameters(), {"interface": "io.wakegov.missing"})

    def test_invalid_parameter(self):
        with self.assertRaises(varlink.InvalidParameter) as caught:
            self.open().Decisions(-1)
        self.assertEqual(caught.exception.parameters(), {"parameter": "after_us"})

    def test_command_line_of_the_package(self):
        done = subprocess.run([sys.executable, "-m", "varlink.cli", "call",
                               f"unix:{self.path}/io.wakegov.Status"],
                              capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertIn("uptime_us", done.stdout, done.stderr)


@needs_fixture
class Data(ServiceTest):
    """Made-up data comes through whole."""

    def test_nulls_for_what_is_not_known(self):
        domains = self.connect().call("io.wakegov.Domains")["parameters"]["domains"]
        boosted, yielded, offline = domains
        self.assertEqual((boosted["current_khz"], boosted["pid"]), (1800000, 5000812))
        self.assertEqual((yielded["pid"], yielded["comm"]), (None, None))
        self.assertEqual((offline["current_khz"], offline["reason"]), (None, None))

    def test_nothing_measured_is_not_a_gain_of_nothing(self):
        tasks = self.connect().call("io.wakegov.Tasks")["parameters"]["tasks"]
        self.assertEqual([task["host_share_permille"] for task in tasks], [612, None, None, None])
        self.assertEqual([task["gain_error_permille"] for task in tasks], [21, None, 21, None])
        devices = self.connect().call("io.wakegov.Devices")["parameters"]["devices"]
        self.assertEqual([device["completions_per_s"] for device in devices], [24817, 24817, None])

    def test_chosen_tasks(self):
        """those of a process or a thread, the highest rates first"""
        raw = self.connect()
        for parameters, pids, total in (
                ({}, [5000812, 5000813, 5000814, 5000815], 4), ({"limit": 3}, [5000812, 5000813, 5000814], 4),
                ({"limit": 2 ** 63 - 1}, [5000812, 5000813, 5000814, 5000815], 4), ({"pid": 5000814}, [5000814], 1),
                ({"pid": 5000812}, [5000812, 5000813, 5000814], 3), ({"pid": 7}, [], 0)):
            with self.subTest(parameters):
                reply = raw.call("io.wakegov.Tasks", parameters)["parameters"]
                self.assertEqual([task["pid"] for task in reply["tasks"]], pids)
                self.assertEqual(reply["total"], total)
        for parameters, n in (({}, 1), ({"pid": 5000813}, 1), ({"pid": 5000814}, 1), ({"pid": 5000815}, 0)):
            with self.subTest(parameters):
                chains = raw.call("io.wakegov.Tasks", parameters)["parameters"]["chains"]
                self.assertEqual([(chain["domain"], chain["pid"], chain["chain"]["pid"],
                                   chain["chain"]["share_permille"]) for chain in chains],
                                 n * [("policy0", 5000813, 5000814, 468)])
        for wrong in ({"limit": 0}, {"limit": -1}, {"sort": "rate"}, {"pid": -1}, {"pid": 2 ** 32 + 1}):
            with self.subTest(wrong):
                self.assert_invalid(raw.call("io.wakegov.Tasks", wrong), *wrong)

    def test_advice(self):
        status = self.connect().call("io.wakegov.Status")["parameters"]
        [advice] = status["advice"]
        self.assertEqual([advice[key] for key in ("what", "name", "domain", "other_domain", "irq")],
                         ["interrupt-elsewhere", "nvme0q3", "policy0", "policy1", 38])

    def test_unable(self):
        """what rules and classes could not do, and nothing of what none of them asks for"""
        status = self.connect().call("io.wakegov.Status")["parameters"]
        self.assertEqual([(notice["what"], notice["count"]) for notice in status["unable"]],
                         [("placement-given-up", 1), ("placement-refused", 2)])
        self.assertEqual(status["idle_latency_us"], 50)

    def test_drops(self):
        status = self.connect().call("io.wakegov.Status")["parameters"]
        self.assertEqual(status["drops"], {"ring": 0, "slots": 3, "tasks": 0, "devices": 4,
                                           "missed": 0, "processes": 0, "hints": 0,
                                           "threads": 0, "chains": 0})

    def test_names_that_are_not_utf8(self):
        tasks = self.connect().call("io.wakegov.Tasks")["parameters"]["tasks"]
        self.assertEqual([task["comm"] for task in tasks],
                         ["fio", "kworker/0:1H", "\x1b[31mred\ufffd", "\u00e9t\ufffd"])

    def test_count_beyond_json(self):
        status = self.connect().call("io.wakegov.Status")["parameters"]
        self.assertEqual(status["self"]["events"], 2**63 - 1)

    def test_decisions_after(self):
        raw = self.connect()
        for after_us, expected in ((0, [1000, 2000, 3000, 4000, 5000]), (3000, [4000, 5000]),
                                   (5000, []), (None, [1000, 2000, 3000, 4000, 5000])):
            reply = raw.call("io.wakegov.Decisions", {"after_us": after_us})
            times = [d["monotonic_us"] for d in reply["parameters"]["decisions"]]
            self.assertEqual(times, expected)

    def test_reload_counts(self):
        raw = self.connect()
        first = raw.call("io.wakegov.Reload")["parameters"]["policy"]["reloads"]
        second = raw.call("io.wakegov.Reload")["parameters"]["policy"]
        self.assertEqual(second, {"path": "/etc/wakegov.conf", "reloads": first + 1,
                                  "last_error": None, "profile": "balanced",
                                  "profile_why": "no condition is true"})


@needs_fixture
class LargeData(ServiceTest):
    options = ("--domains", "500", "--tasks", "20000", "--devices", "64", "--decisions", "4096")

    def test_all_of_it_arrives(self):
        raw = self.connect()
        first = raw.call("io.wakegov.Decisions")["parameters"]
        second = raw.call("io.wakegov.Decisions", {"from": first["next"]})["parameters"]
        self.assertEqual(len(first["decisions"]) + len(second["decisions"]), 4096)
        self.assertIsNone(second["next"])
        for method, n in (("Domains", 500), ("Tasks", 20000), ("Devices", 64)):
            self.assertEqual(len(raw.call(f"io.wakegov.{method}")["parameters"][LISTS[method]]), n)
        self.assertEqual(len(raw.call("io.wakegov.Status")["parameters"]["domains"]), 500)


@needs_fixture
class TooLargeData(ServiceTest):
    options = ("--tasks", "100000",)

    def test_reply_beyond_the_bound_is_an_error(self):
        raw = self.connect()
        self.assert_error(raw.call("io.wakegov.Tasks"), "io.wakegov.ReplyTooLarge",
                          max_bytes=8 << 20)
        self.assertEqual(len(raw.call("io.wakegov.Domains")["parameters"]["domains"]), 3)


@needs_fixture
class FailingReload(ServiceTest):
    message = "/etc/wakegov.conf:7: rate_limit: found 'soon', expected a time such as 10ms"
    options = ("--policy-error", message)

    def test_typed_error(self):
        with varlink.Client(f"unix:{self.path}") as client:
            wakegov = client.open("io.wakegov")
            self.addCleanup(wakegov.close)
            with self.assertRaises(varlink.VarlinkError) as caught:
                wakegov.Reload()
            self.assertEqual(caught.exception.error(), "io.wakegov.PolicyInvalid")
            self.assertEqual(caught.exception.parameters(), {"message": self.message})
            self.assertEqual(wakegov.Status()["policy"]["last_error"], self.message)


@needs_fixture
class FailingSource(ServiceTest):
    options = ("--fail",)

    def test_every_method_says_so(self):
        raw = self.connect()
        for method in ("Status", *LISTS, "Reload"):
            self.assert_error(raw.call(f"io.wakegov.{method}"), "io.wakegov.Failed",
                              message="No such device")


@unittest.skipUnless(os.geteuid() == 0, "needs root to become another user")
class Unprivileged(ServiceTest):
    def call_as_nobody(self, method):
        script = ("import sys; from service import Raw; "
                  "print(Raw(sys.argv[1]).call(sys.argv[2]))")
        here = os.path.dirname(os.path.abspath(__file__))
        # As root it reads the script's folder wherever it is; then it is nobody.
        script = f"import sys; sys.path.insert(0, {here!r}); import service, os; " \
                 f"os.setgid(65534); os.setuid(65534); {script}"
        return subprocess.run([sys.executable, "-c", script, self.path, method],
                              capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout

    def test_reload_is_denied(self):
        self.assertIn("org.varlink.service.PermissionDenied",
                      self.call_as_nobody("io.wakegov.Reload"))

    def test_looking_is_allowed(self):
        self.assertIn("uptime_us", self.call_as_nobody("io.wakegov.Status"))


if __name__ == "__main__":
    unittest.main()
