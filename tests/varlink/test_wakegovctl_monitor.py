#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl monitor: lines as they come, chosen, counted, and over a restart of the daemon."""

import json
import select
import subprocess
import time
import unittest

from service import PATIENCE_S, FreshServiceTest, Raw, WAKEGOVCTL, needs_fixture

OK, REFUSED, USAGE = range(3)


@needs_fixture
class Monitor(FreshServiceTest):
    options = ("--events", "6", "--timeout-ms", "600000")

    def start(self, *arguments):
        process = subprocess.Popen([WAKEGOVCTL, "--socket", self.fixture.path, "monitor",
                                    *arguments], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_until_end(self, process):
        """Has things happen until it has seen enough of them."""
        with Raw(self.fixture.path) as raw:
            while process.poll() is None:
                raw.call("io.wakegov.Reload")
                time.sleep(0.02)  # a client that falls too far behind is refused
        return process.communicate(timeout=PATIENCE_S)

    def test_lines(self):
        output, errors = self.run_until_end(self.start("--count", "7"))
        lines = output.splitlines()
        self.assertEqual((len(lines), errors), (7, ""))
        self.assertRegex("\n".join(lines), r"(?m)^\d\d:\d\d:\d\d\.\d{3}  decision  policy0 +"
                                           r"\S+( MHz)? -> 2400 MHz, io-boost \(fio, pid 5000812\)")
        self.assertRegex("\n".join(lines), r"(?m)change    - +policy read again$")

    def test_chosen(self):
        output, _ = self.run_until_end(self.start("--count", "3", "--kinds", "change"))
        self.assertEqual([line.split()[1] for line in output.splitlines()], ["change"] * 3)
        output, _ = self.run_until_end(self.start("--count", "2", "--domain", "policy1", "--json"))
        self.assertEqual({json.loads(line)["domain"] for line in output.splitlines()}, {"policy1"})

    def test_refused(self):
        for arguments, code, words in ((("--kinds", "noise"), REFUSED, "some of decision, boost"),
                                       (("--domain", "policy99"), REFUSED, "wakegovctl domains"),
                                       (("--pid", "x"), USAGE, "thread id"),
                                       (("--count", "0"), USAGE, "how many")):
            process = self.start(*arguments)
            _, errors = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, code, errors)
            self.assertIn(words, errors)

    def test_a_restarted_daemon_is_waited_for(self):
        process = self.start("--count", "500")
        with Raw(self.fixture.path) as raw:
            while not select.select([process.stdout], [], [], 0.1)[0]:
                raw.call("io.wakegov.Reload")
            self.assertIn("decision", process.stdout.readline())
        self.fixture.process.terminate()
        self.assertIn("waiting for it to come back", process.stderr.readline())
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
