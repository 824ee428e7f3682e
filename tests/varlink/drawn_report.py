#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of wakegovctl report in a browser: what its script draws, light, dark, wide and narrow.

The pictures stay in browser/ of the build directory, to be looked at.
"""

import html
import json
import os
import re
import subprocess
import tempfile
import unittest

from made_up_week import EVIL, Daemon, Week, domain
from service import BUILD, PATIENCE_S, TOP, WAKEGOVCTL, record_simulated

COLUMNS = 860
DARK = "preferredColorScheme=0"

# What a page has: pictures with their boxes, the cells of tables, and all text.
SEEN = """
const all = (of, what, to) => [...of.querySelectorAll(what)].map(to);
({ pictures: all(document, "svg", (svg) => ({ label: svg.getAttribute("aria-label"),
     boxes: all(svg, "rect", (box) => [box.getAttribute("class"), +box.getAttribute("x"), +box.getAttribute("width")]) })),
   rows: all(document, "tr", (row) => all(row, "td", (cell) => cell.firstChild.firstChild?.data ?? cell.textContent)),
   answers: all(document, ".answer", (answer) => all(answer, ".word", (word) => word.lastChild.remove()) && answer.textContent),
   titles: all(document, "label, .period h2", (title) => title.textContent),
   markup: document.querySelectorAll("b").length, text: document.querySelector("main").textContent })"""
LAST_HOUR = 'document.querySelector(".choice").click();'
# What it looks like; the pointer and the keys are moved, and a word gets the focus, as by a touch.
LOOK = LAST_HOUR + """
const colour = (of, what) => getComputedStyle(document.querySelector(of))[what];
const frame = document.querySelector(".domain"), image = frame.querySelector("svg");
const said = () => frame.closest("figure").querySelector(".said").textContent;
const box = image.getBoundingClientRect(), at = {};
for (const share of [0.01, 0.5, 0.99]) {
  frame.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + share * box.width }));
  at[share] = said();
}
image.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
const touched = document.querySelectorAll(".legend .word")[2], tip = touched.querySelector("span");
touched.focus();
({ page: colour("body", "backgroundColor"), text: colour("body", "color"),
  small: colour(".said", "color"), box: colour("svg .io-boost", "fill"),
  swatch: getComputedStyle(document.querySelectorAll(".swatch")[2]).backgroundColor,
  window: innerWidth, overflow: document.documentElement.scrollWidth - innerWidth,
  cut: [...document.querySelectorAll(".wide")].map((table) => table.scrollWidth - table.clientWidth),
  width: box.width, height: box.height, at, home: said(),
  tip: { text: tip.textContent, ...tip.getBoundingClientRect().toJSON() } })"""


def luminance(colour):
    """As WCAG defines it, of rgb(…)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                        for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


class Browsed(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.page = os.path.join(self.dir.name, "page.html")

    def write(self, week):
        daemon = Daemon(week)
        subprocess.run([WAKEGOVCTL, "--socket", daemon.path, "report", "--html", self.page],
                       check=True, timeout=PATIENCE_S)
        daemon.stop()

    def browse(self, page, width, *options, settings=()):
        # As root in a container there is no sandbox to be had; the page is our own.
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={self.dir.name}/profile", f"--window-size={width},1500",
             "--blink-settings=" + ",".join(settings), *options, "file://" + page],
            capture_output=True, text=True, timeout=PATIENCE_S, check=True)
        return done.stdout

    def framed(self, width, script=""):
        """A copy of the page beside it, with a script more. A window has 500 pixels at least; what is
        narrower is a frame in one."""
        path = os.path.join(os.path.dirname(self.page), "framed.html")
        with open(self.page, encoding="utf-8") as page:
            text = page.read().replace("</body>", f"<script>{script}</script></body>")
        if width < 500:
            text = (f'<meta charset="utf-8"><body style="margin:0"><iframe width={width} height=1500 style="border:0" '
                    f'srcdoc="{html.escape(text)}"></iframe>')
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))
        return path

    def evaluate(self, script, width=1200, settings=()):
        """The value of its last expression in the drawn page."""
        answer = f"(parent.document.body ?? document.body).textContent = JSON.stringify(eval({json.dumps(script)}))"
        shown = self.browse(self.framed(width, answer.replace("<", "\\u003c")), width, "--dump-dom", settings=settings)
        return json.loads(html.unescape(re.search("<body[^>]*>(.*)</body>", shown, re.S)[1]))

    def photograph(self, name, width, settings=()):
        path = f"{BUILD}/browser/{name}.png"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.browse(self.framed(width), width, "--screenshot=" + path, settings=settings)
        self.assertGreater(os.path.getsize(path), 10000)

    def seen(self, week, before=""):
        self.write(week)
        return self.evaluate(before + SEEN)


