#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The units that write metrics for node_exporter, as they are installed, under a real systemd."""
import os

import guest
import installed
import tap
from installed import run

FOLDER = "/var/lib/prometheus/node-exporter"
METRICS = f"{FOLDER}/wakegov.prom"
BENEFIT = f"{FOLDER}/wakegov-benefit.prom"


class Units(installed.Installed):
    def setUp(self):
        super().setUp()
        os.makedirs(FOLDER)
        run("cp", "/usr/lib/systemd/system/wakegov-benefit.service", "/etc/systemd/system/")
        # Seconds instead of minutes.
        run("sed", "-i", "s/ benefit --json / benefit --json --for 16s --block 1s /",
            "/etc/systemd/system/wakegov-benefit.service")
        run("systemctl", "daemon-reload")
        run("systemctl", "start", "wakegovd.service")
        self.wait_active()

    def test_units(self):
        """each writes its file; without the daemon the metrics get old, and benefit does not start"""
        run("systemctl", "start", "wakegov-metrics.timer", "wakegov-benefit.timer")
        guest.wait_for(lambda: os.path.exists(METRICS), 10, "the metrics")
        self.assertIn("wakegov_domain_driven{domain=\"policy0\"} 1", guest.read(METRICS))
        run("systemctl", "start", "wakegov-benefit.service")
        self.assertIn('wakegov_benefit_ratio{figure="mhz",against="the former governor"}',
                      guest.read(BENEFIT))
        run("systemctl", "stop", "wakegov-metrics.timer", "wakegovd.service")
        before = os.stat(METRICS)
        self.assertNotEqual(run("systemctl", "start", "wakegov-metrics.service",
                                check=False).returncode, 0)
        self.assertEqual(os.stat(METRICS).st_mtime_ns, before.st_mtime_ns)
        self.assertNotEqual(run("systemctl", "start", "wakegov-benefit.service",
                                check=False).returncode, 0)
        self.assertEqual(guest.snapshot(), self.before)


if __name__ == "__main__":
    tap.main()
