#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What conf/fleet has, against a Prometheus that scrapes two machines of the lab.

WAKEGOV_TOOLS is the folder that tests/varlink/setup-tools prints.
"""
import json
import math
import os
import re
import unittest

import fleet
import tap

# Grafana's is four scrapes.
RATE_INTERVAL = f"{4 * fleet.SCRAPE_S}s"


def dashboard():
    with open(f"{fleet.REPO}/conf/fleet/wakegov-dashboard.json", encoding="utf-8") as file:
        return json.load(file)


def queries():
    """(panel, expression) of the dashboard, as Grafana sends them when all machines are chosen."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"].replace("$__rate_interval", RATE_INTERVAL)
            yield panel["title"], expression.replace("$instance", ".+")


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fleet = fleet.Fleet()
        cls.addClassCleanup(cls.fleet.stop)
        cls.fleet.start()
        fleet.wait_for(cls.counts, "what the machines count grows")
        fleet.wait_for(lambda: cls.fleet.query('wakegov_canary:ratio{figure="ios_per_s"}'),
                       "benefit's figures of both halves")

    @classmethod
    def counts(cls):
        rates = cls.fleet.query(f"rate(wakegov_domain_writes_total[{RATE_INTERVAL}]) > 0")
        return {labels["instance"] for labels, _ in rates} == cls.fleet.instances()

    def instances(self, expression):
        """Those with a number."""
        return {labels.get("instance") for labels, value in self.fleet.query(expression)
                if math.isfinite(value)}

    def test_dashboard(self):
        """each query of the dashboard has an answer for each machine"""
        n = 0
        for title, expression in queries():
            what = f"{title}: {expression}"
            with self.subTest(what):
                if "wakegov_canary:" in expression:
                    self.assertTrue(self.fleet.query(expression), what)
                else:
                    # A busy host is late for a scrape now and then, and a rate takes two in a window.
                    fleet.wait_for(lambda e=expression: self.instances(e) == self.fleet.instances(), what)
                    self.assertEqual(self.instances(expression), self.fleet.instances(), what)
            n += 1
        tap.note(f"{n} queries")
        self.assertGreater(n, 20)

    def test_canary(self):
        """the new half, which has no I/O boost, does fewer I/Os; one machine each makes no interval"""
        ios = '{figure="ios_per_s", against="powersave"}'
        ratios = {}
        for machine in self.fleet.machines:
            with open(f"{machine.share()}/benefit.json", encoding="utf-8") as file:
                figures = json.load(file)["figures"]
            ratios[machine.half] = next(f["ratio"] for f in figures if f["name"] == "ios_per_s")
        found = {name: self.fleet.query(f"wakegov_canary:{name}{ios}")[0][1]
                 for name in ("ratio", "low", "high")}
        tap.note(f"with the boost {ratios['old']:.3f} of powersave's, without it "
                 f"{ratios['new']:.3f}; the halves' ratio {found['ratio']:.3f}")
        self.assertAlmostEqual(found["ratio"], ratios["new"] / ratios["old"], 9)
        self.assertLess(found["ratio"], 0.9)
        self.assertLess(abs(ratios["new"] - 1), 0.05)
        self.assertTrue(math.isnan(found["low"]) and math.isnan(found["high"]))

    def test_variable(self):
        """the dashboard's list of machines has both"""
        query = dashboard()["templating"]["list"][1]["query"]["query"]
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
        found = self.fleet.get(f"label/{label}/values", **{"match[]": metric})
        self.assertEqual(set(found), self.fleet.instances())

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
        """every rule is evaluated, on metrics that both machines have, and no alert fires"""
        groups = self.fleet.get("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        self.assertGreater(len(rules), 10)
        for rule in rules:
            self.assertEqual(rule["health"], "ok", rule)
            for metric in re.findall(r"\b(?:wakegov|node)_\w+\b(?!:)", rule["query"]):
                with self.subTest(metric):
                    self.assertEqual(self.instances(metric), self.fleet.instances(), metric)
        self.assertEqual(self.fleet.query('ALERTS{alertstate="firing"}'), [])


if __name__ == "__main__":
    tap.main()