class Looks(Browsed):
    """Light, dark, wide and narrow."""

    def setUp(self):
        super().setUp()
        week = Week()
        week.decide(30, None, 800, "idle")
        week.decide(0.6, 800, 1400, "io-boost", pid=812, comm="postgres")
        week.decide(0.25, 1400, 3600, "chain", pid=90, comm="sh")
        self.write(week)

    def test_colours(self):
        looks = [self.evaluate(LOOK), self.evaluate(LOOK, settings=(DARK,))]
        for look in looks:
            self.assertGreater(contrast(look["page"], look["text"]), 7)
            self.assertGreater(contrast(look["page"], look["small"]), 4.5)
            # The legend's third is io-boost.
            self.assertEqual(look["box"], look["swatch"])
        self.assertGreater(luminance(looks[0]["page"]), 0.9)
        self.assertLess(luminance(looks[1]["page"]), 0.05)
        self.assertNotEqual(looks[0]["box"], looks[1]["box"])

    def test_widths(self):
        for width in (1200, 500, 390):
            look = self.evaluate(LOOK, width)
            self.assertEqual(look["window"], width)
            self.assertLessEqual(look["overflow"], 0)
            self.assertLessEqual(max(look["cut"]), 0)  # a telephone has no bar that says that there is more
            self.assertGreater(look["width"], width * 0.75)
            self.assertEqual(look["height"], 110)
            tip = look["tip"]
            self.assertEqual(tip["text"], "A task does more I/O at a higher frequency.")
            self.assertGreater(tip["height"], 15)
            self.assertTrue(0 <= tip["left"] and tip["right"] <= width, tip)

    def test_decision_at_the_pointer(self):
        look = self.evaluate(LOOK)
        self.assertIn("idle", look["at"]["0.01"])
        self.assertRegex(look["at"]["0.5"], r"800 MHz → 1400 MHz, io-boost \(postgres, pid 812\). A task does")
        self.assertRegex(look["at"]["0.99"], r"1400 MHz → 3600 MHz, chain")
        self.assertEqual(look["home"], look["at"]["0.01"])

    def test_pictures(self):
        for name, width, settings in (("light", 1200, ()), ("dark", 1200, (DARK,)), ("telephone", 390, ()),
                                      ("telephone-dark", 390, (DARK,))):
            self.photograph(name, width, settings)


