#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What wakegovctl report --html writes: the page, and the replies or events in it. drawn_report.py looks
at what a browser makes of them."""

import json
import os
import re
import subprocess
import tempfile
import unittest

from made_up_week import Daemon, Week
from service import PATIENCE_S, TOP, needs_fixture, record_simulated, wakegovctl

# The wall clock is on its third day, as of a machine without a battery.
CLOCK_OF_1970 = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = syscall(SYS_clock_gettime, clock, ret);

	if (clock == CLOCK_REALTIME)
		*ret = (struct timespec){ 3 * 24 * 3600, 0 };
	return r;
}
"""
DATA = re.compile(r'<script type="application/json" id="data">\n(.*?)\n</script>', re.S)


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


@needs_fixture
class Pages(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.page = os.path.join(self.dir.name, "page.html")

    def ctl(self, *arguments, code=0, environment=None):
        done = wakegovctl(*arguments, env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def lines(self):
        """What all is about, the decisions or events, and where they end."""
        head, *changes, tail = map(json.loads, DATA.search(read(self.page))[1].split("\n"))
        return head, changes, tail

    def of_week(self, week, environment=None):
        daemon = Daemon(week)
        self.addCleanup(daemon.stop)
        self.ctl("--socket", daemon.path, "report", "--html", self.page, environment=environment)
        return self.lines()

    def test_replies_are_as_they_came(self):
        week = Week()
        week.fill()
        head, changes, tail = self.of_week(week)
        self.assertEqual(head["status"], week.answer("Status", {}))
        self.assertEqual(head["stats"], week.answer("Stats", {}))
        self.assertEqual(head["explanations"], [week.answer("Explain", {"domain": domain["name"]})
                                                for domain in week.domains])
        self.assertTrue(tail["is_complete"])
        # What a decision rests on is not among them.
        self.assertEqual(changes, [{key: value for key, value in decision.items()
                                    if key not in ("monotonic_us", "read_back_khz", "contenders")}
                                   for decision in week.decisions])
        # Nothing is loaded, and no name is markup.
        page, data = read(self.page), DATA.search(read(self.page))[1]
        self.assertEqual(re.findall(r"(?:src|href)=|https?:(?!//www.w3.org/2000/svg)|url\(|@import", page), [])
        self.assertIn("\\u003c/script>\\u003cb>", data)
        self.assertFalse({"<", "\x1b"} & set(data))

    def test_first_week_of_1970(self):
        """a machine whose clock was never set has a page too: nothing is asked from before 1970"""
        clock = os.path.join(self.dir.name, "clock.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", clock, "-x", "c", "-"], input=CLOCK_OF_1970,
                       text=True, check=True, timeout=PATIENCE_S)
        week = Week()
        week.now_us = 3 * 24 * 3600 * 10**6
        week.decide(60, None, 800, "idle")
        week.decide(0.5, 800, 1400, "io-boost", pid=812, comm="postgres")
        _, changes, tail = self.of_week(week, {"LD_PRELOAD": clock})
        self.assertEqual((len(changes), tail["end_us"]), (2, week.now_us))

    def test_all_pages_of_decisions(self):
        week = Week()
        for i in range(1200, 0, -1):
            week.decide(i / 1300, 800, 1400 if i % 2 else 800, "utilisation")
        week.is_complete = False
        _, changes, tail = self.of_week(week)
        self.assertEqual((len(changes), tail["is_complete"]), (1200, False))

    def test_recording(self):
        recording = os.path.join(self.dir.name, "a<b>.rec")
        record_simulated(recording)
        self.ctl("report", "--html", self.page, "--from", recording)
        head, events, tail = self.lines()
        self.assertEqual(head["title"], "a<b>.rec")
        self.assertEqual([(domain["name"], domain["cpus"]) for domain in head["domains"]],
                         [("cpu0-3", "0-3"), ("cpu4-5", "4-5")])
        self.assertEqual({event["kind"] for event in events}, {"decision", "boost"})
        self.assertGreater(tail["end_us"], head["begin_us"])

    def test_mistakes(self):
        self.assertIn("--html", self.ctl("report", "--from", "x", code=2))
        self.assertIn("/nowhere", self.ctl("report", "--html", self.page, "--from", "/nowhere",
                                           code=1))
        self.ctl("--socket", "/nowhere", "report", "--html", self.page, code=3)
        self.assertFalse(os.path.exists(self.page))


class Words(unittest.TestCase):
    def test_each_word_of_the_manual_is_explained(self):
        """words.json has those of REASONS AND LIMITS in wakegovctl(1)"""
        manual, groups = read("src/wakegovctl.1").replace("\\-", "-"), json.loads(read("src/ctl/words.json"))
        sections = {"reasons": "What decided a frequency", "limits": "What limited it",
                    "timings": "When it takes effect", "drops": "What was dropped"}
        for name, title in sections.items():
            part = re.search(rf"\.SS {title}\n(.*?)\n\.S[SH]", manual, re.S)[1]
            items = re.findall(r"^\.TP\n\.BR? (.*)", part, re.M)
            words = set(re.findall(r"[a-z-]+", " ".join(items).replace(", ", " "))) - {"none", "now"}
            self.assertEqual(set(groups[name]), words, name)

    def test_each_word_of_the_daemon_has_a_sentence(self):
        groups = json.loads(read("src/ctl/words.json"))
        for path, key, of in (("src/diag/conflicts.c", "who", ("limiters",)),
                              ("src/daemon/api/status.c", "what", ("unable", "advice"))):
            given = re.findall(rf"\.{key} = ([^,}};]*)", read(path))
            given = set(re.findall(r'"([a-z-]+)"', " ".join(given)))
            self.assertGreater(len(given), 5)
            self.assertEqual(given - {word for group in of for word in groups[group]}, set())


if __name__ == "__main__":
    unittest.main()
