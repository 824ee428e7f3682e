#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What wakegovctl makes of a recording: its events, and what another policy would have decided.

The recording is the simulator's, so that it is the same each time.
"""

import ctypes
import json
import os
import re
import tempfile
import unittest

from service import TOP, needs_fixture, record_simulated, wakegovctl



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
        record_simulated(cls.recording)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir.name, name)

    def ctl(self, *arguments, code=0):
        done = wakegovctl(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def events(self, recording):
        return [json.loads(line) for line in self.ctl("replay", recording, "--events").splitlines()]

    def test_events(self):
        """as Monitor sends them: decisions with what they rest on, and the states of boosts"""
        events = self.events(self.recording)
        times = [event["monotonic_us"] for event in events]
        self.assertEqual(times, sorted(times))
        decisions = [event["decision"] for event in events if event["kind"] == "decision"]
        # As in the simulator's table: the big domain stays, the other one is boosted.
        self.assertEqual([one["target_khz"] for one in decisions if one["domain"] == "cpu4-5"], [408000])
        changes = [one for one in decisions if one["domain"] == "cpu0-3"]
        self.assertEqual((changes[0]["target_khz"], changes[-1]["target_khz"]), (408000, 1416000))
        for before, after in zip(changes, changes[1:]):
            self.assertEqual(after["previous_khz"], before["target_khz"])
        boost = next(one for one in decisions if one["reason"] == "io-boost")
        self.assertEqual((boost["contenders"][0]["reason"], boost["contenders"][0]["comm"]), ("io-boost", "sim-0"))
        self.assertEqual(boost["io"]["state"], "trying")
        states = [event["task"]["state"] for event in events if event["kind"] == "boost" and event["pid"] == 1]
        self.assertEqual((states[0], states[-1]), ("measuring", "pays"))
        self.assertIn("trying", states)
        with open(os.path.join(TOP, "src/varlink/io.wakegov.varlink"), encoding="utf-8") as file:
            interface = file.read()
        for name in ("Decision", "Task"):
            declared = re.search(rf"^type {name} \((.*?)^\)", interface, re.M | re.S)[1]
            for one in filter(None, (event[name.lower()] for event in events)):
                self.assertEqual(set(one), set(re.findall(r"^  (\w+):", declared, re.M)))

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
        shown = self.ctl("replay", strange, "--events")
        self.assertNotIn("\x1b", shown)
        self.assertIn("\x1b[1m<\ufffd", {json.loads(line)["domain"] for line in shown.splitlines()})
        self.ctl("report", "--html", self.path("domain.html"), "--from", strange)
        with open(self.path("domain.html"), encoding="utf-8") as file:
            self.assertNotIn("\x1b", file.read())

    def test_what_if(self):
        with open(self.path("other.conf"), "w", encoding="utf-8") as file:
            file.write("[domain]\nmax-frequency = 816MHz\n")
        shown = self.ctl("replay", self.recording, "--policy", self.path("other.conf"))
        self.assertRegex(shown, r"as recorded +1\d\d\d MHz .*1416 MHz \d\d %")
        self.assertRegex(shown, r"other.conf +\d\d\d MHz .*816 MHz \d\d %")
        self.assertRegex(shown, r"(?m)^0\.\d{3} s  cpu0-3\n  as recorded: 408 MHz -> 1416 MHz  io-boost .*\n"
                                r"  other.conf: 408 MHz -> 816 MHz  io-boost")

    def test_cut_and_strange_files(self):
        with open(self.recording, "rb") as file:
            whole = file.read()
        for name, data, code, words in (("cut", whole[:-5], 0, "the file is cut here"),
                                        ("empty", b"", 1, "empty"),
                                        ("other", b"#!/bin/sh\n" * 99, 1, "not a recording")):
            with open(self.path(name), "wb") as file:
                file.write(data)
            with self.subTest(name):
                done = wakegovctl("replay", self.path(name))
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr + done.stdout)
        self.assertIn("/nowhere", self.ctl("replay", "/nowhere", code=1))

    def test_json(self):
        replayed = json.loads(self.ctl("replay", self.recording, "--json"))
        self.assertEqual((replayed["outcome"], replayed["difference"]), ("same", None))
        self.assertGreater(replayed["inputs"], 50)


if __name__ == "__main__":
    unittest.main()
