#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The live view in a real terminal, by tmux: what is on the screen, at any size, after any key."""

import contextlib
import os
import re
import subprocess
import tempfile
import termios
import threading
import unittest

from service import Fixture, PATIENCE_S, ServiceTest, WAKEGOVCTL, needs_fixture, wait_until, wakegovctl


def drain(leader):
    """Reads until the other side is closed, which is told as an error."""
    with contextlib.suppress(OSError):
        while os.read(leader, 65536):
            pass


class Screen:
    """wakegovctl top in a tmux of its own."""

    def __init__(self, path, columns, lines, delay="200ms", **environment):
        self.directory = tempfile.TemporaryDirectory(prefix="wakegov-tmux-")
        self.environment = {**os.environ, "TMUX_TMPDIR": self.directory.name,
                            "LC_ALL": "C.UTF-8", **environment}
        self.environment.pop("TMUX", None)
        settings = [f"{name}={value}" for name, value in environment.items()]
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), "env", *settings,
                  WAKEGOVCTL, "--socket", path, "top", "--delay", delay)

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-f", "/dev/null", "-L", "top", *arguments], text=True,
                              env=self.environment, capture_output=True, timeout=PATIENCE_S)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def lines(self):
        return self.tmux("capture-pane", "-p").stdout.split("\n")[:-1]

    def coloured_lines(self):
        return self.tmux("capture-pane", "-p", "-e").stdout.split("\n")[:-1]

    def is_gone(self):
        return self.tmux("has-session").returncode != 0

    def close(self):
        self.tmux("kill-server")
        self.directory.cleanup()


class TopTest(ServiceTest):
    size = (80, 24)
    environment = {}

    def setUp(self):
        super().setUp()
        self.screen = Screen(self.path, *self.size, **self.environment)
        self.addCleanup(self.screen.close)

    def wait_for(self, condition, what):
        wait_until(lambda: condition(self.screen.lines()), lambda: f"{what}: {self.screen.lines()}")
        return self.screen.lines()

    def wait_for_text(self, *texts):
        return self.wait_for(lambda lines: all(t in "\n".join(lines) for t in texts), texts)


@needs_fixture
class Small(TopTest):
    options = ("--domains", "200", "--tasks", "30", "--devices", "3")

    def test_fits_a_small_screen(self):
        lines = self.wait_for_text("policy0", "nvme0n1", "fio")
        self.assertEqual(len(lines), 24)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        self.assertRegex(lines[0], r"^wakegovd 0\.3\.0(~git\d+\.[0-9a-f]+)?, up 3 h 12 min, governing  own .*lost 7$")
        titles = [i for i, line in enumerate(lines)
                  if line.lstrip().startswith(("DOMAIN ", "PID ", "DEVICE "))]
        self.assertEqual(len(titles), 4)
        self.assertIn("1-10/200", lines[titles[0]])
        self.assertIn("▄", lines[2])
        self.assertIn("io-boost (fio, pid 5000812), li", lines[2])
        self.assertEqual(lines[-1], "q quit  ? keys  Up, Down scroll  s sort (order)  / filter  Tab list  e explain")
        self.screen.keys("?")
        keys = self.wait_for_text("any key goes back")
        self.assertIn("Red: left to another program, or in trouble.", "\n".join(keys))
        self.assertTrue(any(line.endswith("boosts pay. Yellow: limited.") for line in keys))

    def test_selected_row_can_be_read(self):
        """it is shown in reverse, but for its history, whose blocks would be holes"""
        self.wait_for_text("policy3", "▄")
        self.screen.keys("Down", "Down", "Down")
        self.wait_for(lambda lines: "\x1b[7m" in self.screen.coloured_lines()[5], "the row in reverse")
        row = self.screen.coloured_lines()[5]
        self.assertRegex(row, "\x1b\\[7m[^ ]*policy3")
        before = re.split("[▁-█]", row, maxsplit=1)[0]
        self.assertGreater(max(before.rfind("\x1b[0m"), before.rfind("\x1b[27m")), before.rfind("\x1b[7m"))

    def test_all_of_200_can_be_reached(self):
        self.wait_for_text("1-10/200")
        self.screen.keys("End")
        self.wait_for_text("policy199", "191-200/200")
        self.screen.keys("PPage")
        self.wait_for(lambda lines: "policy189" in "\n".join(lines), "a page up")
        self.screen.keys("Home")
        self.wait_for_text("1-10/200")

    def test_sort_filter_pause(self):
        self.wait_for_text("policy0")
        self.screen.keys("Tab", "s", "s")
        self.wait_for_text("s sort (TASK)")
        self.screen.keys("r")
        self.wait_for_text("s sort (TASK, reversed)")
        self.screen.keys("/", "k", "w", "o", "r", "Enter")
        lines = self.wait_for_text("/ filter: kwor", "nothing matches")
        self.assertFalse(any(" fio " in line for line in lines))
        self.screen.keys("/", "Escape")
        self.wait_for_text("policy0", "nvme0n1")
        self.screen.keys("p")
        self.wait_for_text("PAUSED")
        self.screen.keys("p")
        self.wait_for(lambda lines: "PAUSED" not in lines[-1], "to go on")

    def test_explains_the_selected_row(self):
        self.wait_for_text("policy0")
        self.screen.keys("Down", "e")
        self.wait_for_text("policy1, CPUs 0-3", "others", "any key goes back")
        self.screen.keys("x", "Tab", "Enter")
        self.wait_for_text("policy0, CPUs 0-3", "predicted", "any key goes back")
        self.screen.keys("x", "?")
        self.wait_for_text("explain the selected domain or task")
        self.screen.resize(80, 8)
        self.wait_for_text("Tab, Shift-Tab", "scroll, any other key goes back")
        self.screen.keys("NPage")
        self.wait_for(lambda lines: lines[-2].startswith("Red: left"), "the last line")

    def test_capped_tasks(self):
        """who is capped is listed with the rule or the override, can be found, and is explained"""
        self.screen.resize(80, 40)
        lines = self.wait_for_text("CAPPED TASK", "override-3", "fio")
        title = next(i for i, line in enumerate(lines) if "CAPPED TASK" in line)
        self.assertEqual([line.split() for line in lines[title + 1:title + 4]],
                         [["900", "tar", "30", "%", "backup", "x.conf:12"],
                          ["901", "tar", "30", "%", "backup", "x.conf:12"],
                          ["950", "make", "1200", "MHz", "override-3", "an", "override"]])
        self.screen.keys("Tab", "Tab", "s", "s", "s", "s", "r")
        self.wait_for_text("s sort (BY, reversed)")
        self.screen.keys("/", "o", "v", "e", "r", "r", "Enter")
        self.wait_for(lambda lines: " tar " not in "\n".join(lines), "only the override")
        self.screen.keys("/", "Escape", "e")
        self.wait_for_text("it is gone", "any key goes back")

    def test_resizes(self):
        self.wait_for_text("policy0")
        for columns, lines in ((200, 60), (40, 10), (20, 5), (132, 43), (80, 24)):
            self.screen.resize(columns, lines)
            found = self.wait_for(lambda found, n=lines: len(found) == n and
                                  found[0].startswith("wakegovd"), (columns, lines))
            self.assertTrue(all(len(line) <= columns for line in found), found)
        self.wait_for_text("1-10/200", "nvme0n1", "q quit")

    def test_wide(self):
        self.screen.resize(200, 60)
        lines = self.wait_for_text("1-28/200", "limited by policy-max")
        self.assertEqual(len(lines), 60)
        tasks = next(line for line in lines if re.match(" *PID +TASK", line))
        self.assertEqual(tasks.split()[-4:-1], ["HOST", "FOUND", "HOLD"])
        self.assertTrue(any(line.endswith("CPU  DOMAIN") for line in lines))
        # The longest history that there is, and the whole reason behind it.
        self.assertEqual(lines[1].index("USED") - lines[1].index("HISTORY"), 66)

    def test_names_cannot_write_on_the_terminal(self):
        self.wait_for_text("?[31mred")

    def test_quits(self):
        self.wait_for_text("policy0")
        self.screen.keys("q")
        wait_until(self.screen.is_gone)


