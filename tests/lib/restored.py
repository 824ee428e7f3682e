#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The sentence of what a story's wakegovd restored: by its own log, checked against every control
before and after and, where there is one, against the log of the P-state port.

restored.py STORY [PORTS STATES]: STORY is what story.py printed, PORTS the port's bytes, STATES
lines of "BYTE DOMAIN MHZ". Exit status 1 when anything differs; each difference is a line.
"""
import itertools
import json
import re
import sys

from story import MARK_GOVERNS, MARK_RESTORED, MARK_STOPPING


def compare_controls(story):
    for name, before in story["before"].items():
        after = story["after"].get(name)
        if after != before:
            yield f"{name} was {before!r} and is {after!r}"
    for name in story["after"].keys() - story["before"].keys():
        yield f"{name} was not there before"


def collapse(sequence):
    return [key for key, _ in itertools.groupby(sequence)]


def decided(story, domain):
    return collapse(d["target_khz"] for d in story["decisions"] if d["domain"] == domain)


def is_within(part, whole):
    return any(whole[i:i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def decode_states(path, names):
    """BYTE → (policy, kHz). ACPI counts domains from 0, cpufreq names them by their first CPU."""
    with open(path, encoding="ascii") as file:
        rows = [line.split() for line in file if len(line.split()) == 3]
    numbers = sorted({int(row[1]) for row in rows})
    policy = dict(zip(numbers, names))
    return {int(row[0], 16): (policy[int(row[1])], int(row[2]) * 1000) for row in rows
            if int(row[1]) in policy}


class Witness:
    """The log of the port, in which the guest left marks."""

    def __init__(self, story, ports, states):
        self.story = story
        self.names = [domain["name"] for domain in story["domains"]]
        self.states = decode_states(states, self.names)
        with open(ports, "rb") as file:
            log = file.read()
        begin, end = log.find(MARK_GOVERNS), log.find(MARK_STOPPING)
        restored = log.rfind(MARK_RESTORED)
        self.complete = 0 <= begin < end < restored
        self.governed = [self.states.get(byte) for byte in log[begin + 1:end]]
        self.until_restored = [self.states.get(byte) for byte in log[:restored]]

    def khz_of(self, name, writes):
        return [write[1] for write in writes if write and write[0] == name]

    def differences(self):
        if not self.complete:
            yield "the log of the P-state port lacks the story's marks"
            return
        if None in self.governed:
            yield "a byte reached the port that is no P-state"
        for name in self.names:
            if not is_within(collapse(self.khz_of(name, self.governed)), decided(self.story, name)):
                yield f"the port saw other changes of {name} than wakegovd decided"
            last = self.khz_of(name, self.until_restored)[-1:]
            if last != [self.story["last_khz"][name]]:
                yield (f"the last P-state of {name} at the port is {last}, "
                       f"cpufreq says {self.story['last_khz'][name]} kHz")

    def sentence(self):
        last = ", ".join(f"{name} at {khz / 1000:.0f} MHz"
                         for name, khz in self.story["last_khz"].items())
        return (f"Outside witness: {len(self.governed)} P-state writes (one per CPU) reached the "
                "port while wakegovd governed, in the order of its decisions; the last ones after "
                f"it ended ({last}) are what cpufreq reports.")


def list_of(names):
    names = list(names)
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def restored_by_log(story):
    """What the log says: value → the policies whose governor is back at it; and other controls."""
    governors, others = {}, []
    for line in story["log"]:
        found = re.search(r"restored (\S+)( scaling_governor|.*) to (.*)", line)
        if found and found[2] == " scaling_governor":
            governors.setdefault(found[3], []).append(found[1])
        elif found:
            others.append(f"{found[1]}{found[2]} at {found[3]} again")
    return governors, others


def unrestored(story):
    """Domains that were driven and of which the log tells nothing."""
    governors, _ = restored_by_log(story)
    back = set(itertools.chain(*governors.values()))
    for domain in story["status"]["domains"]:
        if domain["state"] == "driven" and domain["name"] not in back:
            yield f"wakegovd's log does not say that {domain['name']} was restored"


def sentence(story):
    governors, others = restored_by_log(story)
    parts = [f"{list_of(names)} {'are' if len(names) > 1 else 'is'} back under {governor}"
             for governor, names in governors.items()]
    if not parts:
        parts = ["nothing had to be, wakegovd only observed"]
    if others:
        parts.append(list_of(others))
    if not any(" scaling_min_freq " in other or " scaling_max_freq " in other for other in others):
        parts.append("limits untouched")
    return f"{', '.join(parts)} ({len(story['before'])} controls compared byte for byte)."


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        story = json.load(file)
    differences = [*compare_controls(story), *unrestored(story)]
    if story["exit_status"] != 0:
        differences.append(f"wakegovd ended with status {story['exit_status']}")
    witness = Witness(story, *sys.argv[2:4]) if len(sys.argv) > 2 else None
    if witness:
        differences += witness.differences()
    if differences:
        print("NOT restored as it was:", *differences, *story["log"], sep="\n  ")
        return 1
    print("Restored:", sentence(story))
    if witness:
        print(witness.sentence())
    return 0


if __name__ == "__main__":
    sys.exit(main())
