#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What users without rights can do to the installed unit: WHO CAN DO WHAT of wakegovd(8).

Run with lab run --init systemd.
"""
import contextlib
import ctypes
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import unicodedata

import guest
import tap
from clamps import clamps_of
from installed import Installed, NOBODY, POLICY, SETSPEED, journal, run, show

SOCKET = "/run/wakegov/io.wakegov"
OTHER = 65533
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
STATUS = b'{"method":"io.wakegov.Status"}\0'
READS = {"Status": {}, "Domains": {}, "Tasks": {}, "Devices": {}, "Rules": {},
         "RuleTasks": {"rule": "any"}, "CappedTasks": {}, "ExplainRules": {"pid": 1},
         "Decisions": {}, "Monitor": {}, "Explain": {"domain": "policy0"}, "Overrides": {},
         "Stats": {}, "Profiles": {}, "Classes": {}, "Hints": {},
         "GiveHint": {"class": "batch"}, "HoldHint": {"class": "batch"}}
CHANGES = {"AddOverride": {"domain": "policy0", "settings": {"max-frequency": "1GHz"}}, "CancelOverride": {"id": 1},
           "Adopt": {}, "HandBack": {"for_us": 1000000}, "HoldPolicy": {"text": ""},
           "Record": {}, "StopRecording": {}, "Reload": {}, "ChooseProfile": {"profile": "quiet"}}
DENIED = "org.varlink.service.PermissionDenied"
STRANGE_NAME = b"\x1b[31m\"}\n\xff\xe2\x80\xaex"


def unpacked(recording):
    """What its frames hold, behind its head."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    plain = ctypes.create_string_buffer(1 << 25)
    size = zstd.ZSTD_decompress(plain, ctypes.c_size_t(len(plain)), recording[24:],
                                ctypes.c_size_t(len(recording) - 24))
    # An error is a size near the greatest.
    return plain.raw[:size] if size <= len(plain) else b""


def become(uid):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