@needs_fixture
class Plain(TopTest):
    environment = {"LC_ALL": "C", "NO_COLOR": "1"}

    def test_without_utf8_and_colours(self):
        lines = self.wait_for_text("policy0", "======")
        self.assertTrue("".join(lines).isascii())
        # Bold and reverse are no colours; 39 and 49 are the terminal's own.
        self.assertNotRegex(self.screen.tmux("capture-pane", "-p", "-e").stdout, "\x1b\\[3[0-8]")


@needs_fixture
class Lost(unittest.TestCase):
    def test_waits_for_the_daemon(self):
        fixture = Fixture()
        screen = Screen(fixture.path, 80, 24)
        self.addCleanup(screen.close)
        wait_until(lambda: "policy0" in str(screen.lines()), screen.lines)
        fixture.stop()
        wait_until(lambda: "wakegovd does not answer" in str(screen.lines()), screen.lines)


class End(ServiceTest):
    def test_ctrl_c_ends_in_good_order(self):
        """as q does: status 0, and the terminal as it was"""
        for key in (b"q", b"\x03"):
            leader, follower = os.openpty()
            before = termios.tcgetattr(follower)
            with subprocess.Popen([WAKEGOVCTL, "--socket", self.path, "top"], stdin=follower,
                                  stdout=follower, env={**os.environ, "TERM": "xterm"}) as process:
                shown = b""
                while b"DOMAIN" not in shown:
                    shown += os.read(leader, 65536)
                os.write(leader, key)
                reader = threading.Thread(target=drain, args=(leader,), daemon=True)
                reader.start()
                self.assertEqual(process.wait(PATIENCE_S), 0)
                self.assertEqual(termios.tcgetattr(follower), before)
            os.close(follower)
            reader.join(PATIENCE_S)
            os.close(leader)

    def test_terminal_that_cannot(self):
        leader, follower = os.openpty()
        done = subprocess.run([WAKEGOVCTL, "--socket", self.path, "top"], stdin=follower,
                              stdout=follower, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE_S, env={**os.environ, "TERM": "dumb"})
        os.close(follower)
        self.assertEqual(done.returncode, 1)
        self.assertIn("TERM=dumb", done.stderr)
        # Nothing was painted: the other side is closed with nothing to read.
        with self.assertRaises(OSError):
            os.read(leader, 1)
        os.close(leader)


class Usage(ServiceTest):
    def test_no_terminal(self):
        for arguments, words in (((), "needs a terminal"), (("--json",), "monitor --json"),
                                 (("--delay", "1ms"), "from 200ms")):
            done = wakegovctl("--socket", self.path, "top", *arguments, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
