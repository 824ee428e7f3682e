#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The dashboard by Grafana's own schema, in the Python of tests/varlink/setup-venv.

The schema's models keep what they know. What the dashboard has and they do not give back is a misspelt or
outdated field, which Grafana would ignore as well.
"""
import json
import os
import sys
import unittest

from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{REPO}/tests/lib")

import tap  # noqa: E402

TYPES = {"row", "table", "timeseries", "alertlist"}


def differences(ours, theirs, path=""):
    """Paths of what is not in theirs, or differs there."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            if key in theirs:
                yield from differences(value, theirs[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}"
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (own, their) in enumerate(zip(ours, theirs)):
            yield from differences(own, their, f"{path}/{i}")
    elif ours != theirs:
        yield path


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        plugins.register_default_plugins()

    def setUp(self):
        with open(f"{REPO}/conf/fleet/wakegov-dashboard.json", encoding="utf-8") as file:
            self.dashboard = json.load(file)

    def differences(self):
        known = json.loads(JSONEncoder().encode(Dashboard.from_json(self.dashboard)))
        return list(differences(self.dashboard, known))

    def test_known(self):
        """the schema knows every field and every type of panel"""
        self.assertEqual(self.differences(), [])
        self.assertEqual({panel["type"] for panel in self.dashboard["panels"]}, TYPES)

    def test_misspelt(self):
        """a misspelt field of a panel, of its query and of its look is found"""
        panel = next(panel for panel in self.dashboard["panels"] if panel["type"] == "timeseries")
        for place in (panel, panel["targets"][0], panel["fieldConfig"]["defaults"]):
            place["legendFormats"] = "x"
        self.assertEqual(len(self.differences()), 3)


if __name__ == "__main__":
    tap.main()
