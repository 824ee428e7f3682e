#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What wakegovctl makes of a recording, read by others: parsers of JSON and XML.

The recording is the simulator's, so that it is the same each time.
"""

import ctypes
import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from service import PATIENCE_S, TOP, WAKEGOVCTL, needs_fixture

SIM = os.path.join(os.path.dirname(WAKEGOVCTL), "wakegov-sim")
SVG = "{http://www.w3.org/2000/svg}"


def reframed(data, old, new):
    """The first zstd frame of data with other bytes in it, and what follows it."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_findFrameCompressedSize.restype = zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.c_size_t(1 << 20)
    plain, packed = (ctypes.create_string_buffer(room.value) for _ in range(2))
    length = zstd.ZSTD_findFrameCompressedSize(data, ctypes.c_size_t(len(data)))
    size = zstd.ZSTD_decompress(plain, room, data, ctypes.c_size_t(length))
    changed = plain.raw[:size].replace(old, new)
    assert changed != plain.raw[:size]
    size = zstd.ZSTD_compress(packed, room, changed, ctypes.c_size_t(size), 1)
    return packed.raw[:size], data[length:]


@needs_fixture
class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        cls.recording = cls.path("psync")
        subprocess.run([SIM, "--platform", os.path.join(TOP, "conf/platforms/rk3399.ini"),
                        "--workload", "psyncx2", "--governor", "wakegov", "--duration", "500ms",
                        "--warm-up", "10ms", "--record", cls.recording],
                       check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE_S)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir.name, name)

    def ctl(self, *arguments, code=0):
        done = subprocess.run([WAKEGOVCTL, *arguments], capture_output=True, text=True,
                              timeout=PATIENCE_S)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def read_trace(self):
        self.ctl("export", self.recording, "--perfetto", self.path("trace"))
        with open(self.path("trace"), encoding="utf-8") as file:
            return json.load(file)["traceEvents"]

    def test_tracks(self):
        names = {}
        for event in self.read_trace():
            thread = (event["pid"], event.get("tid", 0))
            if event["name"] == "thread_name":
                self.assertNotIn(thread, names)
                names[thread] = event["args"]["name"]
            elif event["ph"] in "BE":
                self.assertIn(thread, names)
        self.assertLessEqual({"cpu0-3 reason", "cpu4-5 reason"}, set(names.values()))
        processes = [e["args"]["name"] for e in self.read_trace() if e["name"] == "process_name"]
        self.assertEqual(processes, ["wakegov: frequency domains", "wakegov: I/O boosts"])

    def test_counters_and_slices(self):
        depth, counted, reasons, last = {}, [], [], 0
        for event in self.read_trace():
            if event["ph"] == "M":
                continue
            self.assertGreaterEqual(event["ts"], last)
            last = event["ts"]
            if event["ph"] == "C":
                counted.append((event["name"], event["args"]["MHz"]))
                continue
            thread = event["pid"], event["tid"]
            depth[thread] = depth.get(thread, 0) + {"B": 1, "E": -1}[event["ph"]]
            self.assertIn(depth[thread], (0, 1), thread)
            if event["ph"] == "B" and thread == (1, 0):
                reasons.append(event["name"])
                self.assertIn("target_mhz", event["args"])
        self.assertEqual(set(depth.values()), {0}, "a slice without an end")
        # As in the simulator's table: the big domain stays, the other one is boosted.
        self.assertEqual([value for name, value in counted if name == "cpu4-5 frequency"], [408])
        values = [value for name, value in counted if name == "cpu0-3 frequency"]
        self.assertEqual((values[0], values[-1]), (408, 1416))
        self.assertIn("io-boost", " ".join(reasons))

    def test_plot(self):
        self.ctl("export", self.recording, "--plot", self.path("plot.svg"))
        root = xml.etree.ElementTree.parse(self.path("plot.svg")).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        texts = {text.text for text in root.iter(SVG + "text")}
        self.assertLessEqual({"psync", "idle", "io-boost", "cpu0-3", "cpu4-5"}, texts)
        _, _, width, height = map(float, root.get("viewBox").split())
        for box in root.iter(SVG + "rect"):
            self.assertLessEqual(float(box.get("x")) + float(box.get("width")), width)
            self.assertLessEqual(float(box.get("y")) + float(box.get("height")), height)

    def test_plot_of_a_strange_name(self):
        strange = self.path("a<b>&\"c\x01é")
        os.symlink(self.recording, strange)
        self.ctl("export", strange, "--plot", self.path("strange.svg"))
        xml.etree.ElementTree.parse(self.path("strange.svg"))

    def test_strange_domain(self):
        """A recording may come from anywhere: nothing in it reaches a terminal or a parser raw."""
        with open(self.recording, "rb") as file:
            data = file.read()
        # The topology is at the start of the first frame, behind the magic and the build.
        frame, rest = reframed(data[24:], b"cpu0-3", b"\x1b[1m<\xff")
        strange = self.path("strange.rec")
        with open(strange, "wb") as file:
            file.write(data[:24] + frame + rest)
        with open(self.path("strange.conf"), "w", encoding="utf-8") as file:
            file.write("[domain]\nmax-frequency = 816MHz\n")
        for options in ((), ("--policy", self.path("strange.conf"))):
            shown = self.ctl("replay", strange, *options)
            self.assertNotIn("\x1b", shown)
            self.assertEqual("?[1m<?" in shown, bool(options))
            json.loads(self.ctl("replay", strange, "--json", *options))
        self.ctl("export", strange, "--plot", self.path("domain.svg"),
                 "--perfetto", self.path("domain.trace"))
        root = xml.etree.ElementTree.parse(self.path("domain.svg")).getroot()
        self.assertIn("?[1m<?", {text.text for text in root.iter(SVG + "text")})
        with open(self.path("domain.trace"), encoding="utf-8") as file:
            trace = json.load(file)["traceEvents"]
        self.assertIn("?[1m<? reason", {event["args"].get("name") for event in trace if "args" in event})

    def test_what_if(self):
        with open(self.path("other.conf"), "w", encoding="utf-8") as file:
            file.write("[domain]\nmax-frequency = 816MHz\n")
        shown = self.ctl("replay", self.recording, "--policy", self.path("other.conf"))
        self.assertRegex(shown, r"as recorded +1\d\d\d MHz .*1416 MHz \d\d %")
        self.assertRegex(shown, r"other.conf +\d\d\d MHz .*816 MHz \d\d %")
        self.assertIn("other.conf: 408 MHz -> 816 MHz  io-boost", shown)

    def test_cut_and_strange_files(self):
        with open(self.recording, "rb") as file:
            whole = file.read()
        for name, data, code, words in (("cut", whole[:-5], 0, "the file is cut here"),
                                        ("empty", b"", 1, "empty"),
                                        ("other", b"#!/bin/sh\n" * 99, 1, "not a recording")):
            with open(self.path(name), "wb") as file:
                file.write(data)
            with self.subTest(name):
                done = subprocess.run([WAKEGOVCTL, "replay", self.path(name)], text=True,
                                      capture_output=True, timeout=PATIENCE_S)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr + done.stdout)
        self.assertIn("/nowhere", self.ctl("replay", "/nowhere", code=1))
        self.assertIn("--perfetto", self.ctl("export", self.recording, code=2))

    def test_json(self):
        replayed = json.loads(self.ctl("replay", self.recording, "--json"))
        self.assertEqual((replayed["outcome"], replayed["difference"]), ("same", None))
        self.assertGreater(replayed["inputs"], 50)


if __name__ == "__main__":
    unittest.main()