class Weeks(Browsed):
    """What is drawn of a daemon with a week behind it."""

    def test_decision_is_where_its_time_is(self):
        week = Week()
        week.decide(3, None, 800, "idle")
        week.decide(0.5, 800, 1400, "io-boost", pid=812, comm="postgres")
        week.decide(0.25, 1400, 800, "idle")
        hour = self.seen(week, LAST_HOUR)["pictures"][0]
        self.assertEqual([name for name, _, _ in hour["boxes"]], ["idle", "io-boost", "idle"])
        for (_, start, _), share in zip(hour["boxes"], (0, 0.5, 0.75)):
            self.assertAlmostEqual(start, share * COLUMNS, delta=2)
        self.assertIn("800 to 1400 MHz, idle 75 %, io-boost 25 %", hour["label"])

    def test_periods_are_those_that_are_known(self):
        for hours, titles in ((0.5, ["last 30 min"]), (5, ["last hour", "last 5 h"]),
                              (30, ["last hour", "last day", "last 1 d 6 h"])):
            week = Week()
            week.decide(hours, None, 800, "idle")
            seen = self.seen(week)
            self.assertEqual(len(seen["pictures"]), 2)
            # It begins with what held before.
            self.assertEqual(seen["pictures"][0]["boxes"], [["idle", 0, COLUMNS]])
            # Between the two clocks' readings a second may pass.
            shown = [re.sub(r"Frequency, | \d+ s$", "", title) for title in seen["titles"]]
            self.assertEqual(shown, [*titles, titles[-1]] if len(titles) > 1 else titles)

    def test_nothing_is_known_before_a_restart(self):
        week = Week()
        week.decide(20, None, 1200, "utilisation")
        week.decide(4, None, 800, "idle")
        day = self.seen(week)["pictures"][0]
        (first, _, width), (second, start, _) = day["boxes"]
        self.assertEqual((first, width, second), ("utilisation", 1, "idle"))
        self.assertAlmostEqual(start, 16 / 20 * COLUMNS, delta=1)

    def test_yielded_domain_is_unknown_since_its_last_decision(self):
        week = Week()
        week.decide(0.9, None, 800, "idle")
        week.decide(0.45, None, 800, "idle", domain="policy4")
        [(name, start, width)] = self.seen(week)["pictures"][1]["boxes"]
        self.assertEqual((name, width), ("idle", 1))
        self.assertAlmostEqual(start, COLUMNS // 2, delta=1)

    def test_tables(self):
        week = Week()
        week.fill()
        week.decide(0.01, 800, 3600, "chain", pid=91, comm=EVIL)
        week.drops = {"ring": 0, "slots": 7}
        seen = self.seen(week, LAST_HOUR)
        # 600 of 2800 MHz above the lowest.
        self.assertEqual([row for row in seen["rows"] if row][:2],
                         [["postgres", "io-boost", "24 min", "1400", "5 min 8 s"], [EVIL, "chain", "36 s", "3600", "36 s"]])
        self.assertIn(["postgres", "nvme0n1", "10000", "4711 ± 120"], seen["rows"])
        [[_, who, what]] = [row for row in seen["rows"] if row and row[0] == "policy0"]
        self.assertEqual((who, what[:45]), ("scaling-max", "scaling_max_freq is 2400 MHz, of 3600 MHz tha"))
        self.assertIn(["slots", "7"], seen["rows"])
        self.assertNotIn(["ring", "0"], seen["rows"])
        # A name is no markup.
        self.assertIn(EVIL, [row[0] for row in seen["rows"] if row])
        self.assertEqual(seen["markup"], 0)
        # A quarter of an hour in each of 23 hours of the last day.
        day = self.seen(week, 'document.querySelectorAll(".choice")[1].click();')
        self.assertIn(["cap", "5 h 45 min"], day["rows"])
        self.assertEqual(day["answers"], [
            f"Clocks were kept up most by chain for {EVIL}: 2 h 18 min at 3600 MHz in the mean, 36 % of what all cost.",
            "They were limited most by cap: 5 h 45 min of all domains.",
            "I/O boosts gained 4711 ± 120 I/Os for postgres on nvme0n1, since wakegovd started."])

    def test_words_are_explained(self):
        """What words.json says of a word shows at its focus, and only then."""
        week = Week()
        week.fill()
        self.write(week)
        tips = self.evaluate("""[...document.querySelectorAll(".word")].map((word) => {
            const style = () => getComputedStyle(word.querySelector("[role=tooltip]")).display;
            const before = style(); word.focus();
            return [word.firstChild.textContent, word.lastChild.textContent, before, style()]; })""")
        with open(f"{TOP}/src/ctl/words.json", encoding="utf-8") as file:
            said = json.load(file)["reasons"]
        self.assertIn(["io-boost", said["io-boost"], "none", "block"], tips)

    def test_answers_that_nothing_was(self):
        week = Week()
        week.gains = []
        week.decide(30, None, 800, "idle")
        no_clock, no_limit, no_gain = self.seen(week)["answers"]
        self.assertIn("No clock was up", no_clock)
        self.assertIn("Nothing limited", no_limit)
        self.assertIn("No gain was measured", no_gain)

    def test_time_can_be_chosen(self):
        """by a drag over a picture, and by Enter; and the whole again"""
        week = Week()
        week.decide(10, None, 800, "idle")
        week.decide(5, 800, 1400, "io-boost", pid=812, comm="postgres")
        choose = """const frame = () => document.querySelector(".domain");
            const drag = (kind, share) => { const box = frame().querySelector("svg").getBoundingClientRect();
              frame().dispatchEvent(new PointerEvent(kind, { clientX: box.left + share * box.width })); };
            drag("pointerdown", 0.4); drag("pointermove", 0.6); drag("pointerup", 0.6);"""
        part = self.seen(week, choose)["pictures"][0]["boxes"]
        self.assertEqual([name for name, _, _ in part], ["idle", "io-boost"])
        self.assertAlmostEqual(part[1][1], COLUMNS / 2, delta=5)
        entered = self.seen(week, choose + """frame().querySelector("svg").dispatchEvent(
            new KeyboardEvent("keydown", { key: "End" }));
            frame().querySelector("svg").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));""")
        self.assertEqual(entered["pictures"][0]["boxes"], [["io-boost", 0, COLUMNS]])
        whole = self.seen(week, choose + 'document.querySelector(".period .save").click();')
        self.assertIn("Frequency, last 10 h", whole["titles"][-1])

    def test_says_what_is_missing(self):
        week = Week()
        week.is_complete = False
        week.domains = [domain(f"policy{i}") for i in range(40)]
        seen = self.seen(week)
        self.assertIn("run as root", seen["text"])
        self.assertIn("No decision is known yet", seen["text"])
        self.assertEqual(seen["answers"], [])
        self.assertIn("The 16 of 40 domains", seen["text"])
        self.assertEqual(len(seen["pictures"]), 0)


class Recordings(Browsed):
    def setUp(self):
        super().setUp()
        recording = os.path.join(self.dir.name, "a<b>.rec")
        record_simulated(recording)
        subprocess.run([WAKEGOVCTL, "report", "--html", self.page, "--from", recording], check=True,
                       timeout=PATIENCE_S)

    def test_pictures(self):
        seen = self.evaluate(SEEN)
        pictures = seen["pictures"]
        # Two domains, and two tasks.
        self.assertEqual(len(pictures), 4)
        self.assertIn("io-boost", pictures[0]["label"])
        self.assertEqual(pictures[1]["boxes"], [["idle", 0, COLUMNS]])
        self.assertIn("pays", {name for name, _, _ in pictures[2]["boxes"]})
        self.assertIn("I/O boosts pay for sim-0, and for 1 more.", seen["answers"])

    def test_trace(self):
        """as ui.perfetto.dev reads it: named threads, slices one behind the other, a counter"""
        events = json.loads(self.evaluate("trace(domainsOf(), tasksOf())"))["traceEvents"]
        names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
                 if event["name"] == "thread_name"}
        self.assertLessEqual({"cpu0-3 reason", "cpu4-5 reason", "sim-0, pid 1"}, set(names.values()))
        ends = {}
        for event in events:
            if event["ph"] == "X":
                thread = event["pid"], event["tid"]
                self.assertIn(thread, names)
                self.assertGreaterEqual(event["ts"], ends.get(thread, 0))
                ends[thread] = event["ts"] + event["dur"]
        # As in the simulator's table: the big domain stays, the other one is boosted.
        counted = [(event["name"], event["args"]["MHz"]) for event in events if event["ph"] == "C"]
        self.assertEqual([value for name, value in counted if name == "cpu4-5 frequency"], [408])
        values = [value for name, value in counted if name == "cpu0-3 frequency"]
        self.assertEqual((values[0], values[-1]), (408, 1416))
        self.assertIn("io-boost", {event["name"] for event in events})


