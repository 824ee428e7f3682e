#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What conf/fleet has, on the metrics of two machines of the lab.

What the machines wrote every two seconds of theirs become time series with those times, on which promtool
evaluates the rules and the dashboard's queries: no time of this host has a part in it. A node_exporter
reads the last files once. WAKEGOV_TOOLS is the folder that tests/varlink/setup-tools prints.
"""
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{REPO}/tests/lib")

import tap  # noqa: E402

TOOLS = os.environ["WAKEGOV_TOOLS"]
RULES = f"{REPO}/conf/fleet/wakegov.rules.yml"
EVERY_S = 2  # as fleet_machine.py does
# Grafana's is four scrapes.
RATE_INTERVAL = f"{4 * EVERY_S}s"
HALVES = ("old", "new")
SAMPLE = re.compile(r"^([a-z_:]+)(?:\{(.*)\})? (\S+)$", re.M)
EXPORTER_S = 60  # until it is said that node_exporter does not listen


def run_machines():
    """Its lines, of each half those of one machine."""
    done = subprocess.run([f"{REPO}/tests/lab/lab", "run", "--machine", "timed", "--", "/usr/bin/python3",
                           "tests/lab/guest/fleet_machine.py"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"the machines ended with {done.returncode}: {done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {half: [line for line in lines if line["half"] == half] for half in HALVES}


def samples(line):
    """(name, labels, value) of all files; times are counted from when the machine's first line began."""
    for name, file in line["files"].items():
        path = f"/var/lib/prometheus/node-exporter/{name}"
        yield "node_textfile_mtime_seconds", f'file="{path}"', file["mtime_s"] - line["began_s"]
        for metric, labels, value in SAMPLE.findall(file["text"]):
            began_s = line["began_s"] if metric.endswith("_time_seconds") else 0
            yield metric, labels, float(value) - began_s
    yield "up", "", 1


def series(half, lines):
    """Promtool's input_series of one machine, which begin when the others do."""
    values = {}
    for n, line in enumerate(lines):
        for metric, labels, value in samples(line):
            key = f'{metric}{{{labels}{labels and ","}instance="{half}:9100",half="{half}",job="node"}}'
            values.setdefault(key, ["_"] * len(lines))[n] = repr(value)
    return [{"series": key, "values": " ".join(found)} for key, found in values.items()]


def dashboard():
    with open(f"{REPO}/conf/fleet/wakegov-dashboard.json", encoding="utf-8") as file:
        return json.load(file)


