#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of wakegovctl report in a browser: light, dark, wide, narrow, with scripts and without.

The pictures stay in browser/ of the build directory, to be looked at.
"""

import html
import json
import os
import re
import subprocess
import tempfile
import unittest

from made_up_week import Daemon, Week
from service import BUILD, PATIENCE_S, WAKEGOVCTL

DARK = "preferredColorScheme=0"
NO_SCRIPT = "scriptEnabled=false"

# Asks the page what it looks like, moves the pointer and the keys, and leaves the answers in it.
PROBE = """<script>
const colour = (of, what) => getComputedStyle(document.querySelector(of))[what];
const panel = document.querySelector(".domain"), picture = panel.querySelector("svg");
const said = () => panel.closest("figure").querySelector(".said").textContent;
const box = picture.getBoundingClientRect(), at = {};
for (const share of [0.01, 0.5, 0.99]) {
  panel.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + share * box.width }));
  at[share] = said();
}
picture.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
(parent.document.getElementById("probe") ||
 document.body.appendChild(Object.assign(document.createElement("pre"), { id: "probe" }))).textContent = JSON.stringify({
  page: colour("body", "backgroundColor"), text: colour("body", "color"),
  small: colour(".said", "color"), box: colour("svg .io-boost", "fill"),
  swatch: getComputedStyle(document.querySelectorAll(".swatch")[2]).backgroundColor,
  shown: [...document.querySelectorAll(".period")].map((part) => part.offsetHeight > 0),
  window: innerWidth, overflow: document.documentElement.scrollWidth - innerWidth,
  cut: [...document.querySelectorAll(".wide")].map((table) => table.scrollWidth - table.clientWidth),
  width: box.width, height: box.height, at, home: said() });
</script>"""


def luminance(colour):
    """As WCAG defines it, of rgb(…)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                        for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


class Drawn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        cls.page = os.path.join(cls.dir.name, "page.html")
        cls.out = os.path.join(BUILD, "browser")
        os.makedirs(cls.out, exist_ok=True)
        week = Week()
        week.decide(30, None, 800, "idle")
        week.decide(2, None, 800, "idle", domain="policy4")
        week.decide(0.6, 800, 1400, "io-boost", pid=812, comm="postgres")
        week.decide(0.25, 1400, 3600, "chain", pid=90, comm="sh")
        daemon = Daemon(week)
        subprocess.run([WAKEGOVCTL, "--socket", daemon.path, "report", "--html", cls.page],
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

    def probe(self, width, *settings):
        """A window has 500 pixels at least; what is narrower is a frame in one."""
        path = os.path.join(self.dir.name, "probe.html")
        with open(self.page, encoding="utf-8") as page:
            text = page.read().replace("</body>", PROBE + "</body>")
        if width < 500:
            text = (f'<pre id="probe"></pre><iframe width={width} height=1500 style="border:0" '
                    f'srcdoc="{html.escape(text)}"></iframe>')
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        shown = self.browse(path, width, "--dump-dom", settings=settings)
        return json.loads(re.search(r'<pre id="probe">(.*?)</pre>', shown, re.S)[1]
                          .replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    def picture(self, name, width, *settings):
        path = os.path.join(self.out, name + ".png")
        self.browse(self.page, width, "--screenshot=" + path, settings=settings)
        with open(path, "rb") as file:
            return file.read()

    def test_colours(self):
        seen = [self.probe(1200), self.probe(1200, DARK)]
        for look in seen:
            self.assertGreater(contrast(look["page"], look["text"]), 7)
            self.assertGreater(contrast(look["page"], look["small"]), 4.5)
            # The legend's third is io-boost.
            self.assertEqual(look["box"], look["swatch"])
        self.assertGreater(luminance(seen[0]["page"]), 0.9)
        self.assertLess(luminance(seen[1]["page"]), 0.05)
        self.assertNotEqual(seen[0]["box"], seen[1]["box"])

    def test_widths(self):
        for width in (1200, 500, 390):
            look = self.probe(width)
            self.assertEqual(look["window"], width)
            self.assertLessEqual(look["overflow"], 0)
            self.assertLessEqual(max(look["cut"]), 0)  # a telephone has no bar that says that there is more
            self.assertGreater(look["width"], width * 0.75)
            self.assertEqual(look["height"], 110)

    def test_one_period_is_shown(self):
        self.assertEqual(self.probe(1200)["shown"], [True, False, False])

    def test_decision_at_the_pointer(self):
        look = self.probe(1200)
        self.assertIn("idle", look["at"]["0.01"])
        self.assertRegex(look["at"]["0.5"], r"800 MHz → 1400 MHz, io-boost \(postgres, pid 812\)")
        self.assertRegex(look["at"]["0.99"], r"1400 MHz → 3600 MHz, chain")
        self.assertEqual(look["home"], look["at"]["0.01"])

    def test_same_without_scripts(self):
        for name, width, settings in (("light", 1200, ()), ("dark", 1200, (DARK,)),
                                      ("narrow", 500, ()), ("telephone", 390, ()), ("narrow-dark", 500, (DARK,))):
            with self.subTest(name):
                drawn = self.picture(name, width, *settings)
                self.assertGreater(len(drawn), 10000)
                self.assertEqual(drawn, self.picture(name, width, *settings, NO_SCRIPT))


if __name__ == "__main__":
    unittest.main()
