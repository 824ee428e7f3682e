#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl: its output, its words and its exit codes; see service.py for the environment."""

import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

from service import Fixture, PATIENCE_S, ServiceTest, TOP, WAKEGOVCTL, needs_fixture, wakegovctl

COMMANDS = ("status", "domains", "tasks", "devices", "decisions")
OK, REFUSED, USAGE, UNREACHABLE, LOST = range(5)


class ControlTest(ServiceTest):
    def run_command(self, *arguments, code=OK):
        done = wakegovctl("--socket", self.path, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        # Either an answer or a complaint, never both.
        self.assertEqual(bool(done.stdout), code == OK, done.stdout)
        self.assertEqual(bool(done.stderr), code != OK, done.stderr)
        return done.stdout or done.stderr

    def on_terminal(self, *command, columns=80, **environment):
        """What a command prints to a terminal."""
        leader, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        # A reader that loses its CPU may be told that the terminal is closed before it has read all.
        marked = "/bin/sh", "-c", '"$@"; code=$?; printf "\\4"; exit $code', "sh", WAKEGOVCTL
        with subprocess.Popen([*marked, "--socket", self.path, *command], stdout=follower,
                              env={"TERM": "xterm", **environment}) as process:
            text = b""
            while not text.endswith(b"\4"):
                text += os.read(leader, 65536)
        os.close(follower)
        os.close(leader)
        self.assertEqual(process.returncode, OK)
        return text[:-1]


class Commands(ControlTest):
    def test_every_command_answers(self):
        for command in COMMANDS:
            self.assertTrue(self.run_command(command).endswith("\n"))

    def test_json_is_what_the_service_said(self):
        raw = self.connect()
        for command in ("domains", "tasks", "devices", "decisions"):
            text = self.run_command("--json", command)
            # In ASCII, so that no terminal obeys it.
            dumped = json.dumps(json.loads(text), indent=2, sort_keys=True)
            self.assertEqual(text.lower(), dumped.lower() + "\n")
            if self.fixture:
                said = raw.call("io.wakegov." + command.capitalize())["parameters"]
                shown = json.loads(text)
                for task in (*said.get("tasks", ()), *shown.get("tasks", ())):
                    del task["hold_left_us"]  # it goes on
                self.assertEqual(shown, said)

    def test_colours_on_terminals_that_want_them(self):
        command = "status", "--programs"
        self.assertIn(b"PROGRAM", self.on_terminal(*command))
        self.assertIn(b"\x1b[1m", self.on_terminal(*command))
        self.assertIn(b"\x1b[1m", self.on_terminal(*command, NO_COLOR=""))
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn(b"\x1b", self.on_terminal(*command, **environment))
        self.assertNotIn("\x1b", self.run_command(*command))

    def test_option_may_follow_the_command(self):
        self.assertIn("version", json.loads(self.run_command("status", "--json")))


@needs_fixture
class Output(ControlTest):
    def test_narrow(self):
        """no table is wider than the terminal"""
        for command in "domains", "tasks", "devices", "decisions":
            with self.subTest(command):
                lines = re.sub(r"\x1b\[[0-9;]*m", "", self.on_terminal(
                    command, columns=64).decode()).splitlines()
                self.assertGreater(len(lines), 2)
                self.assertEqual([line for line in lines if len(line) > 64], [])

    def test_status(self):
        text = self.run_command("status")
        self.assertRegex(text, r"(?m)^wakegovd 0\.3\.0(~git\d+\.[0-9a-f]+)?, up 3 h 12 min, governing, backend setspeed$")
        for line in ("decisions  123456",
                     "tasks      4 known, room for 20000",
                     "drops      ring 0, slots 3, tasks 0, devices 4, missed 0, processes 0, hints 0,\n           threads 0, chains 0"):
            self.assertIn(line + "\n", text)
        self.assertRegex(text, r"policy     built in, there is no /etc/wakegov\.conf yet, reloaded \d+ times?\n")
        self.assertRegex(text, r"own cost   [\d.]+ [mu]?s of CPU time at the start, [\d.]+ m?s since \([\d.]+ % of one CPU\),\s+"
                               r"[\d.]+\s+MiB")
        self.assertRegex(text, r"block_rq_issue +failed +0  I/O of tasks that do not wait for it: Operation not supported\n")
        self.assertNotIn("sched_switch", text)  # it is attached

    def test_programs(self):
        self.assertRegex(self.run_command("status", "--programs"), r"sched_switch +attached +\d+")

    def test_advice_keeps_to_the_width(self):
        lines = self.run_command("status").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("advice"))
        self.assertEqual(lines[first], "advice     interrupt of nvme0q3 lands in policy0, the busiest of its "
                                       "tasks (1)")
        advice = lines[first:lines.index("")]
        self.assertLessEqual(max(map(len, advice)), 80)
        self.assertTrue(all(line.startswith(" " * 11) for line in advice[1:]))
        self.assertIn("/proc/irq/38/smp_affinity_list", " ".join(advice))

    def test_domains(self):
        header, boosted, yielded, offline = self.run_command("domains").splitlines()
        self.assertEqual(header.split(), ["DOMAIN", "CPUS", "STATE", "CURRENT", "TARGET",
                                          "LIMITS", "USED", "REASON"])
        self.assertEqual(re.split(r"  +", boosted),
                         ["policy0", "0-3", "driven", "1800 MHz", "2400 MHz", "800-3600 MHz",
                          "33 %", "io-boost (fio, pid 5000812), limited by policy-max"])
        self.assertTrue(yielded.endswith("scaling_setspeed was changed by someone else"))
        self.assertEqual(offline.split(), ["policy2", "0-3", "offline", "-", "-", "-", "0", "%",
                                           "-"])
        # Aligned: what is to the right of a column begins where its title does.
        self.assertEqual(header.index("REASON"), boosted.index("io-boost"))
        self.assertEqual(header.index("STATE"), yielded.index("yielded"))

    def test_chains(self):
        lines = self.run_command("tasks").splitlines()
        self.assertIn("chains, tasks that work in turn, and their share of a CPU:", lines)
        self.assertEqual(" ".join(lines[-2].split()), "PID TASK DOMAIN WORKS FOR IT TOGETHER")
        self.assertEqual(" ".join(lines[-1].split()), "5000813 - policy0 ? (pid 5000814) 47 %")

    def test_tasks_cannot_write_on_the_terminal(self):
        text = self.run_command("tasks")
        self.assertNotIn("\x1b", text)
        self.assertIn("?[31mred\ufffd", text)

    def test_tasks(self):
        header, boosted, counted, *_ = self.run_command("tasks").splitlines()
        self.assertEqual(header.split(), ["PID", "TASK", "DOMAIN", "STATE", "DEVICE", "I/O/S",
                                          "HOST", "GAIN", "FOUND", "MHZ", "HOLD"])
        self.assertEqual(boosted.split(), ["5000812", "fio", "policy0", "pays", "nvme0n1", "25000",
                                           "61", "%", "+56", "%", "+41", "%", "1416", "9", "h"])
        self.assertEqual(counted.split(), ["5000813", "kworker/0:1H", "policy0", "trying", "-",
                                           "25000", "-", "-", "-", "-", "9", "h"])
        self.assertLessEqual(max(map(len, (header, boosted, counted))), 80)

    def test_devices(self):
        header, pays, not_, new = self.run_command("devices").splitlines()
        self.assertEqual(header.split(), ["DEVICE", "TASKS", "I/O/S", "DEPTH", "CPU", "DOMAIN",
                                          "BOOSTED", "TRYING"])
        self.assertEqual(pays.split(), ["nvme0n1", "3", "24817", "3.4", "1", "policy0", "3", "0"])
        self.assertEqual(not_.split()[6:], ["0", "1"])
        self.assertEqual(new.split(), ["nvme2n1", "0", "-", "-", "4", "-", "0", "0"])
        self.assertLessEqual(max(map(len, (header, pays, not_, new))), 80)

    def test_decisions(self):
        lines = self.run_command("decisions").splitlines()
        self.assertEqual(len(lines), 6)
        # With its date where that is not today's.
        self.assertRegex(lines[1], r"^(\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{3}  policy0 +-  2400 MHz +2400 MHz  "
                                   r"io-boost \(fio, pid 5000812\), limited by policy-max$")

    def test_decisions_that_are_wanted(self):
        all_of_them = self.run_command("decisions").splitlines()[1:]
        self.assertEqual(self.run_command("decisions", "-n", "2").splitlines()[1:], all_of_them[-2:])
        of_one = [line for line in all_of_them if "  policy1  " in line]
        self.assertEqual([line.split()[0] for line in
                          self.run_command("decisions", "policy1").splitlines()[1:]],
                         [line.split()[0] for line in of_one])
        self.assertEqual(self.run_command("decisions", "--since", "1ms"),
                         "no such decision is remembered\n")
        self.assertIn("no domain 'policy99'", self.run_command("decisions", "policy99", code=REFUSED))
        for wrong in (("-n", "x"), ("--since", "soon"), ("policy0", "policy1")):
            self.run_command("decisions", *wrong, code=USAGE)

    def test_stats(self):
        text = self.run_command("stats")
        self.assertRegex(text.splitlines()[0], r"^policy0 +\d.* s, mean \d+ MHz: idle 100\.0 %$")
        self.assertRegex(text, r"(?m)^policy1 +1600 +idle +2\.4 s +\d+\.\d %$")
        self.assertRegex(text, r"(?m)^fio +nvme0n1 +9000000 +2594306 ± 134520$")
        self.assertEqual(set(json.loads(self.run_command("stats", "--json"))), {"domains", "gains", "boosted_ios", "gained_ios", "opps",
                                                                                "reasons", "limits"})
        of_one = self.run_command("stats", "--domain", "policy1")
        self.assertIn("policy1", of_one)
        self.assertNotIn("policy0", of_one)
        self.assertIn("no domain 'policy99'",
                      self.run_command("stats", "--domain", "policy99", code=REFUSED))

    def reload_until_it_ends(self, process):
        """What happens before a monitor listens is no event to it, and it shows events only."""
        end = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < end:
            wakegovctl("--socket", self.path, "reload")
        process.kill()

    def test_a_reader_that_goes_away_is_no_error(self):
        """all commands end silently, also where the signal is ignored, as under systemd"""
        for command in (*COMMANDS, "metrics", "rules", "explain", "--help", "monitor"):
            words = (command,)
            for restored in (True, False):
                with self.subTest(command=command, restored=restored):
                    reader, writer = os.pipe()
                    os.close(reader)
                    with os.fdopen(writer, "w") as closed, subprocess.Popen(
                            [WAKEGOVCTL, "--socket", self.path, *words], stdout=closed,
                            stderr=subprocess.PIPE, restore_signals=restored) as process:
                        closed.close()
                        if "monitor" in words:
                            self.reload_until_it_ends(process)
                        self.assertEqual(process.stderr.read(), b"")
                        self.assertEqual(process.wait(PATIENCE_S), -signal.SIGPIPE)

    def test_no_such_profile(self):
        """a slip is understood, and is no choice"""
        self.assertIn("no profile 'quit'. Did you mean 'quiet'?",
                      self.run_command("profile", "quit", code=REFUSED))
        self.assertIn("no such profile", self.run_command("profile", "nothing-alike", code=REFUSED))
        self.assertIn("balanced is in force", self.run_command("profile"))

    def test_reload(self):
        loaded, *warnings = self.run_command("reload").splitlines()
        self.assertRegex(loaded, r"^loaded /etc/wakegov\.conf, reload number \d+$")
        self.assertEqual(warnings, [
            "warning    wakegov.conf:12: [rule games] user = joe does not exist here: add the",
            "           user and reload",
            "warning    a new backend takes effect when wakegovd is restarted"])


