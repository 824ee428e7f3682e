# SPDX-License-Identifier: GPL-2.0-only
"""A daemon that has had a week: answers the calls of one connection after another, as Varlink.

What the server itself does with them is tested elsewhere; here the data has to be old, which no
fixture gets by waiting.
"""

import json
import os
import socketserver
import tempfile
import threading
import time

HOUR_US = 3600 * 10**6
PAGE = 500
EVIL = "</script><b>&\"x\x1b[1m"


def domain(name, **other):
    return {"name": name, "cpus": "0-1", "state": "driven", "backend": "setspeed",
            "lowest_opp_khz": 800000, "highest_opp_khz": 3600000, "target_khz": 800000,
            "asked_min_khz": 800000, "asked_max_khz": 800000, **other}


class Week:
    """now_us is the end of it; decisions are of policy0 unless they say otherwise."""

    def __init__(self):
        self.now_us = int(time.time() * 10**6)
        self.decisions = []
        self.domains = [domain("policy0"), domain("policy4", state="yielded",
                                                  state_why="tlp wrote scaling_governor")]
        self.drops = {}
        self.is_complete = True
        self.gains = [{"comm": "postgres", "device": "nvme0n1", "ios": 10000, "gained_ios": 4711,
                       "gained_error_ios": 120}]

    def decide(self, hours_ago, before_mhz, mhz, reason, **other):
        self.decisions.append({
            "monotonic_us": 1, "realtime_us": self.now_us - int(hours_ago * HOUR_US),
            "domain": "policy0", "previous_khz": before_mhz and before_mhz * 1000,
            "target_khz": mhz * 1000, "read_back_khz": mhz * 1000, "reason": reason,
            "limiter": "none", "demand_cap": 100, "cpu": 0, "contenders": [], **other})

    def fill(self):
        """Each hour the same, until the last one; a restart two days ago."""
        self.decide(150, None, 800, "idle")
        for hour in range(149, 1, -1):
            before = 800
            if 48 <= hour < 60:
                continue
            if hour == 47:
                self.decide(hour + 0.01, None, 800, "idle")
            for part, mhz, reason, other in (
                    (0, 1400, "io-boost", {"pid": 812, "comm": "postgres"}),
                    (0.3, 2400, "utilisation", {}),
                    (0.4, 3600, "chain", {"pid": 90, "comm": EVIL}),
                    (0.5, 1800, "floor", {"pid": 77, "comm": "pipewire"}),
                    (0.55, 1200, "utilisation", {"limiter": "cap", "capped_pid": 5}),
                    (0.8, 800, "idle", {})):
                self.decide(hour - part, before, mhz, reason, **other)
                before = mhz
        for minute in range(40, 0, -5):
            self.decide(minute / 60, 800, 1400, "io-boost", pid=812, comm="postgres")
            self.decide(minute / 60 - 0.05, 1400, 800, "idle")
        self.decisions.sort(key=lambda decision: decision["realtime_us"])

    def answer(self, method, parameters):
        if method == "Status":
            return {"version": "0", "mode": "governing", "backend": "setspeed",
                    "domains": self.domains, "drops": self.drops}
        if method == "Stats":
            times = [{"khz": 800000, "reason": "utilisation", "time_us": HOUR_US}]
            return {"domains": [{"domain": d["name"], "times": times} for d in self.domains],
                    "gains": self.gains}
        if method == "Explain":
            hot = [{"who": "scaling-max", "name": None, "khz": 2400000}]
            named = next(d for d in self.domains if d["name"] == parameters["domain"])
            return {"domain": named, "limiters": hot if named["name"] == "policy0" else []}
        assert method == "Decisions" and parameters["since_realtime_us"] >= 0, (method, parameters)
        first = parameters.get("from", 0)
        last = first + PAGE
        return {"decisions": self.decisions[first:last],
                "next": last if last < len(self.decisions) else None,
                "is_complete": self.is_complete}


class Daemon:
    """Serves a week at `path` until stop()."""

    def __init__(self, week):
        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                data = b""
                while piece := self.request.recv(4096):
                    data += piece
                    while b"\0" in data:
                        call, _, data = data.partition(b"\0")
                        call = json.loads(call)
                        reply = week.answer(call["method"].rpartition(".")[2],
                                            call.get("parameters") or {})
                        self.request.sendall(json.dumps({"parameters": reply}).encode() + b"\0")

        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.directory.name, "io.wakegov")
        self.server = socketserver.ThreadingUnixStreamServer(self.path, Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.directory.cleanup()