class Client:
    """A connection without any manners."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(SOCKET)
        self.socket.settimeout(10 * guest.PATIENCE)

    def ask(self, message):
        """The reply to a message; None: the daemon hung up."""
        reply = b""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(message + b"\0")
            while not reply.endswith(b"\0"):
                part = self.socket.recv(1 << 16)
                if not part:
                    return None
                reply += part
            return json.loads(reply[:-1])
        return None

    def call(self, method, **parameters):
        more = method in ("Monitor", "Record", "HandBack", "HoldHint")
        return self.ask(json.dumps({"method": f"io.wakegov.{method}", "more": more,
                                    "parameters": parameters}).encode())


class Trust(Installed):
    def setUp(self):
        super().setUp()
        self.users = []
        self.addCleanup(self.end_users)

    def start(self, policy=""):
        guest.write(POLICY, policy)
        run("systemctl", "start", "wakegovd.service")
        self.pid = int(show("MainPID"))

    def assert_unhurt(self):
        """It answers, and is the process that it was."""
        self.assertIn("version", guest.call(SOCKET, "Status"))
        self.assertEqual((int(show("MainPID")), show("NRestarts")), (self.pid, "0"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_kib(self):
        return int(re.search(r"VmRSS:\s+(\d+)", guest.read(f"/proc/{self.pid}/status")).group(1))

    def as_user(self, uid, function):
        """What the function returns in a process of that user; its connections end with the test."""
        result, ours = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
                become(uid)
                answer = {"returned": function()}
            except BaseException as error:  # whatever it is, the test is told
                answer = {"raised": repr(error)}
            os.write(ours, json.dumps(answer).encode() + b"\n")
            signal.pause()
        os.close(ours)
        self.users.append(pid)
        with open(result, encoding="ascii") as file:
            answer = json.loads(file.readline())
        if "raised" in answer:
            self.fail(answer["raised"])
        return answer["returned"]

    def end_users(self):
        while self.users:
            pid = self.users.pop()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def test_reads_only(self):
        """socket: anyone may read, nobody but root and the change group may change anything"""
        self.start("[rule any]\ncomm = nosuch\ncap = 50%\n")
        described = Client().ask(json.dumps({
            "method": "org.varlink.service.GetInterfaceDescription",
            "parameters": {"interface": "io.wakegov"}}).encode())["parameters"]["description"]
        self.assertEqual(set(re.findall(r"^method (\w+)", described, re.M)), {*READS, *CHANGES})

        def ask_all():
            return {method: Client().call(method, **parameters).get("error")
                    for method, parameters in {**READS, **CHANGES}.items()}
        errors = self.as_user(NOBODY, ask_all)
        self.assertEqual({method for method in errors if errors[method] == DENIED}, {*CHANGES})
        self.assertEqual([errors[method] for method in READS], [None] * len(READS))
        status = guest.call(SOCKET, "Status")
        self.assertEqual((status["policy"]["reloads"], status["hand_back"]), (0, None))
        self.assertEqual(guest.call(SOCKET, "Overrides")["overrides"], [])
        guest.write(POLICY, "[query]\nreaders = group\n")
        run("systemctl", "reload", "wakegovd.service")
        errors = self.as_user(NOBODY, ask_all)
        self.assertEqual(set(errors.values()), {DENIED})

    def test_crowd(self):
        """socket: a thousand connections, half-written, unread or idle, cost a bounded amount"""
        self.start()
        self.assert_unhurt()
        descriptors, resident = self.descriptors(), self.resident_kib()
        # Nothing, half a call, many calls whose replies nobody reads, what is no call.
        sent = (b"", STATUS[:20], STATUS * 100, b"{" * 1000 + b"\0")

        def crowd():
            clients = []
            for i in range(1000):
                clients.append(Client())
                with contextlib.suppress(OSError):
                    clients[-1].socket.send(sent[i % len(sent)], socket.MSG_DONTWAIT)
            self.kept = clients
            return len(clients)
        self.assertEqual(self.as_user(NOBODY, crowd), 1000)
        self.assertIn("version", self.as_user(OTHER, lambda: Client().call("Status")["parameters"]))
        self.assertLessEqual(self.descriptors(), descriptors + 128)
        self.assertLess(self.resident_kib() - resident, 8 << 10)
        tap.note(f"{self.resident_kib() - resident} KiB more for a thousand connections")
        self.assert_unhurt()
        self.end_users()
        guest.wait_for(lambda: self.descriptors() <= descriptors + 2, 15, "all of them closed")

    def test_giants(self):
        """socket: strings, numbers and nesting without measure are refused, and nothing else"""
        self.start("[rule any]\ncomm = nosuch\ncap = 50%\n")
        long, most = "\x1b" * 9000, 2 ** 63 - 1
        calls = [(method, {name: value}) for method, name, values in (
            ("Explain", "domain", (long,)), ("Explain", "at_us", (most, -most)),
            ("Explain", "cpu", (most, -1, 1 << 31)), ("Explain", "pid", (most, 0, -1, 1 << 31)),
            ("Tasks", "limit", (most, 0, -1)), ("Tasks", "pid", (most, -1, 1 << 31)),
            ("RuleTasks", "rule", (long,)), ("CappedTasks", "offset", (most, 1 << 32, -1)),
            ("ExplainRules", "pid", (most, 0, -1, 1 << 31)), ("Decisions", "after_us", (most, -1)),
            ("Stats", "domain", (long,)), ("Monitor", "kinds", ([long], ["x"] * 9000)),
            ("Monitor", "domain", (long,)), (long, "x", (1,))) for value in values]

        def ask_all():
            answered = 0
            for method, parameters in calls:
                answered += Client().call(method, **parameters) is not None
            for message in (b"[" * 60000, b" " * 70000, b'{"method":"' + b"x" * (16 << 20)):
                if Client().ask(message) is not None:
                    raise AssertionError(message[:20])
            return answered
        self.assertEqual(self.as_user(NOBODY, ask_all), len(calls))
        self.assert_unhurt()

    def test_leases(self):
        """socket: who may change things is held to bounds of time and number all the same"""
        self.start(f"[query]\nchange-group = {OTHER}\n")

        def ask_all():
            def add(**more):
                return Client().call("AddOverride", domain="policy0", settings={"max-frequency": "1GHz"},
                                     **more).get("error")
            errors = [add(for_us=us) for us in (2 ** 63 - 1, 31 * 86400 * 10 ** 6, 0, -1)]
            while errors[-1] != "io.wakegov.TooManyOverrides" and len(errors) < 1000:
                errors.append(add())
            return errors
        errors = self.as_user(OTHER, ask_all)
        self.assertEqual(errors[:4], ["org.varlink.service.InvalidParameter"] * 4)
        self.assertEqual(errors[-1], "io.wakegov.TooManyOverrides")
        overrides = guest.call(SOCKET, "Overrides")["overrides"]
        self.assertEqual(len(overrides), len(errors) - 5)
        self.assertEqual({override["uid"] for override in overrides}, {OTHER})
        self.assertLess(os.stat("/run/wakegov/overrides").st_size, 1 << 16)
        for override in overrides:
            guest.call(SOCKET, "CancelOverride", id=override["id"])
        self.assert_unhurt()

    def test_flood(self):
        """socket, names: who asks and takes new names without a pause keeps nobody from being answered"""
        self.start("[rule names]\ncomm = wg-*\ncap = 90%\n")
        resident = self.resident_kib()
        asks = b"".join(json.dumps({"method": f"io.wakegov.{name}", "parameters": given}).encode() +
                        b"\0" for name, given in READS.items() if name not in ("Monitor", "RuleTasks", "HoldHint"))

        def flood():
            while True:
                with contextlib.suppress(OSError):
                    client = Client()
                    while True:
                        client.socket.sendall(asks)
                        client.socket.recv(1 << 20)

        def rename():
            libc = ctypes.CDLL(None)
            while True:
                for name in (b"wg-storm", b"storm"):
                    libc.prctl(15, name, 0, 0, 0)
        for deed in (flood, rename):
            pid = os.fork()
            if not pid:
                os.sched_setaffinity(0, {0, 1})
                become(NOBODY)
                deed()
            self.users.append(pid)
        for _ in range(5):
            time.sleep(0.3)
            self.assertIn("version", self.as_user(OTHER, lambda: Client().call("Status")["parameters"]))
        self.assertLess(self.resident_kib() - resident, 8 << 10)
        self.end_users()
        self.assert_unhurt()

    def test_programs_of_others(self):
        """socket: the program and command line of another user's task are not told"""
        self.start("[rule program]\nexe = /nowhere\ncap = 30%\n"
                   "[rule command]\ncommand = nothing\ncap = 30%\n")
        secret = guest.ended_with(self, subprocess.Popen(["/bin/sleep", "1000.0625"]))
        guest.wait_for(lambda: guest.read(f"/proc/{secret.pid}/comm") == "sleep", 5, "it runs")

        def why_of():
            return guest.call(SOCKET, "ExplainRules", pid=secret.pid)["rules"]

        def look():
            with contextlib.suppress(PermissionError):
                os.readlink(f"/proc/{secret.pid}/exe")
                raise AssertionError("the kernel tells it to anybody")
            return why_of()
        self.assertEqual([rule["conditions"] for rule in self.as_user(NOBODY, look)], [None, None])
        self.assertIn("/sleep'", str(why_of()[0]["conditions"]))

    def test_policy_of_others(self):
        """configuration: what anybody else could write, or is no file, is refused, and named"""
        self.start("[domain policy2]\nmin-frequency = 600MHz\n")
        directory, theirs = os.path.dirname(POLICY), "/etc/theirs.conf"
        guest.write(theirs, "")
        os.chown(theirs, NOBODY, NOBODY)
        self.addCleanup(os.remove, theirs)
        added = f"{POLICY}.d/added.conf"

        def make(deed, *arguments):
            guest.write(added, "")
            deed(*arguments)

        def link():
            os.remove(added)
            os.symlink(theirs, added)

        def pipe():
            os.remove(added)
            os.mkfifo(added)
        for path, who, deed, undo in (
                (POLICY, f"user {NOBODY}", lambda: os.chown(POLICY, NOBODY, 0),
                 lambda: os.chown(POLICY, 0, 0)),
                (POLICY, "everybody", lambda: os.chmod(POLICY, 0o666),
                 lambda: os.chmod(POLICY, 0o644)),
                (directory, "everybody", lambda: os.chmod(directory, 0o777),
                 lambda: os.chmod(directory, 0o755)),
                (f"{POLICY}.d", f"group {NOBODY}", lambda: (os.chown(f"{POLICY}.d", 0, NOBODY),
                                                           os.chmod(f"{POLICY}.d", 0o775)),
                 lambda: (os.chown(f"{POLICY}.d", 0, 0), os.chmod(f"{POLICY}.d", 0o755))),
                (added, f"user {NOBODY}", lambda: make(link), lambda: os.remove(added)),
                (added, "a pipe", lambda: make(pipe), lambda: os.remove(added))):
            with self.subTest(path=path, who=who):
                deed()
                try:
                    refused = run("wakegovctl", "reload", check=False)
                finally:
                    undo()
                self.assertEqual(refused.returncode, 1)
                self.assertIn(f"{path}: ", refused.stderr)
                self.assertIn(who, refused.stderr)
        self.assertGreaterEqual(guest.frequency("policy2"), 600000)
        run("wakegovctl", "reload")
        self.assert_unhurt()

    def test_state_closed(self):
        """/run/wakegov: a user without rights reads, writes, removes and adds nothing there"""
        self.start()
        run("wakegovctl", "override", "policy0", "--max", "1GHz")
        self.addCleanup(run, "wakegovctl", "override", "cancel", "all")
        names = sorted(os.listdir("/run/wakegov"))
        self.assertLessEqual({"io.wakegov", "originals", "overrides"}, set(names))

        # On the same file system, where a file could be moved from.
        folder = "/run/theirs"
        os.mkdir(folder)
        self.addCleanup(os.rmdir, folder)
        os.chown(folder, NOBODY, NOBODY)

        def refused(deed, *arguments):
            try:
                deed(*arguments)
            except PermissionError:
                return True
            return False

        def attack():
            with open(f"{folder}/forged", "w", encoding="ascii") as forged:
                forged.write("forged")
            done = []
            for name in names:
                path = f"/run/wakegov/{name}"
                for deed, arguments in ((os.remove, (path,)), (os.chmod, (path, 0o666)),
                                        (os.rename, (path, path + ".old")),
                                        (os.rename, (f"{folder}/forged", path)),
                                        (os.link, (f"{folder}/forged", path + ".new")),
                                        (os.symlink, (f"{folder}/forged", path + ".new"))):
                    if not refused(deed, *arguments):
                        done.append([deed.__name__, *arguments])
                if name != "io.wakegov" and not refused(open, path):
                    done.append(["read", path])
            # With a lock on it, no daemon would start any more.
            for deed, arguments in ((open, ("/sys/bus/cpu/uevent", "w")),
                                    (open, ("/sys/bus/cpu/uevent",)), (os.kill, (self.pid, 0)),
                                    (os.listdir, (f"/proc/{self.pid}/fd",))):
                if not refused(deed, *arguments):
                    done.append([deed.__name__, *arguments])
            os.remove(f"{folder}/forged")
            return done
        self.assertEqual(self.as_user(NOBODY, attack), [])
        self.assertEqual(sorted(os.listdir("/run/wakegov")), names)

    def test_forged_state(self):
        """/run/wakegov: what another user could have written is not put back; the start says so"""
        self.start()
        path = "/run/wakegov/originals"
        forged = guest.read(path).replace("governor schedutil", "governor performance")
        self.assertIn("performance", forged)
        run("systemctl", "stop", "wakegovd.service")
        self.assertEqual(guest.snapshot(), self.before)
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))
        for uid, mode in ((NOBODY, 0o600), (0, 0o666), (0, 0o660)):
            with self.subTest(uid=uid, mode=mode):
                guest.write(path, forged + "\n")
                os.chmod(path, mode)
                os.chown(path, uid, NOBODY)
                refused = run("wakegovd", "--restore", check=False)
                self.assertEqual(refused.returncode, 1)
                self.assertIn(path, refused.stderr)
                self.assertEqual(guest.snapshot(), self.before)
        started = run("systemctl", "start", "wakegovd.service", check=False)
        self.assertNotEqual(started.returncode, 0)
        self.assertEqual(guest.snapshot(), self.before)
        self.assertIn(f"cannot use {path}", journal())

    def assert_plain(self, text):
        """Nothing in it that a terminal obeys, or that shows another order than there is."""
        strange = {character for character in text
                   if unicodedata.category(character) in ("Cc", "Cf") and character not in "\n\t"}
        self.assertEqual(strange, set())

    def test_names(self):
        """task names: nothing of one is obeyed by a terminal, the journal, JSON, metrics, a shell"""
        program = b"/tmp/" + STRANGE_NAME
        shutil.copy(f"{guest.BUILD}/tests/lab/freqload", program)
        self.addCleanup(os.remove, program)
        device = guest.null_blk()
        os.chmod(device, 0o666)
        self.start("[rule odd]\nexe = /tmp/*\ncap = 95%\n[io-boost]\nmin-rate = 20/s\n")
        load = guest.ended_with(self, subprocess.Popen([*AS_NOBODY, program, "psync", "--file", device,
                                                        "--cpus", "1", "--time", "300"], stdout=subprocess.DEVNULL))
        done = f"/sys/block/{os.path.basename(device)}/stat"
        reads = int(guest.read(done).split()[0])
        guest.wait_for(lambda: int(guest.read(done).split()[0]) > reads + 1000, 20, "its reads")
        guest.wait_for(lambda: any(task["tgid"] == load.pid
                                   for task in guest.call(SOCKET, "Tasks")["tasks"]), 20, "its I/O")
        guest.wait_for(lambda: "io-boost" in run("wakegovctl", "decisions").stdout, 20, "a boost")
        pid, seen = str(load.pid), ""
        for command in (["status"], ["domains"], ["tasks"], ["decisions"], ["rules"], ["rules", pid],
                        ["explain"], ["metrics"], ["devices"],
                        ["complete", "--", "override", ""]):
            shown = run(*AS_NOBODY, "wakegovctl", *command).stdout
            self.assert_plain(shown)
            seen += shown
            if command[0] not in ("complete", "metrics"):
                text = run(*AS_NOBODY, "wakegovctl", "--json", *command).stdout
                json.loads(text)
                self.assert_plain(text)
            if command[0] == "metrics":
                for line in shown.splitlines():
                    self.assertRegex(line, r'^(#.*|\w+({(\w+="[^"\\]*",?)*})? [-+.\deE]+)$')
        self.assertIn("?[31m", seen)
        monitor = run("timeout", "3", *AS_NOBODY, "wakegovctl", "monitor", check=False).stdout
        self.assert_plain(monitor)
        self.assert_plain(journal())
        self.assert_unhurt()

    def test_cgroup_names(self):
        """cgroup names: a user's own below a unit of theirs is shown without what is obeyed"""
        os.remove(SETSPEED)
        self.addCleanup(guest.write, SETSPEED, "[wakegov]\nbackend = setspeed\n")
        run("systemd-run", "--unit=lab-theirs", "-p", "Delegate=yes", "sleep", "1000")
        self.addCleanup(run, "systemctl", "stop", "lab-theirs.service")
        unit = "/sys/fs/cgroup/system.slice/lab-theirs.service"
        pid = guest.read(f"{unit}/cgroup.procs")
        run("chown", "-R", str(NOBODY), unit)

        def move():
            for name in ("postgresql.service", "x" * 255, "\x1b[31mred \u202e 30"):
                os.mkdir(f"{unit}/{name}")
            with contextlib.suppress(OSError):
                os.mkdir(f"{unit}/two\nlines")
                raise AssertionError("the kernel allows two lines")
            guest.write(f"{unit}/{name}/cgroup.procs", pid)
            return name
        name = self.as_user(NOBODY, move)
        self.start("[rule lab]\ncgroup = /system.slice/lab-theirs.service/*\ncap = 30%\n"
                   "[rule unit]\nunit = postgresql.service\nfloor = 20%\n")
        guest.wait_for(lambda: clamps_of(int(pid)) == (0, 307), 10, "its cap")
        shown = run(*AS_NOBODY, "wakegovctl", "rules", pid).stdout
        self.assertRegex(shown, r"yes +lab .*\?\[31mred \? 30")
        self.assert_plain(shown)
        self.assert_plain(run("wakegovctl", "rules").stdout)
        self.assert_plain(journal())
        self.assertEqual(guest.call(SOCKET, "RuleTasks", rule="unit")["tasks"], [])
        run("systemctl", "stop", "wakegovd.service")
        self.assertEqual(clamps_of(int(pid)), (0, 1024))
        self.assertTrue(os.path.exists(f"{unit}/{name}"))

    def held(self, khz):
        """Policy2 is not above it for half a second."""
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            if guest.frequency("policy2") > khz:
                return False
            time.sleep(0.005)
        return True

    def test_own_clamps(self):
        """own clamps: a task's floor of its own lifts neither a rule's cap nor a domain's maximum"""
        guest.stay_off({2, 3}, self)
        self.start(f"[rule low]\nuser = {NOBODY}\ncap = 30%\n")
        loop = guest.ended_with(self, subprocess.Popen([*AS_NOBODY, "uclampset", "-m", "1024", "-M", "1024", "taskset",
                                                        "-c", "2", "sh", "-c", "while :; do :; done"]))
        guest.wait_for(lambda: clamps_of(loop.pid) == (1024, 1024), 10, "its own clamps")
        guest.wait_for(lambda: self.held(600000), 20, "the rule's cap")
        guest.write(POLICY, "[domain policy2]\nmax-frequency = 1GHz\n")
        run("wakegovctl", "reload")
        guest.wait_for(lambda: guest.frequency("policy2") == 1000000, 10, "the domain's maximum")
        self.assertTrue(self.held(1000000))

    def test_recordings(self):
        """recordings: for their owner alone, without command lines; a forged one does no harm"""
        self.start("[rule any]\ncommand = *wg-s?cret*\ncap = 90%\n[io-boost]\nmin-rate = 20/s\n")
        load = guest.ended_with(self, guest.start_load("psync", "--file", guest.null_blk(), "--cpus", "1", "--time", "300"))
        secret = guest.ended_with(self, subprocess.Popen(["sh", "-c", "while sleep 0.1; do :; done", "wg-secret"]))
        guest.wait_for(lambda: guest.call(SOCKET, "RuleTasks", rule="any")["tasks"], 20, "the match")
        path, forged = "/tmp/trust.rec", "/tmp/forged.rec"
        self.addCleanup(os.remove, path)
        data = b""

        def has_load():
            nonlocal data
            run("wakegovctl", "record", "-o", path, "--for", "2s")
            with open(path, "rb") as file:
                data = file.read()
            return b"freqload" in unpacked(data)
        guest.wait_for(has_load, 20, "the load's I/O recorded")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        for word, is_there in ((b"policy0", True), (b"wg-secret", False)):
            self.assertEqual(word in unpacked(data), is_there, word)
        self.addCleanup(os.remove, forged)
        numbers = random.Random(1)
        for _ in range(10):
            wrong = bytearray(data[:numbers.randrange(len(data))])
            for _ in range(numbers.randrange(20)):
                wrong[numbers.randrange(len(wrong))] = numbers.randrange(256)
            with open(forged, "wb") as file:
                file.write(wrong)
            done = run(*AS_NOBODY, "wakegovctl", "replay", forged, check=False)
            self.assertIn(done.returncode, (0, 1, 5), done.stderr)
            self.assert_plain(done.stdout + done.stderr)
        self.assert_unhurt()


if __name__ == "__main__":
    tap.main()
