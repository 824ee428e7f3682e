#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""io.wakegov.Monitor: who is told what, and what becomes of those that do not listen.

Run it with the interpreter that setup-venv prints; see service.py for the environment. The fixture
makes --events decisions at every reload, and then one change.
"""

import json
import unittest

import varlink

from declared import type_errors
from service import Raw, ServiceTest, needs_fixture, wait_until


class MonitorTest(ServiceTest):
    def monitor(self, **parameters):
        """A connection that is told, and has heard that it is."""
        raw = self.connect()
        reply = raw.call("io.wakegov.Monitor", parameters, more=True)
        self.assertEqual(reply, {"parameters": {"event": None}, "continues": True})
        return raw

    def reload(self):
        with Raw(self.path) as raw:
            self.assertIn("policy", raw.call("io.wakegov.Reload")["parameters"])

    def event(self, raw):
        reply = raw.receive()
        self.assertIs(reply.get("continues"), True, reply)
        return reply["parameters"]["event"]

    def skip_events(self, raw, n):
        """Reads n events and nothing more, as fast as Python can."""
        data = b""
        while data.count(b"\0") < n:
            part = raw.socket.recv(1 << 20)
            self.assertTrue(part, "dropped")
            data += part
        self.assertEqual((data.count(b"\0"), data[-1:]), (n, b"\0"))
        self.assertNotIn(b'"error"', data)


class Calls(MonitorTest):
    def test_it_wants_more(self):
        self.assert_error(self.connect().call("io.wakegov.Monitor"),
                          "org.varlink.service.ExpectedMore")

    def test_nothing_for_oneway(self):
        raw = self.connect()
        raw.send_call("io.wakegov.Monitor", more=True, oneway=True)
        self.assertIn("version", raw.call("io.wakegov.Status")["parameters"])

    def test_bad_filters(self):
        raw = self.connect()
        for parameters, field in (({"kinds": "error"}, "kinds"), ({"kinds": ["weather"]}, "kinds"),
                                  ({"kinds": [None]}, "kinds"), ({"pid": -1}, "pid"),
                                  ({"pid": "1"}, "pid"), ({"pid": 1 << 40}, "pid"),
                                  ({"domain": 0}, "domain"), ({"colour": "red"}, "colour")):
            with self.subTest(parameters):
                self.assert_invalid(raw.call("io.wakegov.Monitor", parameters, more=True), field)
        self.assert_error(raw.call("io.wakegov.Monitor", {"domain": "policy4711"}, more=True),
                          "io.wakegov.NoSuchDomain", domain="policy4711")
        # It was refused: the connection is as good as before.
        self.assertIn("version", raw.call("io.wakegov.Status")["parameters"])

    def test_another_call_meanwhile_is_an_end(self):
        raw = self.monitor()
        raw.send_call("io.wakegov.Status")
        self.assertTrue(raw.is_dropped())
        raw = self.connect()
        call = json.dumps({"method": "io.wakegov.Monitor", "more": True}).encode() + b"\0"
        raw.send(call + call)
        self.assertTrue(raw.receive() is None or raw.is_dropped())
        self.assert_serving()


@needs_fixture
class Events(MonitorTest):
    options = ("--events", "6")

    def test_generic_client(self):
        with varlink.Client(f"unix:{self.path}") as client:
            wakegov = client.open("io.wakegov")
            self.addCleanup(wakegov.close)
            replies = wakegov.Monitor(_more=True)
            # The package leaves out what is null.
            self.assertEqual(next(replies), {})
            self.reload()
            kinds = [next(replies)["event"]["kind"] for _ in range(7)]
            self.assertEqual(kinds, ["decision"] * 6 + ["change"])

    def test_events_are_as_declared(self):
        with varlink.Client(f"unix:{self.path}") as client:
            interface = client.get_interface("io.wakegov")
        declared = interface.get_method("Monitor").out_type
        raw = self.monitor()
        self.reload()
        for _ in range(7):
            reply = raw.receive()["parameters"]
            self.assertEqual(type_errors(interface, declared, reply, "Monitor"), [])

    def test_in_order_and_whole(self):
        raw = self.monitor()
        self.reload()
        events = [self.event(raw) for _ in range(7)]
        first = events[0]["number"]
        self.assertEqual([e["number"] for e in events], list(range(first, first + 7)))
        self.assertEqual([e["domain"] for e in events],
                         ["policy0", "policy0", "policy1"] * 2 + [None])
        self.assertEqual([e["pid"] for e in events], [5000812, None] * 3 + [None])
        self.assertEqual(events[0]["decision"]["target_khz"], 2400000)
        self.assertEqual((events[6]["decision"], events[6]["message"]),
                         (None, "policy read again"))

    def test_filters(self):
        chosen = {"nothing": {}, "kind": {"kinds": ["change", "error"]},
                  "domain": {"domain": "policy1"}, "pid": {"pid": 5000812},
                  "all": {"domain": "policy0", "pid": 5000812, "kinds": ["decision"]}}
        raws = {name: self.monitor(**parameters) for name, parameters in chosen.items()}
        for _ in range(3):
            self.reload()
        expected = {"nothing": 7, "kind": 1, "domain": 2, "pid": 3, "all": 2}
        for name, n in expected.items():
            # Of each reload the same ones: there is none between them that was not chosen.
            events = [self.event(raws[name])["number"] for _ in range(3 * n)]
            self.assertEqual(events[n:], [number + 7 for number in events[:-n]], name)

    def test_those_who_leave_leave_nothing(self):
        with Raw(self.path) as raw:
            raw.call("io.wakegov.Status")
        before = self.fixture.descriptors()
        for i in range(30):
            raw = self.monitor()
            if i % 2:
                self.reload()
            raw.socket.close()
        self.reload()
        wait_until(lambda: self.fixture.descriptors() <= before)
        wait_until(lambda: self.fixture.armed_timers() == 0)

    def test_no_timer_while_nothing_happens(self):
        raws = [self.monitor() for _ in range(5)]
        wait_until(lambda: self.fixture.armed_timers() == 0)
        self.reload()
        for raw in raws:
            for _ in range(7):
                self.event(raw)
        wait_until(lambda: self.fixture.armed_timers() == 0)


@needs_fixture
class Stalled(MonitorTest):
    # What a reload makes fits into a socket: who reads all of it before the next one is never behind,
    # however slow the host is.
    EVENTS = 50
    options = ("--events", str(EVENTS), "--timeout-ms", "3000", "--max-clients", "80")

    def test_one_of_64_is_dropped_and_the_others_get_everything(self):
        stalled = self.monitor()
        raws = [self.monitor() for _ in range(63)]
        descriptors = self.fixture.descriptors()
        rounds = 30  # far more than a socket holds
        for _ in range(rounds):
            self.reload()
            for raw in raws:
                self.skip_events(raw, self.EVENTS + 1)
        # It gets what it was sent before it stalled, in order, then why there is no more.
        wait_until(lambda: self.fixture.descriptors() < descriptors)
        numbers = []
        while "parameters" in (reply := stalled.receive()) and "error" not in reply:
            numbers.append(reply["parameters"]["event"]["number"])
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.assertLess(len(numbers), (self.EVENTS + 1) * rounds)
        self.assertEqual(reply["error"], "io.wakegov.TooSlow")
        self.assertIn(reply["parameters"]["missed"], 
                      range(1, (self.EVENTS + 1) * rounds - len(numbers) + 1))
        self.assertNotIn("continues", reply)
        self.assertTrue(stalled.is_dropped())
        wait_until(lambda: self.fixture.armed_timers() == 0)


@needs_fixture
class Overtaken(MonitorTest):
    # More at once than is kept.
    options = ("--events", "20000",)

    def test_who_is_overtaken_is_told(self):
        raw, other = self.monitor(), self.monitor(kinds=["change"])
        before = self.fixture.resident_kib()
        self.reload()
        reply = raw.receive()
        self.assertEqual(reply["error"], "io.wakegov.TooSlow")
        self.assertEqual(reply["parameters"]["missed"], 20001)
        self.assertTrue(raw.is_dropped())
        # Ring and all, and it goes with the last one who listens.
        self.assertLess(self.fixture.resident_kib() - before, 8 << 10)
        other.socket.close()


if __name__ == "__main__":
    unittest.main()
