# SPDX-License-Identifier: GPL-2.0-only
"""Two machines of the lab, a node_exporter for the files of each, and a Prometheus that scrapes them.

The machines have no network: each node_exporter reads, on this host, the folder that the lab shares
with one of them. Their time is virtual, for what benefit measures in seconds.
"""
import glob
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = f"{REPO}/conf/fleet/wakegov.rules.yml"
TOOLS = os.environ["WAKEGOV_TOOLS"]
sys.path.insert(0, os.path.join(REPO, "tests/lib"))

SCRAPE_S = 2
# Until it is said that something does not come. A boot takes 20 s of a host with nothing else to do.
PATIENCE_S = 300


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.5)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Machine:
    def __init__(self, folder, half):
        self.half = half
        self.instance = f"127.0.0.1:{free_port()}"
        self.folder = f"{folder}/{half}"
        os.mkdir(self.folder)
        self.processes = []

    def start(self):
        with open(f"{self.folder}/log", "wb") as log:
            self.processes.append(subprocess.Popen(
                [f"{REPO}/tests/lab/lab", "run", "--machine", "timed", "--timeout", "1800", "--",
                 "/usr/bin/python3", "tests/lab/guest/fleet_machine.py", self.half], stdout=log, stderr=log,
                env={**os.environ, "TMPDIR": self.folder}))

    def share(self):
        return next(iter(glob.glob(f"{self.folder}/wakegov-lab.*/share")), "")

    def log(self):
        with open(f"{self.folder}/log", encoding="utf-8") as log:
            return log.read()

    def has(self, name):
        if self.processes[0].poll() is not None:
            raise AssertionError("the machine ended: " + self.log())
        return os.path.exists(f"{self.share()}/{name}")

    def export(self):
        self.processes.append(subprocess.Popen(
            [f"{TOOLS}/prometheus-node-exporter", f"--web.listen-address={self.instance}",
             "--collector.disable-defaults", "--collector.textfile",
             f"--collector.textfile.directory={self.share()}"], stderr=subprocess.DEVNULL))

    def stop(self):
        for process in self.processes[1:]:
            process.terminate()
            process.wait()
        if self.share():
            with open(f"{self.share()}/stop", "wb"):
                pass
        try:
            self.processes[0].wait(60)
        except subprocess.TimeoutExpired:
            self.processes[0].terminate()
            self.processes[0].wait()


class Fleet:
    """machines: one of each half; half is a label of its target."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="wakegov-fleet.")
        self.address = f"127.0.0.1:{free_port()}"
        self.machines = [Machine(self.folder.name, half) for half in ("old", "new")]
        self.prometheus = None

    def instances(self):
        return {machine.instance for machine in self.machines}

    def start(self):
        for machine in self.machines:
            machine.start()
        for machine in self.machines:
            wait_for(lambda m=machine: m.has("wakegov.prom"), "the machine's first metrics")
            machine.export()
        self.start_prometheus()
        return self

    def start_prometheus(self):
        targets = [{"targets": [machine.instance], "labels": {"half": machine.half}}
                   for machine in self.machines]
        every = f"{SCRAPE_S}s"
        config = {"global": {"scrape_interval": every, "evaluation_interval": every},
                  "rule_files": [RULES],
                  "scrape_configs": [{"job_name": "node", "static_configs": targets}]}
        # JSON is YAML.
        with open(f"{self.folder.name}/prometheus.yml", "w", encoding="utf-8") as file:
            json.dump(config, file)
        with open(f"{self.folder.name}/prometheus.log", "wb") as log:
            self.prometheus = subprocess.Popen(
                [f"{TOOLS}/prometheus", f"--config.file={file.name}",
                 f"--storage.tsdb.path={self.folder.name}/tsdb",
                 f"--web.listen-address={self.address}"], stdout=log, stderr=log)
        wait_for(self.is_ready, "Prometheus is ready")

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=10) as answer:
                return answer.status == 200
        except OSError:
            return False

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{query}",
                                    timeout=30) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        """Samples as (labels, value)."""
        return [(sample["metric"], float(sample["value"][1]))
                for sample in self.get("query", query=expression)["result"]]

    def stop(self):
        if self.prometheus:
            self.prometheus.terminate()
            self.prometheus.wait()
        for machine in self.machines:
            machine.stop()
        self.folder.cleanup()