class Site(Browsed):
    """What tests/site builds."""

    def test_pages(self):
        """lead to what is there, load nothing from elsewhere, and fit a telephone; the recorded run is drawn"""
        index = subprocess.run(["tests/site"], check=True, capture_output=True, text=True, cwd=TOP).stdout.strip()
        site = os.path.dirname(index)
        pages = [os.path.join(folder, name) for folder, _, names in os.walk(site) for name in names if name.endswith(".html")]
        self.assertGreater(len(pages), 15)
        for path in pages:
            with open(path, encoding="utf-8") as page:
                text = page.read()
            self.assertEqual(re.findall(r'<(?:img|link|script|iframe)[^>]*(?:src|href)="[a-z]*:', text), [], path)
            for href in re.findall(r'<(?:a|img|link)\b[^>]*(?:href|src)="([^"#]+)', text):
                self.assertTrue(href.startswith("https:") or os.path.exists(os.path.join(os.path.dirname(path), href)), (path, href))
        for name in ("index", "demo", "src/wakegovctl.1", "conf/wakegov.conf.5", "tests/bench/README", "CHANGELOG"):
            self.page = f"{site}/{name}.html"
            for width in (1280, 390):
                over = self.evaluate("document.documentElement.scrollWidth - innerWidth", width)
                self.assertLessEqual(over, 0, (name, width))
                self.photograph(f"site-{os.path.basename(name)}-{width}", width)
            self.photograph(f"site-{os.path.basename(name)}-dark", 1280, (DARK,))
        self.page = f"{site}/demo.html"
        seen = self.evaluate(SEEN)
        self.assertIn("io-boost for freqload", seen["answers"][0])
        self.assertEqual(seen["answers"][2], "I/O boosts pay for freqload.")


if __name__ == "__main__":
    unittest.main()
