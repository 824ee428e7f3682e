# SPDX-License-Identifier: GPL-2.0-only
"""Runs a unittest module and prints TAP, which tests/run counts."""
import sys
import unittest


class TapResult(unittest.TestResult):
    """Prints one TAP line per test as it ends."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def line(self, word, test, rest=""):
        self.count += 1
        name = test.shortDescription() or str(test)
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

    def addError(self, test, err):
        super().addError(test, err)
        self.line("not ok", test)
        self.comment(self.errors[-1][1])


def note(text):
    """A measured figure, beside the result that it belongs to."""
    print("# " + text, flush=True)


def main():
    names = sys.argv[1:] or None
    loader = unittest.defaultTestLoader
    module = sys.modules["__main__"]
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = TapResult()
    suite.run(result)
    print(f"1..{result.count}", flush=True)
    sys.exit(0 if result.wasSuccessful() else 1)
