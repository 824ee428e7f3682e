#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Five hundred machines and a Prometheus: what the rules take, how many series there are, what the canary says.

The machines are one server of this process, which gives each of them the metrics that wakegovctl prints, its own
counts, and an answer of benefit of its own: the new half does TRUTH times the I/Os of the old one, and machines
differ by NOISE. Prometheus reads them as conf/fleet/README.md says. WAKEGOV_TOOLS is the folder that
tests/varlink/setup-tools prints.
"""
import http.server
import json
import math
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [f"{REPO}/tests/lib", f"{REPO}/tests/varlink"]

import tap  # noqa: E402
from service import Fixture, WAKEGOVCTL  # noqa: E402

TOOLS = os.environ["WAKEGOV_TOOLS"]
RULES = f"{REPO}/conf/fleet/wakegov.rules.yml"
MACHINES = 500
DOMAINS, OPPS = 2, 15
EVERY_S = 15  # between two scrapes of a machine, and two evaluations of the rules
TRUTH, NOISE = 1.03, 0.05
SERIES_MOST = 60  # of a machine with two domains, with the list of what is left out
SHARE_MOST = 0.1  # of the time between two evaluations, that one may take
EVALUATIONS = 3  # of which the shortest counts: others may have the CPUs
PATIENCE_S = 600


def template():
    """The metrics of a machine; its OPPs are as many as those of real drivers."""
    fixture = Fixture("--domains", str(DOMAINS))
    try:
        text = subprocess.run([WAKEGOVCTL, "--socket", fixture.path, "metrics", "--format", "prometheus"],
                              check=True, text=True, stdout=subprocess.PIPE).stdout
    finally:
        fixture.stop()
    # Driven, and nothing went wrong: no alert is to be seen.
    text = re.sub(r'(wakegov_domain_driven\{.*\}) \d+', r"\1 1", text)
    text = re.sub(r'(wakegov_domain_(?:yielded|write_errors_total|read_back_mismatches_total)\{.*\}) \d+', r"\1 0",
                  text)
    text = re.sub(r"(wakegov_policy_good) \d+", r"\1 1", text)
    opp = [line for line in text.splitlines() if line.startswith("wakegov_opp_seconds_total{")]
    text = text.replace("\n".join(opp), "\n".join(
        f'wakegov_opp_seconds_total{{opp_hertz="{400 + 100 * i}000000"}} {i}' for i in range(OPPS)))
    return text


def benefit(ratio):
    """What wakegov-benefit.service leaves, by its own program."""
    figures = [{"name": name, "ratio": ratio, "low": ratio * 0.98, "high": ratio * 1.02, "with": 1000 * ratio,
                "without": 1000} for name in ("ios_per_s", "ms_per_io", "watt", "cpu_s", "mhz", "changes_per_s")]
    for figure in figures[1:]:
        figure["ratio"] = 1
    return subprocess.run(["jq", "-r", "-f", f"{REPO}/conf/fleet/benefit.jq"], check=True, text=True,
                          input=json.dumps({"against": None, "figures": figures}), stdout=subprocess.PIPE).stdout


class Machine(http.server.BaseHTTPRequestHandler):
    """GET /N: machine N."""
    texts, answers, began_s = "", [], time.time()
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        number = int(self.path.strip("/"))
        elapsed_s = time.time() - self.began_s + number
        text = re.sub(r"(?m)^(wakegov_\w+_total(?:\{.*\})?) ([\d.]+)$", lambda found: found[0] if found[2] == "0" or
                      "drops" in found[1] else f"{found[1]} {float(found[2]) + elapsed_s * 0.01:.6f}", self.texts)
        text = re.sub(r"(?m)^(wakegov_uptime_seconds) .*$", rf"\1 {elapsed_s:.6f}", text)
        body = (f'node_textfile_mtime_seconds{{file="/wakegov.prom"}} {time.time()}\n' + text +
                self.answers[number]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def left_out():
    """What the fleet's README has a scrape leave out."""
    with open(f"{REPO}/conf/fleet/README.md", encoding="utf-8") as file:
        return re.search(r"regex: '(.*)'\n +action: drop", file.read())[1]


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = MACHINES
    daemon_threads = True

    def handle_error(self, *_):
        """Prometheus hangs up at its end."""


