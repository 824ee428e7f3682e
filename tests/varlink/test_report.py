#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What wakegovctl report --html writes, by an HTML parser: of a daemon with a week behind it, and of a
recording."""

import html.parser
import json
import os
import re
import subprocess
import tempfile
import unittest

from made_up_week import EVIL, Daemon, Week, domain
from service import PATIENCE_S, TOP, WAKEGOVCTL, needs_fixture

COLUMNS = 860
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
VOID = {"meta", "input"}


class Reader(html.parser.HTMLParser):
    """Checks that tags are closed in their order, and keeps what the tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.scripts, self.pictures, self.rows = [], [], [], []
        self.loads = re.findall(r"(?:src|href)=|https?:|url\(|@import", text)
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([attributes.get("type"), ""])
        if tag == "svg":
            self.pictures.append({"label": attributes["aria-label"], "boxes": []})
        if tag == "rect":
            self.pictures[-1]["boxes"].append((attributes["class"], int(attributes["x"]),
                                               int(attributes["width"])))
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data
        if self.open and self.open[-1] == "td":
            self.rows[-1][-1] += data

    def decisions(self, i):
        kind, text = self.scripts[i]
        assert kind == "application/json"
        return json.loads(text)


@needs_fixture
class Pages(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.page = os.path.join(self.dir.name, "page.html")

    def ctl(self, *arguments, code=0, environment=None):
        done = subprocess.run([WAKEGOVCTL, *arguments], capture_output=True, text=True,
                              env={**os.environ, **(environment or {})},
                              timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def read(self):
        with open(self.page, encoding="utf-8") as file:
            return file.read()

    def of_week(self, week):
        daemon = Daemon(week)
        self.addCleanup(daemon.stop)
        self.ctl("--socket", daemon.path, "report", "--html", self.page)
        return Reader(self.read())

    def test_loads_nothing(self):
        week = Week()
        week.fill()
        self.assertEqual(self.of_week(week).loads, [])

    def test_decision_is_where_its_time_is(self):
        week = Week()
        week.decide(3, None, 800, "idle")
        week.decide(0.5, 800, 1400, "io-boost", pid=812, comm="postgres")
        week.decide(0.25, 1400, 800, "idle")
        hour = self.of_week(week).pictures[0]
        names = [name for name, _, _ in hour["boxes"]]
        starts = [start for _, start, _ in hour["boxes"]]
        self.assertEqual(names, ["idle", "io-boost", "idle"])
        for start, share in zip(starts, (0, 0.5, 0.75)):
            self.assertAlmostEqual(start, share * COLUMNS, delta=2)
        self.assertIn("800 to 1400 MHz, idle 75 %, io-boost 25 %", hour["label"])

    def test_first_week_of_1970(self):
        """a machine whose clock was never set has a page too: nothing is asked from before 1970"""
        clock = os.path.join(self.dir.name, "clock.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", clock, "-x", "c", "-"], input=CLOCK_OF_1970,
                       text=True, check=True, timeout=PATIENCE_S)
        week = Week()
        week.now_us = 3 * 24 * 3600 * 10**6
        week.decide(60, None, 800, "idle")
        week.decide(0.5, 800, 1400, "io-boost", pid=812, comm="postgres")
        daemon = Daemon(week)
        self.addCleanup(daemon.stop)
        self.ctl("--socket", daemon.path, "report", "--html", self.page,
                 environment={"LD_PRELOAD": clock})
        reader = Reader(self.read())
        self.assertIn("idle 50 %, io-boost 50 %", reader.pictures[0]["label"])

    def test_periods_are_those_that_are_known(self):
        for hours, titles in ((0.5, ["last 30 min"]), (5, ["last hour", "last 5 h"]),
                              (30, ["last hour", "last day", "last 1 d 6 h"])):
            week = Week()
            week.decide(hours, None, 800, "idle")
            reader = self.of_week(week)
            # Between the two clocks' readings a second may pass.
            shown = re.findall(r"<h2>Frequency, ([^<]*?)(?: \d+ s)?<", self.read())
            self.assertEqual(shown, titles)
            # Of two domains; the whole of it.
            self.assertEqual(len(reader.pictures), 2 * len(titles))
            self.assertEqual(reader.pictures[-2]["boxes"], [("idle", 0, COLUMNS)])

    def test_hour_begins_with_what_held_before(self):
        week = Week()
        week.decide(5, None, 1200, "utilisation")
        reader = self.of_week(week)
        self.assertEqual(reader.pictures[0]["boxes"], [("utilisation", 0, COLUMNS)])
        self.assertEqual([column for column, _ in reader.decisions(0)], [0])

    def test_nothing_is_known_before_a_restart(self):
        week = Week()
        week.decide(20, None, 1200, "utilisation")
        week.decide(4, None, 800, "idle")
        day = self.of_week(week).pictures[2]
        (first, _, width), (second, start, _) = day["boxes"]
        self.assertEqual((first, width, second), ("utilisation", 1, "idle"))
        self.assertAlmostEqual(start, 16 / 20 * COLUMNS, delta=1)

    def test_yielded_domain_is_unknown_since_its_last_decision(self):
        week = Week()
        week.decide(3, None, 800, "idle")
        week.decide(0.5, None, 800, "idle", domain="policy4")
        [(name, start, width)] = self.of_week(week).pictures[1]["boxes"]
        self.assertEqual((name, width), ("idle", 1))
        self.assertAlmostEqual(start, COLUMNS // 2, delta=1)

    def test_all_pages_of_decisions(self):
        week = Week()
        for i in range(1200, 0, -1):
            week.decide(i / 1300, 800, 1400 if i % 2 else 800, "utilisation")
        texts = [text for _, text in self.of_week(week).decisions(0)]
        others = sum(int(match[1]) - 1 for text in texts
                     if (match := re.search(r"last of (\d+) here", text)))
        self.assertEqual(len(texts) + others, 1200)

    def test_tables(self):
        week = Week()
        week.fill()
        reader = self.of_week(week)
        self.assertIn(["postgres", "io-boost", "24 min", "1400"], reader.rows)
        # A quarter of an hour in each of 23 hours of the last day.
        self.assertIn(["cap", "5 h 45 min"], reader.rows)
        self.assertIn(["postgres", "nvme0n1", "10000", "4711 ± 120"], reader.rows)
        self.assertIn(["policy0", "thermal", "cooling device 0 holds it to 2400 MHz"], reader.rows)

    def test_names_are_no_markup(self):
        week = Week()
        week.fill()
        reader = self.of_week(week)
        self.assertIn(EVIL[:15], [row[0] for row in reader.rows if row])
        self.assertTrue(any("</script><b>" in text for _, text in reader.decisions(2)))
        self.assertNotIn("\x1b", self.read())
        self.assertNotIn("<b>", self.read())

    def test_says_what_is_missing(self):
        week = Week()
        week.is_complete = False
        self.of_week(week)
        self.assertIn("run as root", self.read())

    def test_busiest_domains_of_many(self):
        week = Week()
        week.domains = [domain(f"policy{i}") for i in range(40)]
        self.assertEqual(len(self.of_week(week).pictures), 16)
        self.assertIn("The 16 of 40 domains", self.read())

    def test_recording(self):
        recording = os.path.join(self.dir.name, "a<b>.rec")
        subprocess.run([os.path.join(os.path.dirname(WAKEGOVCTL), "wakegov-sim"), "--platform",
                        os.path.join(TOP, "conf/platforms/rk3399.ini"), "--workload", "psyncx2",
                        "--governor", "wakegov", "--duration", "500ms", "--record", recording],
                       check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE_S)
        self.ctl("report", "--html", self.page, "--from", recording)
        reader = Reader(self.read())
        self.assertEqual(reader.loads, [])
        # Two domains, and two tasks.
        self.assertEqual(len(reader.pictures), 4)
        self.assertIn("io-boost", reader.pictures[0]["label"])
        self.assertEqual(reader.pictures[1]["boxes"], [("idle", 0, COLUMNS)])
        self.assertIn("pays", {name for name, _, _ in reader.pictures[2]["boxes"]})

    def test_mistakes(self):
        self.assertIn("--html", self.ctl("report", "--from", "x", code=2))
        self.assertIn("one recording", self.ctl("export", "--plot", self.page, code=2))
        self.assertIn("/nowhere", self.ctl("report", "--html", self.page, "--from", "/nowhere",
                                           code=1))
        self.ctl("--socket", "/nowhere", "report", "--html", self.page, code=3)
        self.assertFalse(os.path.exists(self.page))


if __name__ == "__main__":
    unittest.main()
