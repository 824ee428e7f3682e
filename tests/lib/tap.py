# SPDX-License-Identifier: GPL-2.0-only
"""Runs a unittest module and prints TAP, which tests/run counts.

A module calls main() itself, or is named: tap.py FILE [TEST…].

With TAP_REPEAT=N in the environment each test runs N times, in turn with the others, after a random wait of up to
50 ms (TAP_SEED=SEED): in virtual time one boot is like the other, and a test that fails by chance never does.
"""
import importlib
import os
import random
import sys
import time
import unittest


# In the lab it is what a test costs: to execute that takes the host a little longer, and idle time nothing.
DEAR_S = 3


def busy_s():
    """Of all CPUs together, since the boot."""
    with open("/proc/stat", encoding="ascii") as file:
        _, user, nice, system, _, _, *interrupts = file.readline().split()
    return sum(map(int, (user, nice, system, *interrupts[:2]))) / os.sysconf("SC_CLK_TCK")


class TapResult(unittest.TestResult):
    """Prints the TAP lines of each test as it ends.

    With tries=2 a test that fails runs once more, from the beginning, and what it gives then counts.
    What failed first is shown as a comment, and so is that the second run passed.
    """

    def __init__(self, tries=1):
        super().__init__()
        self.tries = tries
        self.count = 0

    def startTest(self, test):
        super().startTest(test)
        self.began_busy_s = busy_s()
        self.before = len(self.failures), len(self.errors)
        self.lines = []

    def stopTest(self, test):
        super().stopTest(test)
        took_s = busy_s() - self.began_busy_s
        if "WAKEGOV_LAB" in os.environ and took_s >= DEAR_S:
            note(f"CPUs were busy for {took_s:.1f} s")
        n_failures, n_errors = self.before
        failed = self.failures[n_failures:] + self.errors[n_errors:]
        if not failed or self.tries == 1:
            for line in self.lines:
                self.show(*line)
            return
        del self.failures[n_failures:], self.errors[n_errors:]
        for _, text in failed:
            note("failed, and runs again: " + text)
        self.tries -= 1
        again = type(test)(test.id().rpartition(".")[2])
        again.run(self)
        self.tries += 1
        if (len(self.failures), len(self.errors)) == (n_failures, n_errors):
            note("passed when run again: " + title(test))

    def show(self, word, test, rest="", text=""):
        self.count += 1
        print(f"{word} {self.count} - {title(test)}{rest}", flush=True)
        if text:
            note(text)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.lines.append(("ok", test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.lines.append(("ok", test, f" # SKIP {reason}"))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.lines.append(("not ok", test, "", self.failures[-1][1]))

    def addSubTest(self, test, subtest, err):
        """Only a failure gives a line, after which the test itself gives none."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            failed = issubclass(err[0], test.failureException)
            self.lines.append(("not ok", subtest, "", (self.failures if failed else self.errors)[-1][1]))

    def addError(self, test, err):
        super().addError(test, err)
        line = "not ok", test, "", self.errors[-1][1]
        if isinstance(test, unittest.TestCase):
            self.lines.append(line)
        else:  # what a class or module sets up, which is no test
            self.show(*line)


def title(test):
    return test.shortDescription() or test.id()


def note(text):
    """A measured figure, beside the result that it belongs to, or why a test failed."""
    for line in text.rstrip().splitlines():
        print("# " + line, flush=True)


def run(module, names):
    loader = unittest.defaultTestLoader
    waits = random.Random(int(os.environ.get("TAP_SEED", 1)))
    repeats = int(os.environ.get("TAP_REPEAT", 1))
    # By the host's clock the lab's tests wait for other processes, and the host may stand still for longer.
    result = TapResult(tries=2 if os.environ.get("LAB_CLOCK") == "host" else 1)
    for _ in range(repeats):
        suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
        if repeats > 1:
            time.sleep(waits.uniform(0, 0.05))
        suite.run(result)
    print(f"1..{result.count}", flush=True)
    sys.exit(0 if result.wasSuccessful() else 1)


def main(as_root=False):
    """as_root: who else calls it has nothing to test."""
    if as_root and os.geteuid() != 0:
        print("1..0 # SKIP not root")
        sys.exit(77)
    run(sys.modules["__main__"], sys.argv[1:])


def load(path):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    return importlib.import_module(os.path.splitext(os.path.basename(path))[0])


if __name__ == "__main__":
    run(load(sys.argv[1]), sys.argv[2:])
