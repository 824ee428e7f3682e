# SPDX-License-Identifier: GPL-2.0-only
"""The server under test, and raw access to it; for test_*.py.

Environment:
  WAKEGOV_BUILD   the build directory (build)
  WAKEGOV_SOCKET  test the server that listens there, instead of a fixture with made-up data
"""

import contextlib
import functools
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("WAKEGOV_BUILD", os.path.join(TOP, "build")))
LIVE_SOCKET = os.environ.get("WAKEGOV_SOCKET")
FIXTURE = os.path.join(BUILD, "tests/varlink/varlink-fixture")
WAKEGOVCTL = os.path.join(BUILD, "wakegovctl")

# Longer than anything takes that is not broken; no test waits for it to pass.
PATIENCE_S = 60


def wakegovctl(*arguments, **options):
    """How it ended, and what it printed."""
    return subprocess.run([WAKEGOVCTL, *arguments], text=True, timeout=PATIENCE_S,
                          **{"capture_output": True, **options})


def wait_until(condition, seen=lambda: "it never came"):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(seen())
        time.sleep(0.01)


def record_simulated(path):
    """A recording of two tasks that read, on a machine with two domains: the same each time."""
    subprocess.run([os.path.join(os.path.dirname(WAKEGOVCTL), "wakegov-sim"), "--platform",
                    os.path.join(TOP, "conf/platforms/rk3399.ini"), "--workload", "psyncx2",
                    "--governor", "wakegov", "--duration", "500ms", "--warm-up", "10ms", "--record", path],
                   check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE_S)


def needs_fixture(test):
    """Of a class or a test that asks for the fixture's data or limits: for another server there is none."""
    return None if LIVE_SOCKET else test


class Fixture:
    """varlink-fixture with options, on a socket of its own."""

    def __init__(self, *options):
        self.directory = tempfile.mkdtemp(prefix="wakegov-")
        os.chmod(self.directory, 0o755)
        self.path = os.path.join(self.directory, "io.wakegov")
        self.log_path = os.path.join(self.directory, "log")
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([FIXTURE, *options, self.path],
                                            stdout=subprocess.PIPE, stderr=log)
        if self.process.stdout.readline() != b"ready\n":
            raise RuntimeError("fixture: " + self.log())

    def log(self):
        with open(self.log_path) as log:
            return log.read()

    def stop(self):
        """Ends it; a leak or a fault that the sanitizers saw is a failure."""
        self.process.terminate()
        code = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        log = self.log()
        shutil.rmtree(self.directory)
        if code:
            raise AssertionError(f"the server ended with {code}: {log}")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def armed_timers(self):
        """How many of its timers will wake it."""
        armed = 0
        for fd in os.listdir(f"/proc/{self.process.pid}/fdinfo"):
            # One that was closed since it was listed wakes nobody.
            with contextlib.suppress(FileNotFoundError), \
                    open(f"/proc/{self.process.pid}/fdinfo/{fd}") as info:
                for line in info:
                    armed += line.startswith("it_value:") and line.split() != \
                        ["it_value:", "(0,", "0)"]
        return armed

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


class Raw:
    """A connection without any manners."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        # Before the timeout, with which a full backlog would be an error instead of a wait.
        self.socket.connect(path)
        self.socket.settimeout(PATIENCE_S)
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def send_call(self, method, parameters=None, **flags):
        message = {"method": method, **flags}
        if parameters is not None:
            message["parameters"] = parameters
        self.send(json.dumps(message).encode() + b"\0")

    def receive(self):
        """The next message, or None if the server has hung up."""
        while b"\0" not in self.pending:
            try:
                data = self.socket.recv(1 << 20)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self.pending += data
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def call(self, method, parameters=None, **flags):
        self.send_call(method, parameters, **flags)
        return self.receive()

    def is_dropped(self):
        """Waits until the server hangs up; anything else that it does is False."""
        return self.receive() is None

    def is_silent(self):
        """Nothing to read, and not hung up, at this moment."""
        return not select.select([self.socket], [], [], 0)[0]


class ServiceTest(unittest.TestCase):
    """Tests that share one server: the one given by the environment, else a fixture."""

    options = ()
    fixture = None

    @classmethod
    def setUpClass(cls):
        if LIVE_SOCKET:
            cls.path = LIVE_SOCKET
        else:
            cls.fixture = Fixture(*cls.options)
            cls.path = cls.fixture.path

    @classmethod
    def tearDownClass(cls):
        if cls.fixture:
            cls.fixture.stop()
            cls.fixture = None

    def connect(self):
        raw = Raw(self.path)
        self.addCleanup(raw.socket.close)
        return raw

    @functools.cached_property
    def raw(self):
        return self.connect()

    def assert_error(self, reply, name, **parameters):
        self.assertEqual(reply, {"error": name, "parameters": parameters})

    def assert_invalid(self, reply, parameter):
        self.assert_error(reply, "org.varlink.service.InvalidParameter", parameter=parameter)

    def assert_serving(self):
        with Raw(self.path) as raw:
            self.assertIn("version", raw.call("io.wakegov.Status")["parameters"])


class FreshServiceTest(ServiceTest):
    """Tests that have a fixture each, in which nobody has been before."""

    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        self.fixture = Fixture(*self.options)
        self.addCleanup(self.fixture.stop)
        self.path = self.fixture.path
