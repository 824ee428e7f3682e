# SPDX-License-Identifier: GPL-2.0-only
"""The fleet's playbook, played by ansible-playbook for this machine."""
import os
import subprocess

PLAYBOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../conf/fleet/wakegov.yml")


def play(home, *arguments, **environment):
    """Returns what became of it, with its output as text. Ansible keeps its own files in home."""
    return subprocess.run(["ansible-playbook", "-i", "localhost,", "-c", "local", *arguments, PLAYBOOK],
                          text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "ANSIBLE_HOME": home, "ANSIBLE_LOCALHOST_WARNING": "false",
                               **environment})
