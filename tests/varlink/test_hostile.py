#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The server against clients that are broken, slow or hostile; see service.py for the environment.

Tests without @needs_fixture can be run against a daemon as well.
"""

import array
import contextlib
import json
import os
import resource
import signal
import socket
import threading
import time
import unittest

from service import FreshServiceTest, PATIENCE_S, Raw, ServiceTest, needs_fixture, wait_until

STATUS = b'{"method":"io.wakegov.Status"}\0'
TASKS = b'{"method":"io.wakegov.Tasks"}\0'
# A client that the host keeps from going on is not taken for one that does not want to.
LONG_MS = "600000"


class Protocol(ServiceTest):
    def test_what_is_no_call_is_dropped(self):
        for message in (b"", b"garbage", b"[]", b'"text"', b"1", b"{", b'{"method":}',
                        b'{"method":"io.wakegov.Status"} {}',
                        b'{"method":"a","method":"b"}',
                        b'{"method":"io.wakegov.\xff"}',
                        b'{"method":"io.wakegov.\\u0000"}',
                        b'{"method":"a","parameters":{"n":99999999999999999999999}}',
                        b'{"method":"a","parameters":{"n":1e999}}',
                        b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
                        b"[" * 60000):
            with self.subTest(message[:50]):
                raw = self.connect()
                raw.send(message + b"\0")
                self.assertTrue(raw.is_dropped())
        self.assert_serving()

    def test_fields_of_the_wrong_type(self):
        raw = self.connect()
        for message, field in (({}, "method"), ({"method": None}, "method"),
                               ({"method": 1}, "method"), ({"method": ["a"]}, "method"),
                               ({"method": "Status"}, "method"), ({"method": ""}, "method"),
                               ({"method": "io.wakegov.Status", "parameters": []}, "parameters"),
                               ({"method": "io.wakegov.Status", "parameters": "x"}, "parameters"),
                               ({"method": "io.wakegov.Status", "more": 1}, "more"),
                               ({"method": "io.wakegov.Status", "oneway": "yes"}, "oneway"),
                               ({"method": "io.wakegov.Status", "upgrade": {}}, "upgrade"),
                               ({"method": "io.wakegov.Status", "upgrade": True}, "upgrade")):
            with self.subTest(message):
                raw.send(json.dumps(message).encode() + b"\0")
                self.assert_invalid(raw.receive(), field)

    def test_parameters_that_are_wrong(self):
        description = "org.varlink.service.GetInterfaceDescription"
        raw = self.connect()
        for method, parameters, field in ((description, None, "interface"),
                                          (description, {}, "interface"),
                                          (description, {"interface": None}, "interface"),
                                          (description, {"interface": 5}, "interface"),
                                          ("io.wakegov.Status", {"colour": 1}, "colour"),
                                          ("io.wakegov.Decisions", {"after_us": "1"}, "after_us"),
                                          ("io.wakegov.Decisions", {"after_us": 1.5}, "after_us"),
                                          ("io.wakegov.Decisions", {"after_us": -1}, "after_us"),
                                          ("io.wakegov.Decisions", {"after": 1}, "after")):
            with self.subTest(method=method, parameters=parameters):
                self.assert_invalid(raw.call(method, parameters), field)

    def test_null_is_as_good_as_absent(self):
        reply = self.connect().call("io.wakegov.Tasks", more=None, oneway=None)
        self.assertIn("tasks", reply["parameters"])
        raw = self.connect()
        raw.send(b'{"method":"io.wakegov.Tasks","parameters":null}\0')
        self.assertIn("tasks", raw.receive()["parameters"])

    def test_names_that_are_not_known(self):
        for method in ("io.wakegov.Missing", "io.wakegov.status", "org.varlink.service.X",
                       "io.wakegov."):
            self.assert_error(self.raw.call(method), "org.varlink.service.MethodNotFound",
                              method=method)
        for interface in ("com.example", "io", "io.wakegov.Status", "io.wakegovx", ""):
            self.assert_error(self.raw.call(interface + ".Status"),
                              "org.varlink.service.InterfaceNotFound", interface=interface)

    def test_pipelined_calls_are_answered_in_order(self):
        raw = self.connect()
        n = 100
        raw.send(b"".join(b'{"method":"a.M%d"}\0' % i for i in range(n)) + STATUS)
        for i in range(n):
            self.assert_error(raw.receive(), "org.varlink.service.InterfaceNotFound",
                              interface="a")
        self.assertIn("version", raw.receive()["parameters"])

    def test_oneway_gets_no_reply(self):
        for method in ("io.wakegov.Tasks", "io.wakegov.Missing", "com.example.X"):
            self.raw.send_call(method, oneway=True)
        self.raw.send_call("io.wakegov.Status", {"wrong": 1}, oneway=True)
        self.assertIn("decisions", self.raw.call("io.wakegov.Decisions")["parameters"])
        self.assertTrue(self.raw.is_silent())

    def test_message_in_pieces(self):
        for byte in STATUS:
            self.raw.send(bytes([byte]))
        self.assertIn("version", self.raw.receive()["parameters"])

    def test_reply_after_the_client_has_finished_sending(self):
        raw = self.connect()
        raw.send(STATUS * 20)
        raw.socket.shutdown(socket.SHUT_WR)
        for _ in range(20):
            self.assertIn("version", raw.receive()["parameters"])
        self.assertTrue(raw.is_dropped())

    def test_half_a_message_then_the_end(self):
        raw = self.connect()
        raw.send(STATUS + b'{"method":')
        raw.socket.shutdown(socket.SHUT_WR)
        self.assertIn("version", raw.receive()["parameters"])
        self.assertTrue(raw.is_dropped())

    def test_connections_that_come_and_go(self):
        for i in range(300):
            with Raw(self.path) as raw:
                if i % 3:
                    raw.send(STATUS[:i % len(STATUS)] if i % 2 else STATUS)
        self.assert_serving()


@needs_fixture
class Effects(ServiceTest):
    options = ("--timeout-ms", LONG_MS)

    def test_oneway_is_carried_out_though_the_client_is_gone(self):
        with Raw(self.path) as raw:
            raw.send_call("io.wakegov.Reload", oneway=True)
        raw = self.connect()
        wait_until(lambda: raw.call("io.wakegov.Status")["parameters"]["policy"]["reloads"] == 1)

    def wait_for_armed_timers(self, n):
        wait_until(lambda: self.fixture.armed_timers() == n)

    def test_timer_is_armed_only_while_a_call_is_incomplete(self):
        idle = [self.connect() for _ in range(10)]
        for raw in idle[5:]:
            raw.call("io.wakegov.Status")
        self.wait_for_armed_timers(0)
        for _ in range(2):
            idle[0].send(STATUS[:10])
            self.wait_for_armed_timers(1)
            idle[0].send(STATUS[10:])
            self.assertIn("version", idle[0].receive()["parameters"])
            self.wait_for_armed_timers(0)

    def test_descriptors_that_are_sent_along_do_not_stay(self):
        raw = self.connect()
        raw.call("io.wakegov.Tasks")
        before = self.fixture.descriptors()
        with open(os.devnull) as null:
            rights = array.array("i", [null.fileno()] * 100)
            for _ in range(10):
                raw.socket.sendmsg([STATUS], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
                self.assertIn("version", raw.receive()["parameters"])
        # Fewer, if the server has only now seen that clients of earlier tests are gone.
        self.assertLessEqual(self.fixture.descriptors(), before)

    def test_clients_that_left_leave_nothing(self):
        self.assert_serving()
        raw = self.connect()
        raw.call("io.wakegov.Status")
        before = self.fixture.descriptors()
        for _ in range(50):
            with Raw(self.path) as other:
                other.send(STATUS)
        raw.call("io.wakegov.Status")
        wait_until(lambda: self.fixture.descriptors() <= before)


@needs_fixture
class Sizes(ServiceTest):
    options = ("--max-message-bytes", "1000")

    def message(self, length):
        return STATUS[:-1] + b" " * (length - len(STATUS) + 1) + b"\0"

    def test_longest_message(self):
        raw = self.connect()
        raw.send(self.message(1000) * 5)
        for _ in range(5):
            self.assertIn("version", raw.receive()["parameters"])

    def test_message_that_is_too_long(self):
        for message in (self.message(1001), self.message(100000), b"x" * 1001):
            raw = self.connect()
            try:
                raw.send(message)
            except BrokenPipeError:
                pass
            self.assertTrue(raw.is_dropped())

    def test_too_long_behind_good_ones(self):
        raw = self.connect()
        raw.send(STATUS * 3 + self.message(1001))
        self.assertEqual([raw.receive() is None for _ in range(4)], [False, False, False, True])


@needs_fixture
class Time(ServiceTest):
    options = ("--timeout-ms", "200", "--tasks", "20000")

    def test_half_a_message_then_silence(self):
        raw = self.connect()
        start = time.monotonic()
        raw.send(STATUS[:10])
        self.assertTrue(raw.is_dropped())
        self.assertGreater(time.monotonic() - start, 0.19)

    def test_dripping_does_not_prolong_it(self):
        raw = self.connect()
        start = time.monotonic()
        with self.assertRaises((BrokenPipeError, ConnectionResetError)):
            while time.monotonic() - start < PATIENCE_S:
                raw.send(b" ")
                time.sleep(0.01)
        self.assertLess(time.monotonic() - start, PATIENCE_S / 2)

    def test_client_that_never_reads(self):
        other = self.connect()
        other.call("io.wakegov.Status")
        before = self.fixture.descriptors()
        raws = [self.connect() for _ in range(2)]
        # Accepted, so that it shows when they are dropped.
        for raw in raws:
            raw.call("io.wakegov.Status")
        for raw, n in zip(raws, (1, 20)):
            # At once: the first may be hung up on before there is another.
            raw.send(TASKS * n)
        self.assertIn("version", other.call("io.wakegov.Status")["parameters"])
        wait_until(lambda: self.fixture.descriptors() <= before)
        # Hung up on in the middle of the first reply: what the kernel has of it is all there is.
        for raw in raws:
            self.assertTrue(raw.is_dropped())
        self.assertIn("version", other.call("io.wakegov.Status")["parameters"])

    def test_idle_clients_stay(self):
        idle = [self.connect() for _ in range(10)]
        for raw in idle[5:]:
            raw.call("io.wakegov.Status")
        time.sleep(0.3)
        for raw in idle:
            self.assertIn("version", raw.call("io.wakegov.Status")["parameters"])


@needs_fixture
class Unread(ServiceTest):
    # Replies of 5 MB; 32 MiB may wait, besides what the kernel holds.
    options = ("--tasks", "24000", "--timeout-ms", LONG_MS)

    def test_memory_is_bounded_and_others_are_served(self):
        hoarders = [self.connect() for _ in range(12)]
        for raw in hoarders:
            raw.send_call("io.wakegov.Tasks")
        self.assert_serving()
        served = sum(not raw.is_dropped() for raw in hoarders)
        self.assertGreater(served, 3)
        self.assertLess(served, 9)
        self.assert_serving()

    def test_large_replies_are_made_one_by_one(self):
        # All at once they would be beyond the bound, and the client dropped for it.
        raw = self.connect()
        for _ in range(8):
            raw.send_call("io.wakegov.Tasks")
        for _ in range(8):
            self.assertEqual(len(raw.receive()["parameters"]["tasks"]), 24000)


@needs_fixture
class Places(FreshServiceTest):
    # Of a client that is quiet for longer the place is free.
    options = ("--max-clients", "20", "--timeout-ms", LONG_MS)

    def test_too_many_clients(self):
        steady = self.connect()
        steady.call("io.wakegov.Status")
        # Later ones find no client that has been quiet for long enough.
        crowd = []
        for _ in range(200):
            crowd.append(self.connect())
            self.assertIn("version", steady.call("io.wakegov.Status")["parameters"])
        # The last newcomer may wait behind that call.
        steady.call("io.wakegov.Status")
        self.assertLessEqual(sum(raw.is_silent() for raw in crowd), 19)
        self.assertLessEqual(self.fixture.descriptors(), 20 + 10)

    def test_steady_client_keeps_its_place_in_a_storm(self):
        steady = self.connect()
        stop = threading.Event()

        def storm():
            while not stop.is_set():
                # A place may be refused at once: then there is nobody to send to.
                with Raw(self.path) as raw, contextlib.suppress(BrokenPipeError):
                    raw.send(b"garbage\0")

        threads = [threading.Thread(target=storm) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(200):
                self.assertIn("version", steady.call("io.wakegov.Status")["parameters"])
        finally:
            stop.set()
            for thread in threads:
                thread.join()


@needs_fixture
class QuietPlaces(FreshServiceTest):
    TIMEOUT_S = 1
    options = ("--max-clients", "20", "--timeout-ms", str(TIMEOUT_S * 1000))

    def test_those_that_sit_there_yield(self):
        for _ in range(40):
            self.connect()
        # The server's timers run since it has accepted them, which is later on a busy machine.
        for _ in range(10):
            time.sleep(self.TIMEOUT_S + 0.1)
            with Raw(self.path) as raw, contextlib.suppress(OSError):
                if raw.call("io.wakegov.Status"):
                    return
        self.fail("nobody yielded")

    def test_call_that_waits_for_a_late_server_keeps_its_place(self):
        caller, *crowd = [self.connect() for _ in range(20)]
        for raw in (caller, *crowd):
            raw.call("io.wakegov.Status")
        self.fixture.process.send_signal(signal.SIGSTOP)
        newcomers = [self.connect() for _ in range(30)]
        caller.send_call("io.wakegov.Status")
        time.sleep(self.TIMEOUT_S + 0.1)
        self.fixture.process.send_signal(signal.SIGCONT)
        self.assertIn("version", caller.receive()["parameters"])
        self.assertIn("version", newcomers[0].call("io.wakegov.Status")["parameters"])


@needs_fixture
class Masses(ServiceTest):
    def assert_no_growth(self, before_kib):
        self.assert_serving()
        self.assertLess(self.fixture.resident_kib() - before_kib, 4 << 10)

    def test_message_of_a_gigabyte(self):
        self.assert_serving()
        before = self.fixture.resident_kib()
        piece = b"x" * (1 << 20)
        for start in (b"", b'{"method":"', b'{"method":"io.wakegov.Status","parameters":{"a":"'):
            raw = self.connect()
            sent = 0
            with self.assertRaises((BrokenPipeError, ConnectionResetError)):
                raw.send(start)
                while sent < 1 << 30:
                    raw.send(piece)
                    sent += len(piece)
            self.assertLess(sent, 4 << 20)
        self.assert_no_growth(before)

    def test_gigabyte_of_good_calls(self):
        """From a client that reads nothing: it is made to wait, not stored."""
        before = self.fixture.resident_kib()
        raw = self.connect()
        raw.socket.settimeout(0.3)
        with self.assertRaises((TimeoutError, BrokenPipeError, ConnectionResetError)):
            for _ in range(1 << 10):
                raw.send(STATUS * ((1 << 20) // len(STATUS)))
        self.assert_no_growth(before)

    def test_ten_thousand_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 11000 and os.geteuid():
            self.skipTest("needs root to open 10,000 connections")
        resource.setrlimit(resource.RLIMIT_NOFILE, (11000, max(hard, 11000)))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, max(hard, 11000)))
        steady = self.connect()
        steady.call("io.wakegov.Status")
        before = self.fixture.resident_kib()
        crowd = [self.connect() for _ in range(10000)]
        self.assertIn("version", steady.call("io.wakegov.Status")["parameters"])
        self.assertLessEqual(self.fixture.descriptors(), 128 + 20)
        self.assertLess(self.fixture.resident_kib() - before, 4 << 10)
        for raw in crowd:
            raw.socket.close()
        self.assert_no_growth(before)


@needs_fixture
class Users(FreshServiceTest):
    """Places shared between users; each client is a process that became another user."""

    options = ("--max-clients", "8")

    def setUp(self):
        if os.geteuid():
            self.skipTest("needs root to become other users")
        super().setUp()

    def connect_as(self, uid, n):
        """Returns how many of n connections got an answer; they stay until the test ends."""
        parent, child = socket.socketpair()
        pid = os.fork()
        if not pid:
            try:
                os.setuid(uid)
                clients = [Raw(self.path) for _ in range(n)]
                answered = sum(self.answers(raw) for raw in clients)
                child.sendall(bytes([answered]))
                parent.close()
                child.recv(1)
            finally:
                os._exit(0)
        child.close()
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(parent.close)
        return parent.recv(1)[0]

    @staticmethod
    def answers(raw):
        try:
            return raw.call("io.wakegov.Status") is not None
        except BrokenPipeError:
            return False

    def test_places_are_shared_and_root_always_gets_in(self):
        self.assertEqual(self.connect_as(65534, 70), 8)
        self.assertEqual(self.connect_as(65533, 70), 4)
        # Two thirds of a place are none.
        self.assertEqual(self.connect_as(65532, 70), 2)
        self.assertEqual(self.connect_as(0, 6), 6)


@needs_fixture
class Descriptors(ServiceTest):
    options = ("--max-descriptors", "16")

    def test_shortage_is_survived(self):
        steady = self.connect()
        steady.call("io.wakegov.Status")
        crowd = [self.connect() for _ in range(20)]
        crowd[-1].send(STATUS)
        start = time.monotonic()
        for _ in range(5):
            before = steady.call("io.wakegov.Status")["parameters"]["self"]["wakeups"]
        # It does not spin on the one that it cannot accept.
        time.sleep(0.1)
        after = steady.call("io.wakegov.Status")["parameters"]["self"]["wakeups"]
        self.assertLess(after - before, 10 + 50 * (time.monotonic() - start))
        for raw in crowd[:-1]:
            raw.socket.close()
        self.assertIn("version", crowd[-1].receive()["parameters"])


if __name__ == "__main__":
    unittest.main()