@needs_fixture
class Metrics(ControlTest):
    def test_formats(self):
        for options, last in (((), "# EOF"), (("--format", "openmetrics"), "# EOF"),
                              (("--format=prometheus",), "wakegov_boost_tasks")):
            text = self.run_command("metrics", *options)
            self.assertIn("wakegov_domain_target_hertz{domain=\"policy0\"} 2400000000\n", text)
            self.assertTrue(text.splitlines()[-1].startswith(last))

    def test_json(self):
        self.assertEqual(set(json.loads(self.run_command("metrics", "--json"))), {"format", "status", "stats"})

    def test_unknown_format(self):
        for wrong in ("graphite", ""):
            self.assertIn("openmetrics", self.run_command("metrics", "--format", wrong, code=USAGE))


@needs_fixture
class Nothing(ControlTest):
    options = ("--tasks", "0", "--domains", "0", "--devices", "0", "--decisions", "0")

    def test_empty_lists_say_so(self):
        self.assertEqual(self.run_command("tasks"), "no task does 500 I/Os per second or more (min-rate in "
                                                    "[io-boost], wakegov.conf(5))\n")
        self.assertEqual(self.run_command("devices"),
                         "no block device was used since wakegovd started\n")
        self.assertNotIn("advice", self.run_command("status"))
        self.assertEqual(self.run_command("decisions"), "no such decision is remembered\n")
        self.assertIn("no cpufreq domain is known", self.run_command("domains"))


