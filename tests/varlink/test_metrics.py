#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What wakegovctl metrics prints, read by two parsers that are not ours: prometheus-client and promtool.

Run it with the interpreter that setup-venv prints; see service.py for the environment.
WAKEGOV_TOOLS is the folder that setup-tools prints.
"""

import os
import subprocess
import unittest

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as prometheus

from service import PATIENCE_S, ServiceTest, needs_fixture, wakegovctl

PROMTOOL = os.path.join(os.environ.get("WAKEGOV_TOOLS", ""), "promtool")


class MetricsTest(ServiceTest):
    def text(self, *options):
        return wakegovctl("--socket", self.path, "metrics", *options, check=True).stdout

    def families(self):
        families = list(openmetrics.text_string_to_metric_families(self.text()))
        self.assertEqual(len({family.name for family in families}), len(families))
        return {family.name: family for family in families}


class Formats(MetricsTest):
    def test_openmetrics(self):
        families = self.families()
        self.assertEqual(families["wakegov_decisions"].type, "counter")
        self.assertEqual(families["wakegov_memory_bytes"].type, "gauge")
        for family in families.values():
            self.assertTrue(family.name.startswith("wakegov_"))
            self.assertTrue(family.documentation.endswith("."), family.name)

    def test_both_formats_say_the_same(self):
        old = prometheus.text_string_to_metric_families(self.text("--format=prometheus"))
        old = {family.name: family for family in old}
        new = self.families()
        self.assertEqual({name: family.type for name, family in old.items()},
                         {name: family.type for name, family in new.items()})
        for name, family in new.items():
            self.assertEqual([(s.name, s.labels) for s in old[name].samples],
                             [(s.name, s.labels) for s in family.samples])

    def test_promtool(self):
        done = subprocess.run([PROMTOOL, "check", "metrics"], timeout=PATIENCE_S,
                              input=self.text("--format=prometheus"), text=True,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_no_task_is_named(self):
        """However many tasks there are, there are no more series."""
        labels = {label for family in self.families().values()
                  for sample in family.samples for label in sample.labels}
        self.assertLessEqual(labels, {"domain", "opp_hertz", "reason", "limiter", "state",
                                      "where", "version"})


@needs_fixture
class Values(MetricsTest):
    def value(self, name, **labels):
        return next(s.value for family in self.families().values() for s in family.samples
                    if s.name == name and s.labels == labels)

    def test_values(self):
        self.assertEqual(self.value("wakegov_domain_frequency_hertz", domain="policy0"), 1.8e9)
        self.assertEqual(self.value("wakegov_domain_target_hertz", domain="policy0"), 2.4e9)
        self.assertEqual(self.value("wakegov_domain_driven", domain="policy1"), 0)
        self.assertEqual(self.value("wakegov_domain_yielded", domain="policy1"), 1)
        self.assertEqual(self.value("wakegov_domain_yielded", domain="policy2"), 0)
        self.assertEqual(self.value("wakegov_domain_writes_total", domain="policy0"), 42)
        # Of the three domains, the second twice the first, the third three times.
        self.assertEqual(self.value("wakegov_opp_seconds_total", opp_hertz="1600000000"), 7.407407)
        self.assertEqual(self.value("wakegov_reason_seconds_total", reason="io-boost"), 0)
        self.assertEqual(self.value("wakegov_boosted_ios_total"), 9000000)
        self.assertEqual(self.value("wakegov_gained_ios_total"), 2594306)
        self.assertEqual(self.value("wakegov_decisions_total", reason="idle"), 17)
        self.assertEqual(self.value("wakegov_boost_tasks", state="trying"), 3)
        self.assertEqual(self.value("wakegov_placement_groups", state="placed"), 1)
        self.assertEqual(self.value("wakegov_placement_groups", state="let-go"), 2)
        self.assertEqual(self.value("wakegov_idle_latency_held"), 1)
        self.assertEqual(self.value("wakegov_drops_total", where="devices"), 4)
        self.assertGreater(self.value("wakegov_cpu_seconds_total"), 0)
        self.assertGreater(self.value("wakegov_memory_bytes"), 0)

    def test_offline_domain_has_no_frequency(self):
        with self.assertRaises(StopIteration):
            self.value("wakegov_domain_frequency_hertz", domain="policy2")


@needs_fixture
class Large(MetricsTest):
    options = ("--domains", "1000", "--tasks", "20000")

    def test_chains(self):
        family = self.families()["wakegov_chain_domains"]
        self.assertEqual([sample.value for sample in family.samples], [1])

    def test_it_is_bounded_by_the_machine(self):
        n = sum(len(family.samples) for family in self.families().values())
        self.assertLess(n, 1000 * (9 + 4 + 6) + 80)


if __name__ == "__main__":
    unittest.main()
