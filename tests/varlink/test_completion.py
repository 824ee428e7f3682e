#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Completions, in the shells themselves: bash, zsh (in a terminal, by tmux) and fish."""

import os
import re
import subprocess
import tempfile
import unittest

from service import BUILD, PATIENCE_S, ServiceTest, TOP, WAKEGOVCTL, needs_fixture, wait_until, wakegovctl

FOLDER = os.path.join(TOP, "src/ctl/completion")
DAEMON = os.path.join(TOP, "src/daemon/completion")
ENVIRONMENT = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}


def commands():
    text = subprocess.run([WAKEGOVCTL, "--help"], capture_output=True, text=True).stdout
    section = text.split("says more):\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in section.splitlines()]


def daemon_options():
    text = subprocess.run([os.path.join(BUILD, "wakegovd"), "--help"], capture_output=True,
                          text=True, check=True).stdout
    return sorted(set(re.findall(r"--[a-z-]+", text)))


class CompletionTest(ServiceTest):
    """One test for every shell: complete(line) gives what the last word can become."""

    def assert_asks(self, line, expected):
        """A shell waits 0.3 s for what the daemon knows, which a busy machine may need for one answer."""
        for _ in range(10):
            found = self.complete(line)
            if found:
                break
        self.assertEqual(found, expected)

    def assert_completes(self):
        self.assertEqual(self.complete("wakegovctl ov"), ["override"])
        self.assertEqual(sorted(self.complete("wakegovctl ")), sorted(commands()))
        self.assertEqual(sorted(self.complete("wakegovctl override --f")), ["--for", "--freeze"])
        self.assertEqual(self.complete("wakegovctl --json explain --a"), ["--at"])
        socket = f"wakegovctl --socket {self.path}"
        self.assertEqual(self.complete(f"{socket} override can"), ["cancel"])
        self.assert_asks(f"{socket} rules ba", ["backup"])
        self.assert_asks(f"{socket} profile perf", ["performance"])
        self.assert_asks(f"{socket} explain policy1", ["policy1"])
        self.assertEqual(self.complete("wakegovctl override policy0 --min 1GHz --ma"), ["--max"])
        self.assertEqual(self.complete("wakegovctl override 5000812 --resp"), ["--response"])
        self.assertEqual(self.complete("wakegovctl benefit --fi"), ["--figure"])


@needs_fixture
class Bash(CompletionTest):
    def complete(self, line):
        script = (f"source {FOLDER}/wakegovctl.bash; words=\"$1\"; IFS=' ' read -ra COMP_WORDS <<<"
                  "\"$words\"; [[ $words == *' ' ]] && COMP_WORDS+=(''); "
                  "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _wakegovctl; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        return subprocess.run(["bash", "--norc", "-c", script, "bash", line], text=True, check=True,
                              capture_output=True, env=ENVIRONMENT).stdout.split()

    def test_completes(self):
        self.assert_completes()

    def test_daemon(self):
        script = (f"source {DAEMON}/wakegovd.bash; COMP_WORDS=(wakegovd --); COMP_CWORD=1; "
                  "_wakegovd; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "--norc", "-c", script], text=True, check=True,
                              capture_output=True)
        self.assertEqual(sorted(done.stdout.split()), daemon_options())

    def test_is_registered(self):
        done = subprocess.run(["bash", "--norc", "-c",
                               f"source {FOLDER}/wakegovctl.bash; complete -p wakegovctl"],
                              text=True, capture_output=True, env=ENVIRONMENT)
        self.assertIn("-F _wakegovctl wakegovctl", done.stdout)


@needs_fixture
class Fish(CompletionTest):
    def complete(self, line):
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(["fish", "--no-config", "-c",
                                   f"source {FOLDER}/wakegovctl.fish; complete -C '{line}'"],
                                  text=True, capture_output=True, check=True,
                                  env={**ENVIRONMENT, "HOME": home})
        return sorted(line.split("\t")[0] for line in done.stdout.splitlines())

    def test_completes(self):
        self.assert_completes()

    def test_daemon(self):
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(["fish", "--no-config", "-c",
                                   f"source {DAEMON}/wakegovd.fish; complete -C 'wakegovd --'"],
                                  text=True, capture_output=True, check=True,
                                  env={**ENVIRONMENT, "HOME": home})
        self.assertEqual(sorted(line.split("\t")[0] for line in done.stdout.splitlines()),
                         daemon_options())


@needs_fixture
class Zsh(ServiceTest):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="wakegov-zsh-")
        self.addCleanup(directory.cleanup)
        self.environment = {**ENVIRONMENT, "TMUX_TMPDIR": directory.name, "HOME": directory.name}
        self.environment.pop("TMUX", None)
        self.tmux("new-session", "-d", "-x", "100", "-y", "40", "zsh", "-f")
        self.addCleanup(self.tmux, "kill-server")
        self.type(f"PS1='> '; fpath=({FOLDER} {DAEMON} $fpath); autoload -U compinit; "
                  "compinit -u -D", "Enter")
        self.type("print re''ady", "Enter")
        self.wait_for("ready")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-f", "/dev/null", "-L", "zsh", *arguments], text=True,
                              env=self.environment, capture_output=True,
                              timeout=PATIENCE_S).stdout

    def type(self, text, *keys):
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", *keys)

    def wait_for(self, *texts):
        wait_until(lambda: all(text in self.tmux("capture-pane", "-p") for text in texts),
                   lambda: (texts, self.tmux("capture-pane", "-p")))

    def test_completes(self):
        self.type("wakegovctl ov", "Tab")
        self.wait_for("> wakegovctl override")
        self.type("can", "Tab")
        self.wait_for("> wakegovctl override cancel")
        self.tmux("send-keys", "C-u")
        self.type("wakegovctl override --f", "Tab", "Tab")
        self.wait_for("--freeze", "keep the present frequency", "--for")
        self.tmux("send-keys", "C-u")
        self.type("wakegovctl ", "Tab", "Tab")
        self.wait_for("the daemon, its domains, its own cost", "monitor")

    def test_daemon(self):
        self.type("wakegovd --", "Tab", "Tab")
        self.wait_for(*daemon_options())


@needs_fixture
class Domains(ServiceTest):
    def test_come_from_the_daemon(self):
        done = wakegovctl("--socket", self.path, "complete", "--", "override", "policy")
        self.assertEqual(done.stdout, "policy0\tCPUs 0-3\npolicy1\tCPUs 0-3\npolicy2\tCPUs 0-3\n")

    def test_no_daemon_no_domains(self):
        done = wakegovctl("--socket", "/nowhere", "complete", "--", "override", "")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()],
                         ["list", "cancel"])


if __name__ == "__main__":
    unittest.main()
