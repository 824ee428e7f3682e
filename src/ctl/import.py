#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl import: rules of the policy from an application's file of schedqos, on standard output.

schedqos knows a program by the name that it was called by, a rule by its file: so a name that is a link here
becomes the file's name as well. A class of schedqos is that of ours with the same name.

    { "APP": { "qos": "QOS_BACKGROUND", "thread_qos": { "THREAD": "QOS_UTILITY" } } }

APP is the name of a program, THREAD that of a thread; both may be patterns.

wakegovctl starts this program with its options as JSON.
"""
import fnmatch
import glob
import json
import os
import sys

NAME_MAX = 31  # of a class
PREFIX = "QOS_"


class Failure(Exception):
    """Ends the program with this message."""


def shown(text):
    """Foreign text as a terminal may have it."""
    return "".join(c if c.isprintable() else "?" for c in text)


def complain(text):
    print(f"wakegovctl: {shown(text)}", file=sys.stderr)


def pattern(name):
    """Blanks and commas divide the patterns of a rule; what is not ASCII stands for itself by its bytes."""
    return "".join(chr(c) if 0x20 < c < 0x7f and c != ord(",") else "?" for c in name.encode(errors="replace"))


def program(app):
    """The patterns of the program, and of what the links of its name in PATH lead to."""
    found = [path for folder in os.environ.get("PATH", "").split(":")
             for path in glob.glob(os.path.join(glob.escape(folder), app))]
    if not found:
        complain(f"no program here is called {app}, so its rule matches none until one is")
    targets = dict.fromkeys(os.path.basename(os.path.realpath(path)) for path in found)
    return " ".join("*/" + pattern(name)
                    for name in (app, *(name for name in targets if not fnmatch.fnmatchcase(name, app))))


def rule(app, thread, qos, number):
    """The rule of an application or, if thread is not None, of one of its threads; None: its class is unknown."""
    own = qos.removeprefix(PREFIX).lower().replace("_", "-") if isinstance(qos, str) else ""
    if not own or len(own) > NAME_MAX or not qos.startswith(PREFIX):
        complain(f"{app} has no class such as QOS_BACKGROUND")
        return None
    return "\n".join([f"\n[rule schedqos-{number}]", f"exe = {program(app)}",
                      *([] if thread is None else [f"comm = {pattern(thread)}"]),
                      f"class = {'none' if own == 'default' else own}"])


def rules(apps):
    """Those of threads come first, as the first rule that matches a task wins."""
    number = 0
    for app, entry in apps.items():
        if not isinstance(entry, dict):
            complain(f"'{app}' is not an object with qos")
            yield None
            continue
        threads = entry.get("thread_qos")
        given = list(threads.items()) if isinstance(threads, dict) else []
        for thread, qos in given + ([(None, entry["qos"])] if "qos" in entry else []):
            number += 1
            yield rule(app, thread, qos, number)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            apps = json.load(file)
    except json.JSONDecodeError as error:
        raise Failure(f"{path}:{error.lineno}: {error.msg}") from error
    except (OSError, ValueError) as error:
        raise Failure(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(apps, dict):
        raise Failure(f"{path}: expected an object of applications")
    return apps


def main(path):
    apps = read(path)
    print(f"# By wakegovctl import, from {shown(path)}. Its periods and slices have no place here.")
    made = list(rules(apps))
    for text in made:
        if text:
            print(text)
    if not made:
        raise Failure(f"{path} has no application with qos or thread_qos: expected one of schedqos' "
                      "configs/app_configs/*.json")
    sys.stdout.flush()
    return None in made


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[2]))
    except Failure as caught:
        complain(caught.args[0])
        sys.exit(1)
