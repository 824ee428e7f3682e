#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The fleet's playbook by ansible-playbook on this machine: that it is one, and how it judges a measurement.

wakegovctl is one that answers what a test wants. Nothing is installed; packages and units are not tried here.
"""
import json
import os
import sys
import tempfile
import unittest

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{REPO}/tests/lib")

import playbook  # noqa: E402
import tap  # noqa: E402


class Playbook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def play(self, *arguments):
        return playbook.play(self.folder, "-e", "ansible_become=false", *arguments,
                             PATH=f"{self.folder}:{os.environ['PATH']}", ANSIBLE_ASYNC_DIR=f"{self.folder}/async",
                             ANSIBLE_REMOTE_TEMP=f"{self.folder}/tmp")

    def answer(self, figures):
        with open(f"{self.folder}/wakegovctl", "w", encoding="utf-8") as program:
            text = json.dumps({"verdict": "so much", "figures": figures})
            program.write(f"#!/bin/sh\necho \"$*\" >>{self.folder}/asked\ncat <<'END'\n{text}\nEND\n")
        os.chmod(program.name, 0o755)

    def test_syntax(self):
        """it is a playbook, and does nothing without a tag"""
        done = self.play("--syntax-check")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.answer([])
        done = self.play()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertFalse(os.path.exists(f"{self.folder}/asked"))

    def test_measure(self):
        """a machine on which less was done is the last one; one that did not use a disk goes on"""
        for figures, good in (([{"name": "ios_per_s", "low": 0.99, "high": 1.01}], True),
                              ([{"name": "watt", "low": 0.9, "high": 0.95}], True),
                              ([{"name": "ios_per_s", "low": 0.9, "high": 0.97}], False)):
            with self.subTest(figures):
                self.answer(figures)
                done = self.play("--tags", "measure", "-e", "wakegov_for=20m")
                self.assertEqual(done.returncode == 0, good, done.stdout)
                self.assertIn("so much", done.stdout)
        with open(f"{self.folder}/asked", encoding="utf-8") as file:
            self.assertEqual(file.read(), "--json benefit --for 20m --block 10s\n" * 3)


if __name__ == "__main__":
    tap.main()
