#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A task is not worse off than under schedutil alone, in fio's own figures.

For the timed machine, where a CPU at a lower frequency really runs slower.
"""
import json
import subprocess
import unittest

import guest
import tap


def reads_per_second():
    done = subprocess.run(["fio", "--name=psync", f"--filename={guest.null_blk()}", "--direct=1",
                           "--ioengine=psync", "--rw=randread", "--bs=4k", "--cpus_allowed=0",
                           "--time_based", "--ramp_time=1s", "--runtime=1s",
                           "--output-format=json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["jobs"][0]["read"]["iops"]


class Harmless(unittest.TestCase):
    def test_psync(self):
        """fio's psync has nine tenths of what it has under schedutil alone, with backend = auto"""
        guest.null_blk("null_blk_create", "completion_nsec=100000")
        alone = reads_per_second()
        with guest.Daemon() as daemon:
            self.assertEqual(daemon.domain("policy0")["backend"], "uclamp")
            governed = reads_per_second()
        tap.note(f"{governed:.0f} reads a second, {alone:.0f} without wakegov")
        self.assertGreaterEqual(governed, 0.9 * alone)

    def test_instructions(self):
        """What the tracer adds to a request, a switch, a fork and an exec is counted"""
        done = subprocess.run(["tests/bench/instructions"], check=True, stdout=subprocess.PIPE,
                              text=True)
        for line in done.stdout.splitlines():
            tap.note(line)


if __name__ == "__main__":
    tap.main()