def queries():
    """The expressions of the dashboard, as Grafana sends them when all machines are chosen."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"].replace("$__rate_interval", RATE_INTERVAL)
            yield expression.replace("$instance", ".+")


def machines_with(expression):
    """How many machines have a number for it."""
    return f"count(count by (instance) (({expression}) > -Inf < +Inf))", 2


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = run_machines()
        cls.n = min(len(lines) for lines in cls.machines.values())
        cls.series = [one for half, lines in cls.machines.items() for one in series(half, lines[-cls.n:])]

    def evaluate(self, expected):
        """Promtool's evaluation, after the last line: (expression, value, or None for no sample)."""
        tests = [{"expr": expression, "eval_time": f"{(self.n - 1) * EVERY_S}s",
                  "exp_samples": [] if value is None else [{"labels": "{}", "value": value}]}
                 for expression, value in expected]
        every = f"{EVERY_S}s"
        with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
            # JSON is YAML.
            json.dump({"rule_files": [RULES], "evaluation_interval": every,
                       "tests": [{"interval": every, "input_series": self.series,
                                  "promql_expr_test": tests}]}, file)
            file.flush()
            done = subprocess.run([f"{TOOLS}/promtool", "test", "rules", file.name], capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_dashboard(self):
        """each query of the dashboard has an answer for each machine"""
        found = list(queries())
        self.evaluate([(f"count({query}) > bool 0", 1) if "wakegov_canary:" in query else
                       machines_with(query) for query in found])
        tap.note(f"{len(found)} queries, {len(self.series)} series of {self.n} samples")
        self.assertGreater(len(found), 20)

    def test_canary(self):
        """the new half, which has no I/O boost, does fewer I/Os; one machine each makes no interval"""
        ratios = {half: next(f["ratio"] for f in lines[-1]["benefit"]["figures"] if f["name"] == "ios_per_s")
                  for half, lines in self.machines.items()}
        tap.note(f"with the boost {ratios['old']:.3f} of powersave's, without it {ratios['new']:.3f}")
        self.assertLess(ratios["new"], 0.9 * ratios["old"])
        self.assertLess(abs(ratios["new"] - 1), 0.05)
        self.assertTrue(math.isfinite(ratios["old"]))
        ios = '{figure="ios_per_s", against="the former governor"}'
        self.evaluate([(f"sum(abs(wakegov_canary:ratio{ios} - {ratios['new'] / ratios['old']!r}) < bool 1e-9)", 1),
                       *((f"sum(wakegov_canary:{end}{ios} != bool wakegov_canary:{end}{ios})", 1)
                         for end in ("low", "high"))])

    def test_variable(self):
        """the dashboard's list of machines has both"""
        query = dashboard()["templating"]["list"][1]["query"]["query"]
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
        self.assertEqual(label, "instance")
        self.evaluate([machines_with(metric)])

    def test_layout(self):
        """no two panels of the dashboard have the same place or number"""
        panels = dashboard()["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        places = [(x, y) for at in (panel["gridPos"] for panel in panels)
                  for x in range(at["x"], at["x"] + at["w"])
                  for y in range(at["y"], at["y"] + at["h"])]
        self.assertEqual(len(set(places)), len(places))
        self.assertLess(max(x for x, _ in places), 24)

    def test_rules(self):
        """both machines have every metric that a rule names, and no alert fires at any time"""
        with open(RULES, encoding="utf-8") as file:
            rules = re.sub(r"(?m)^ *(#|(summary|description):).*\n( {12}.*\n)*", "", file.read())
        metrics = set(re.findall(r"\b(?:wakegov|node)_\w+\b(?![:/])", rules))
        tap.note(f"{len(metrics)} metrics in {rules.count('expr:')} rules")
        self.assertGreater(len(metrics), 10)
        self.evaluate([*map(machines_with, sorted(metrics)),
                       ('count_over_time(ALERTS{alertstate="firing"}[1h])', None)])

    def test_exporter(self):
        """node_exporter reads the files of each machine whole, and without an error"""
        for half, lines in self.machines.items():
            with self.subTest(half), tempfile.TemporaryDirectory() as folder:
                for name, file in lines[-1]["files"].items():
                    with open(f"{folder}/{name}", "w", encoding="utf-8") as copy:
                        copy.write(file["text"])
                    written = [sample[0] for sample in SAMPLE.findall(file["text"])]
                exposed = self.scrape(folder)
                self.assertEqual(exposed.count("\nnode_textfile_mtime_seconds{"), len(lines[-1]["files"]))
                self.assertIn("\nnode_textfile_scrape_error 0\n", exposed)
                of = [sample[0] for sample in SAMPLE.findall(exposed)]
                for name in set(written):
                    self.assertEqual(of.count(name), written.count(name), name)

    def scrape(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        exporter = subprocess.Popen(
            [f"{TOOLS}/prometheus-node-exporter", f"--web.listen-address={address}",
             "--collector.disable-defaults", "--collector.textfile",
             f"--collector.textfile.directory={folder}"], stderr=subprocess.DEVNULL)
        self.addCleanup(exporter.wait)
        self.addCleanup(exporter.terminate)
        end = time.monotonic() + EXPORTER_S
        while True:
            try:
                with urllib.request.urlopen(f"http://{address}/metrics", timeout=EXPORTER_S) as answer:
                    return answer.read().decode()
            except OSError:
                self.assertLess(time.monotonic(), end, "node_exporter does not listen")
                time.sleep(0.1)


if __name__ == "__main__":
    tap.main()
