# SPDX-License-Identifier: GPL-2.0-only
"""Runs a unittest module and prints TAP, which tests/run counts.

A module calls main() itself, or is named: tap.py FILE [TEST…].
"""
import importlib.util
import os
import sys
import unittest


class TapResult(unittest.TestResult):
    """Prints one TAP line per test as it ends."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def line(self, word, test, rest=""):
        self.count += 1
        name = test.shortDescription() or test.id()
        print(f"{word} {self.count} - {name}{rest}", flush=True)

    def comment(self, text):
        for line in text.rstrip().splitlines():
            print("# " + line, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("ok", test, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("not ok", test)
        self.comment(self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        """Only a failure gives a line, after which the test itself gives none."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.line("not ok", subtest)
            failed = issubclass(err[0], test.failureException)
            self.comment((self.failures if failed else self.errors)[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.line("not ok", test)
        self.comment(self.errors[-1][1])


def note(text):
    """A measured figure, beside the result that it belongs to."""
    print("# " + text, flush=True)


def run(module, names):
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = TapResult()
    suite.run(result)
    print(f"1..{result.count}", flush=True)
    sys.exit(0 if result.wasSuccessful() else 1)


def main():
    run(sys.modules["__main__"], sys.argv[1:])


def load(path):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    run(load(sys.argv[1]), sys.argv[2:])