class Many(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        chance = random.Random(1)
        cls.ratios = [math.exp(chance.gauss(0, NOISE)) * (TRUTH if i % 2 else 1) for i in range(MACHINES)]
        Machine.texts = template()
        # jq takes a while, five hundred times; the text of one machine has all but its own ratio.
        text = benefit(0.123456789)
        Machine.answers = [text.replace("0.123456789", repr(ratio)) for ratio in cls.ratios]
        server = Server(("127.0.0.1", 0), Machine)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.shutdown)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.start_prometheus(server.server_address[1])

    @classmethod
    def start_prometheus(cls, port):
        targets = [{"targets": [f"127.0.0.1:{port}"],
                    "labels": {"__metrics_path__": f"/{i}", "instance": f"db{i}:9100",
                               "half": "new" if i % 2 else "old"}} for i in range(MACHINES)]
        with open(f"{cls.folder.name}/prometheus.yml", "w", encoding="utf-8") as file:
            # JSON is YAML.
            json.dump({"global": {"scrape_interval": f"{EVERY_S}s", "evaluation_interval": f"{EVERY_S}s",
                                  "scrape_timeout": f"{EVERY_S}s"},
                       "rule_files": [RULES],
                       "scrape_configs": [{"job_name": "node", "static_configs": targets,
                                           "metric_relabel_configs": [
                                               {"source_labels": ["__name__"], "regex": left_out(),
                                                "action": "drop"}]}]}, file)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            cls.address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        with open(f"{cls.folder.name}/log", "w", encoding="utf-8") as log:
            prometheus = subprocess.Popen(
                [f"{TOOLS}/prometheus", f"--config.file={cls.folder.name}/prometheus.yml",
                 f"--storage.tsdb.path={cls.folder.name}/data",
                 f"--web.listen-address={cls.address.removeprefix('http://')}"], stdout=log, stderr=log)
        cls.addClassCleanup(prometheus.wait)
        cls.addClassCleanup(prometheus.terminate)

    @classmethod
    def get(cls, path, **query):
        with urllib.request.urlopen(f"{cls.address}/api/v1/{path}?{urllib.parse.urlencode(query)}",
                                    timeout=PATIENCE_S) as answer:
            return json.load(answer)["data"]

    def value(self, expression):
        """Of one sample; None: there is none, or Prometheus does not answer yet."""
        try:
            found = self.get("query", query=expression)["result"]
        except OSError:
            return None
        return float(found[0]["value"][1]) if found else None

    def wait_for(self, expression, wanted):
        end = time.monotonic() + PATIENCE_S
        while self.value(expression) != wanted:
            self.assertLess(time.monotonic(), end, f"{expression}: {self.value(expression)}")
            time.sleep(1)

    def test_many(self):
        """five hundred machines: few series each, rules that take little, the canary's answer, no alert"""
        # Each has been scraped three times, and the rules were evaluated with all of them.
        self.wait_for("count(count_over_time(up[1h]) >= 3)", MACHINES)
        self.wait_for("count_over_time(up[1h]) < 1 or sum(up)", MACHINES)
        self.wait_for('sum(wakegov_canary:machines{figure="ios_per_s"})', MACHINES)
        self.check_series()
        self.check_rules()
        self.check_canary()
        alerts = self.get("alerts")["alerts"]
        self.assertEqual([alert for alert in alerts if alert["state"] == "firing"], [])

    def check_series(self):
        before, after = (self.value(f"max({name})") for name in
                         ("scrape_samples_scraped", "scrape_samples_post_metric_relabeling"))
        tap.note(f"{before:.0f} series of a machine with {DOMAINS} domains and {OPPS} OPPs, {after:.0f} with the list "
                 f"of what is left out; {self.value('prometheus_tsdb_head_series') or self.head()} in Prometheus")
        self.assertLessEqual(after, SERIES_MOST)

    def head(self):
        return self.get("status/tsdb")["headStats"]["numSeries"]

    def check_rules(self):
        took_s, names = {}, set()
        while not names or min(len(took_s[name]) for name in names) < EVALUATIONS:
            groups = self.get("rules")["groups"]
            names = {group["name"] for group in groups}
            for group in groups:
                took_s.setdefault(group["name"], {})[group["lastEvaluation"]] = group["evaluationTime"]
                self.assertEqual([rule["lastError"] for rule in group["rules"] if rule["health"] == "err"], [])
            time.sleep(1)
        least_s = {name: min(times.values()) for name, times in took_s.items()}
        tap.note(", ".join(f"{name}: {least * 1000:.0f} ms" for name, least in least_s.items()))
        self.assertLess(sum(least_s.values()), EVERY_S * SHARE_MOST)

    def check_canary(self):
        ratio, low, high = (self.value(f'wakegov_canary:{name}{{figure="ios_per_s"}}')
                            for name in ("ratio", "low", "high"))
        tap.note(f"canary {ratio:.4f} ({low:.4f} to {high:.4f}); the truth is {TRUTH}")
        logs = [[math.log(ratio) for ratio in self.ratios[half::2]] for half in range(2)]
        means = [sum(half) / len(half) for half in logs]
        self.assertAlmostEqual(ratio, math.exp(means[1] - means[0]), 9)
        self.assertTrue(low <= TRUTH <= high)
        # Narrower than what machines differ by: that is what many are for.
        self.assertLess(high / low - 1, NOISE)
        self.assertGreater(low, 1)


if __name__ == "__main__":
    tap.main()