@needs_fixture
class Trouble(ControlTest):
    options = ("--domains", "4")

    def test_failed_writes_are_told(self):
        self.assertIn("policy3: of 42 writes 2 failed and 0 read back differently\n",
                      self.run_command("domains"))


@needs_fixture
class Refused(ControlTest):
    faults = ("/etc/wakegov.conf:7: found 'soon', expected a time such as 10ms",
              "/etc/wakegov.conf:9: unknown key 'x'")
    message = "\n".join(faults)
    options = ("--policy-error", message, "--tasks", "100000")

    def test_invalid_policy(self):
        self.assertEqual(self.run_command("reload", code=REFUSED),
                         "wakegovctl: the policy was refused, and the old one stays in force: "
                         + self.faults[0] + "\nwakegovctl: " + self.faults[1] + "\n")
        # For the unit: its journal has the daemon's own lines.
        quiet = wakegovctl("--socket", self.path, "reload", "--quiet")
        self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (REFUSED, "", ""))
        status = self.run_command("status").splitlines()
        at = next(i for i, line in enumerate(status) if "the last reload failed" in line)
        self.assertEqual(status[at + 1:at + 3], [" " * 11 + fault for fault in self.faults])

    def test_too_large(self):
        self.assertIn("io.wakegov.ReplyTooLarge", self.run_command("tasks", code=REFUSED))

    @unittest.skipIf(os.geteuid(), "needs root to become another user")
    def test_reload_by_anyone(self):
        done = subprocess.run([WAKEGOVCTL, "--socket", self.path, "reload"], user=65534,
                              capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn("reload is for root, and for the members of change-group", done.stderr)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([WAKEGOVCTL, "--socket", self.path, "status"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn("No space left", done.stderr)


@needs_fixture
class Failing(ControlTest):
    options = ("--fail",)

    def test_daemon_cannot(self):
        for command in COMMANDS:
            self.assertIn("No such device", self.run_command(command, code=REFUSED))


class Usage(unittest.TestCase):
    def assert_usage(self, arguments, words):
        done = wakegovctl(*arguments)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertIn(words, done.stderr)

    def test_wrong_usage(self):
        for arguments, words in (((), "no command"),
                                 (("stauts",), "Did you mean 'status'?"),
                                 (("task",), "Did you mean 'tasks'?"),
                                 (("Domains",), "Did you mean 'domains'?"),
                                 (("frobnicate",), "--help"),
                                 (("",), "--help"),
                                 (("x" * 1000,), "--help"),
                                 (("status", "domains"), "one argument too many"),
                                 (("--colour", "status"), "there is no option '--colour'\n"),
                                 (("--jsn", "status"), "Did you mean '--json'?"),
                                 (("override", "policy0", "--mx", "1GHz"), "Did you mean '--max'?"),
                                 (("override", "policy0", "--max"), "--max needs a value\nSee: wakeg"),
                                 (("record", "-x"), "there is no option '-x'"),
                                 (("record", "-o"), "-o needs a value"),
                                 (("--json=3", "status"), "--json takes no value"),
                                 (("override", "cacnel", "3"), "Did you mean 'cancel'?"),
                                 (("override", "list", "3"), "list takes none"),
                                 (("help", "stauts"), "Did you mean 'status'?"),
                                 (("--socket",), "--socket needs a value"),
                                 (("--timeout", "soon", "status"), "expected seconds"),
                                 (("--timeout", "-1", "status"), "expected seconds"),
                                 (("--timeout", "nan", "status"), "expected seconds")):
            with self.subTest(arguments):
                self.assert_usage(arguments, words)

    def test_help_tells_commands_and_exit_codes(self):
        text = wakegovctl("--help").stdout
        for command in (*COMMANDS, "reload"):
            self.assertRegex(text, rf"(?m)^  {command} ")
        for code in range(5):
            self.assertRegex(text, rf"(?m)^  {code}  ")

    def test_help_is_a_word_as_well(self):
        self.assertEqual(wakegovctl("help").stdout, wakegovctl("--help").stdout)
        self.assertEqual(wakegovctl("help", "run").stdout, wakegovctl("run", "--help").stdout)

    def test_manual_knows_commands_and_options(self):
        with open(os.path.join(TOP, "src/wakegovctl.1"), encoding="utf-8") as file:
            manual = file.read().replace("\\-", "-")
        section = wakegovctl("--help").stdout.split("says more):\n")[1].split("\n\n")[0]
        for command in [line.split()[0] for line in section.splitlines()]:
            self.assertTrue(re.search(rf"(?m)^\.B[RI]? \"?{command}\b", manual), command)
            for option in re.findall(r"^  (?:-., )?(--[a-z-]+)", wakegovctl(command, "--help").stdout,
                                     re.MULTILINE):
                self.assertTrue(re.search(rf"{option}\b", manual), f"{command} {option}")

    def test_programs_have_words(self):
        """what is not seen without a BPF program is said"""
        with open(os.path.join(TOP, "src/tracer/programs.c"), encoding="utf-8") as file:
            names = re.findall(r'^\t\[WAKEGOV_\w+\] = \{ "([^"]+)"', file.read(), re.MULTILINE)
        with open(os.path.join(TOP, "src/ctl/words.json"), encoding="utf-8") as file:
            self.assertEqual(set(names), set(json.load(file)["programs"]))

    def test_version(self):
        done = wakegovctl("--version")
        self.assertRegex(done.stdout, r"^wakegovctl 0\.3\.0(~git\d+\.[0-9a-f]+)?\n$")


class Report(ControlTest):
    TITLES = ["Versions", "Doctor", "Status", "Configuration, as the files are now", "Decisions"]

    def parts(self, text):
        self.assertEqual(re.findall(r"^== (.*)$", text, re.MULTILINE), self.TITLES)
        return dict(zip(self.TITLES, re.split(r"^== .*\n", text, flags=re.MULTILINE)[1:]))

    def test_parts(self):
        parts = self.parts(self.run_command("report"))
        self.assertIn(f"kernel     Linux {os.uname().release} ", parts["Versions"])
        self.assertRegex(parts["Versions"], r"(?m)^wakegovctl 0\.3\.0(~git\d+\.[0-9a-f]+)?\nwakegovd +0\.3\.0(~git\d+\.[0-9a-f]+)?\n")
        self.assertIn("kernel types (BTF)", parts["Doctor"])
        self.assertIn("own cost", parts["Status"])
        self.assertRegex(parts["Configuration, as the files are now"],
                         r"(?m)^(\[[a-z]|all as built in$|missing +)")
        self.assertNotIn("missing", parts["Decisions"])

    def test_json(self):
        report = json.loads(self.run_command("--json", "report"))
        self.assertEqual(set(report), {"versions", "doctor", "status", "configuration", "decisions"})

    @needs_fixture
    def test_names_are_left_out(self):
        for arguments in (("report",), ("--json", "report")):
            text = self.run_command(*arguments)
            for name in ("fio", "kworker", "red", "backup", "/etc/shadow", os.uname().nodename):
                self.assertIsNone(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text), name)
        self.assertIn("io-boost (a task, pid 5000812), limited by policy-max",
                      self.run_command("report"))

    def test_without_a_daemon(self):
        done = wakegovctl("--socket", "/nonexistent/socket", "report")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        parts = self.parts(done.stdout)
        for title in ("Status", "Decisions"):
            self.assertEqual(parts[title].strip(), "missing    no wakegovd answers here")
        self.assertIn("kernel types (BTF)", parts["Doctor"])

    @unittest.skipIf(os.geteuid(), "needs root, to become somebody else")
    @needs_fixture
    def test_without_rights(self):
        fixture = Fixture("--readers-group")
        self.addCleanup(fixture.stop)
        done = wakegovctl("--socket", fixture.path, "report", user=65534, extra_groups=[])
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        parts = self.parts(done.stdout)
        self.assertEqual(parts["Status"].strip(), "missing    no permission to ask wakegovd")

    def test_nobody_reads_on(self):
        line = f"'{WAKEGOVCTL}' --socket '{self.path}' report | head -n 1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=True)
        first, status = done.stdout.splitlines()
        self.assertTrue(first.startswith("wakegov report"))
        self.assertIn(int(status), (0, 128 + signal.SIGPIPE))
        self.assertEqual(done.stderr, "")


class NoDaemon(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="wakegov-")
        self.addCleanup(directory.cleanup)
        os.chmod(directory.name, 0o755)
        self.path = os.path.join(directory.name, "socket")
        self.timeout = "30"  # of a server that answers, on a busy machine

    def assert_fails(self, code, words, **options):
        done = wakegovctl("--timeout", self.timeout, "--socket", self.path, "status", **options)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(words, done.stderr)

    def listen(self, answer=None):
        """A server that reads one call and sends answer, or None: that never accepts."""
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(self.path)
        server.listen(1)
        if answer is None:
            self.timeout = "0.3"
            return

        def serve():
            client, _ = server.accept()
            client.recv(4096)
            client.sendall(answer)
            client.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self.addCleanup(thread.join, PATIENCE_S)

    def test_no_socket(self):
        self.assert_fails(UNREACHABLE, "systemctl start wakegovd")

    def test_no_socket_and_a_recording(self):
        """a file that is there is left as it is until the daemon records"""
        path = self.path + ".rec"
        with open(path, "w", encoding="utf-8") as file:
            file.write("of yesterday")
        done = wakegovctl("--socket", self.path, "record", "-o", path)
        self.assertEqual(done.returncode, UNREACHABLE, done.stderr)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "of yesterday")
        os.remove(path)

    def test_stale_socket(self):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(self.path)
        self.assert_fails(UNREACHABLE, "systemctl start wakegovd")

    @unittest.skipIf(os.geteuid(), "needs root to become another user")
    def test_no_permission(self):
        self.listen()
        os.chmod(self.path, 0o600)
        self.assert_fails(UNREACHABLE, "no permission", user=65534)

    def test_path_that_is_too_long(self):
        self.path += "x" * 200
        self.assert_fails(UNREACHABLE, "File name too long")

    def test_no_answer(self):
        self.listen()
        self.assert_fails(LOST, "no answer")

    def test_full_backlog(self):
        self.listen()
        for _ in range(2):
            client = socket.socket(socket.AF_UNIX)
            self.addCleanup(client.close)
            client.connect(self.path)
        self.assert_fails(LOST, "does not accept")

    def test_hung_up(self):
        for answer in (b"", b'{"parameters":'):
            with self.subTest(answer):
                self.listen(answer)
                self.assert_fails(LOST, "closed the connection")
                os.unlink(self.path)

    def test_no_varlink(self):
        for answer in (b"garbage\0", b"[]\0", b"{}\0", b'{"parameters":[]}\0', b'{"error":1}\0',
                       b'{"error":null}\0', b"\0"):
            with self.subTest(answer):
                self.listen(answer)
                self.assert_fails(LOST, "no Varlink reply")
                os.unlink(self.path)

    def test_strange_replies_are_survived(self):
        for answer in (b'{"parameters":{}}\0', b'{"error":null,"parameters":{"domains":5}}\0',
                       b'{"parameters":{"domains":[1,null,{"name":7}],"programs":[[]]}}\0'):
            with self.subTest(answer):
                self.listen(answer)
                done = wakegovctl("--socket", self.path, "status")
                self.assertEqual((done.returncode, done.stderr), (OK, ""))
                os.unlink(self.path)

    def test_recording_that_fails(self):
        self.listen(b'{"continues":true,"parameters":{"data":"d2FrZQ==","ended":null,"bytes":4}}\0'
                    b'{"parameters":{"data":"","ended":"failed","bytes":4}}\0')
        done = wakegovctl("--socket", self.path, "record", "-o", self.path + ".rec")
        self.assertEqual(done.returncode, LOST)
        self.assertIn("could not go on; what is there can be replayed", done.stderr)

    def test_older_daemon(self):
        self.listen(b'{"error":"org.varlink.service.MethodNotFound","parameters":{}}\0')
        self.assert_fails(REFUSED, "another version")

    def test_refusal_cannot_write_on_the_terminal(self):
        self.listen(b'{"error":"x.\\u001b[31m","parameters":{"a":"\\u009b1m"}}\0')
        done = wakegovctl("--socket", self.path, "status")
        self.assertEqual(done.returncode, REFUSED)
        self.assertTrue(done.stderr.rstrip("\n").isprintable())


if __name__ == "__main__":
    unittest.main()
