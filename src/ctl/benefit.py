#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""wakegovctl benefit: measures what wakegov gains on this machine, in a switchback experiment.

Blocks come in adjacent pairs, one with wakegov and one without, in random order, so that anything
that drifts slower than a pair cancels in ln(with / without). The first fifth of a block is not
measured: the block before it still shows there. The kernel's counters are read before and after the
rest of it; energy is what the machine counts, or else an estimate by busy times and frequencies.

wakegovctl starts this program with its options as JSON, and with the command to time.
"""
import contextlib
import itertools
import json
import math
import os
import random
import re
import select
import signal
import statistics
import subprocess
import sys
import time
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True  # no __pycache__ beside the programs
from wakegov_measuring import (REFUSED, USAGE, Daemon, Failure, Meters, complain, decimals_of, number,  # noqa: E402
                               read, wait_for_governing)

SETTLE_SHARE = 5

PAIRS_LEAST = 8  # of fewer no rank is in 1 % of all orders
PAIRS_MOST = 1000  # what the ranks take in time
BLOCK_MOST_US = 1800 * 10**6  # two blocks in a row may be lent, and HandBack takes an hour at most

NEGLIGIBLE_PERCENT = 0.5  # a smaller difference counts as none, however certain it is
UNSTEADY_PERCENT = 50  # with a wider interval the two cannot be called equal
SMALL_PERCENT = 2  # where no difference is found, the answer says for how long to measure for this one

# In the order of the answer: what it is called, and words for more and less of it.
FIGURES = {
    "figure": (None, "more", "less", ""),
    "joules_per_run": ("energy for each run", "more", "less", "J"),
    "estimate_per_run": ("estimated energy for each run", "more", "less", "CPU s"),
    "run_s": ("run time", "longer", "shorter", "s"),
    "joules_per_io": ("energy for each I/O", "more", "less", "J"),
    "estimate_per_io": ("estimated energy for each I/O", "more", "less", "CPU s"),
    "ios_per_s": ("I/Os", "more", "fewer", "/s"),
    "ms_per_io": ("time per I/O", "longer", "shorter", "ms"),
    "wait_us": ("wait for a CPU", "longer", "shorter", "us"),
    "cpu_s_per_s": ("CPU time", "more", "less", "s/s"),
    "watts": ("power", "more", "less", "W"),
    "energy_estimate": ("estimated power", "more", "less", "full CPUs"),
    "mhz": ("frequency", "higher", "lower", "MHz"),
    "changes_per_s": ("its changes", "more", "fewer", "/s"),
}
# A measured energy needs no estimate beside it.
MEASURED = {"estimate_per_run": "joules_per_run", "estimate_per_io": "joules_per_io",
            "energy_estimate": "watts"}


class Interrupted(Exception):
    """Ctrl-C, or SIGTERM: what was measured until then is the answer."""


def figures_of(before, after, runs):
    """A block's figures by name, only those that are known; runs of the command, or 0."""
    d = {key: after[key] - before[key] for key in before}
    joules = 0 if d["lost"] else d["joules"]
    found = {"ios_per_s": d["ios"] / d["s"], "cpu_s_per_s": d["cpu_s"] / d["s"],
             "watts": joules / d["s"], "energy_estimate": d["full_cpu_s"] / d["s"]}
    if d["ios"]:
        found |= {"ms_per_io": d["io_ms"] / d["ios"], "joules_per_io": joules / d["ios"],
                  "estimate_per_io": d["full_cpu_s"] / d["ios"]}
    if runs:
        found |= {"run_s": d["s"] / runs, "joules_per_run": joules / runs,
                  "estimate_per_run": d["full_cpu_s"] / runs}
    if d["turns"]:
        found["wait_us"] = d["wait_us"] / d["turns"]
    if d["domain_s"]:
        found |= {"mhz": d["khz_s"] / d["domain_s"] / 1000, "changes_per_s": d["changes"] / d["s"]}
    return {key: value for key, value in found.items() if value > 0}


def last_number(text):
    """The last number of the last line that is not blank: 48800000 of "IOPS=12.5k, BW=48.8M". Digits of
    a word (sda1) are no number. None: there is none."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = re.findall(r"(?<![\w.])([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)([kKMG]?)", lines[-1] if lines else "")
    if not found:
        return None
    digits, unit = found[-1]
    return float(digits) * {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}[unit]


def pass_on(fd, end):
    """Prints what the command has written. Returns the end of all that it wrote, and whether there may be
    more, as of a process that it left behind."""
    while True:
        try:
            part = os.read(fd, 4096)
        except BlockingIOError:
            return end, True
        if not part:
            return end, False
        sys.stderr.buffer.write(part)
        sys.stderr.flush()
        end = (end + part)[-4096:]


def run_command(arguments, meters, wants_figure):
    """Runs it once. Standard output is for the answer, so the command's goes to standard error. Returns
    the last number that it printed, or 0."""
    try:
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE if wants_figure else sys.stderr)
    except OSError as error:
        raise Failure(f"cannot run {arguments[0]}: {error.strerror}", REFUSED) from error
    exited, end = os.pidfd_open(child.pid), b""
    waits = [exited] + ([child.stdout.fileno()] if wants_figure else [])
    if wants_figure:
        os.set_blocking(child.stdout.fileno(), False)
    try:
        while True:
            ready, _, _ = select.select(waits, [], [], max(0, meters.look()))
            if ready and len(waits) > 1:
                end, is_open = pass_on(waits[1], end)
                waits = waits if is_open else waits[:1]
            if exited in ready:
                break
    except BaseException:
        child.terminate()
        raise
    finally:
        os.close(exited)
        child.wait()
        if child.stdout:
            child.stdout.close()
    if child.returncode:
        raise Failure(f"{arguments[0]} failed: how long it runs says nothing", REFUSED)
    found = last_number(end.decode(errors="replace")) if wants_figure else 0
    if found is None:
        raise Failure(f"{arguments[0]} printed no number in its last line", REFUSED)
    return found


class Experiment:
    """Lends the domains in turn and measures."""

    def __init__(self, options, command):
        self.daemon = Daemon(options["socket"], options["timeout_us"] / 1e6)
        self.command, self.own = command, options.get("figure")
        self.against = options.get("against")
        self.block_s, self.for_s = options["block_us"] / 1e6, options["for_us"] / 1e6
        self.meters = Meters()
        self.pairs, self.void = [], 0  # of figures with wakegov and without
        self.lent = None  # the connection that has the domains; None: wakegov governs
        self.policy = None  # the text of a policy to compare with, instead of a governor
        # A policy is a path; names of governors have no slash and no dot.
        if self.against and re.search("[/.]", self.against):
            try:
                with open(self.against, encoding="utf-8") as file:
                    self.policy = file.read()
            except (OSError, UnicodeDecodeError) as error:
                raise Failure(f"cannot read {self.against}: {error}", REFUSED) from error
        self.governed = self.state()

    def state(self):
        """What another user could change during the experiment."""
        status = self.daemon.call("Status")
        overrides = self.daemon.call("Overrides")["overrides"]
        return {"states": [domain["state"] for domain in status["domains"]],
                "policy": status["policy"], "overrides": [o["id"] for o in overrides],
                "uptime_us": status["uptime_us"]}

    def is_undisturbed(self):
        """Whether the rest of the machine is as it was while wakegov governed."""
        now, expected = self.state(), dict(self.governed)
        if self.lent and not self.policy:
            expected["states"] = ["handed-back" if state == "driven" else state
                                  for state in expected["states"]]
        # An uptime shorter than before belongs to another daemon.
        return now.pop("uptime_us") >= expected.pop("uptime_us") and now == expected

    def lend(self):
        """The previous block, second of its pair, may also have been under the other governor."""
        if self.lent:
            return
        if self.policy:
            self.lent = self.daemon.call("HoldPolicy", {"text": self.policy}, keep=True)
        else:
            self.lent = self.daemon.hand_back(self.against)

    def take_back(self):
        """Waits until wakegov governs."""
        if not self.lent:
            return
        self.lent.close()
        self.lent = None
        wait_for_governing(self.is_undisturbed)

    def measure(self, with_wakegov):
        """A block's figures; None: it was disturbed."""
        if with_wakegov:
            self.take_back()
        else:
            self.lend()
        start_s = time.monotonic()
        self.meters.wait(start_s + self.block_s / SETTLE_SHARE)
        good = self.is_undisturbed()
        before, runs, total = self.meters.sample(), 0, 0.0
        while self.command and (not runs or time.monotonic() < start_s + self.block_s):
            total += run_command(self.command, self.meters, self.own)
            runs += 1
        if not self.command:
            self.meters.wait(start_s + self.block_s)
        figures = figures_of(before, self.meters.sample(), runs)
        if self.own and total > 0:
            figures["figure"] = total / runs
        return figures if self.is_undisturbed() and good else None

    def run(self, seed):
        """Chance decides in which half of the pairs the block with wakegov comes first."""
        until_s = time.monotonic() + self.for_s
        for with_first in order(seed, int(self.for_s / self.block_s / 2)):
            # A command makes its blocks longer: some pairs are measured in any case.
            if len(self.pairs) >= PAIRS_LEAST and time.monotonic() >= until_s:
                break
            first, second = self.measure(with_first), self.measure(not with_first)
            if first is None or second is None:
                self.void += 1
            else:
                self.pairs.append((first, second) if with_first else (second, first))


def order(seed, n_pairs):
    """True: wakegov comes first, in half of the pairs; for an odd number, one more or less."""
    chance = random.Random(seed)
    n_first = (n_pairs + chance.randrange(2)) // 2
    with_first = [True] * n_first + [False] * (n_pairs - n_first)
    chance.shuffle(with_first)
    return with_first


def interval(differences):
    """The middle of the differences, and the interval of 99 % that Wilcoxon's signed ranks give for it:
    of the sorted means of all two, the median, and those of the rank by the normal approximation
    (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 2014, 3.3), rounded outward. It
    assumes that noise is as often above as below, which a random order makes true, and no more."""
    n = len(differences)
    means = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(differences, 2))
    rank = n * (n + 1) / 4 - statistics.NormalDist().inv_cdf(0.995) * math.sqrt(
        n * (n + 1) * (2 * n + 1) / 24)
    outside = max(0, math.floor(rank))
    return statistics.median(means), means[outside], means[-1 - outside]


class Finding:
    """A figure that enough pairs have."""

    def __init__(self, key, pairs, own):
        self.key = key
        name, self.more, self.less, self.unit = FIGURES[key]
        self.name = name or own
        known = [(a[key], b[key]) for a, b in pairs if key in a and key in b]
        self.ratios = [a / b for a, b in known]
        self.is_known = len(known) >= PAIRS_LEAST
        if self.is_known:
            self.ratio, self.low, self.high = map(math.exp, interval([math.log(r) for r in self.ratios]))
            self.with_mean = statistics.fmean(a for a, _ in known)
            self.without_mean = statistics.fmean(b for _, b in known)
            # The end of the interval that is farthest from equal, in per cent.
            self.bound = 100 * max(1 - self.low, self.high - 1)
            self.is_unsteady = self.bound >= UNSTEADY_PERCENT
            self.differs = (self.low > 1 or self.high < 1) and self.bound > NEGLIGIBLE_PERCENT

    def within(self):
        """ "2.4 %", of the interval's farther end."""
        return f"{self.bound:.{decimals_of(self.bound)}f} %"

    def difference(self):
        """ "9.1 ± 0.6 % less", or "1 to 9 % less" for a wide interval, as ratios are not symmetric about
        their middle. The uncertainty sets the number of decimals."""
        more = self.ratio > 1
        low, change, high = (100 * abs(r - 1) for r in (self.low, self.ratio, self.high))
        half = 50 * (self.high - self.low)
        decimals = decimals_of(half * 10) if half > 0 else 2
        way = self.more if more else self.less
        if half < change / 2:
            return f"{change:.{decimals}f} ± {half:.{decimals}f} % {way}"
        least, most = (low, high) if more else (high, low)
        return f"{least:.{decimals}f} to {most:.{decimals}f} % {way}"

    def minutes_for(self, percent, measured_s):
        """After which half of the interval would be this narrow: it shrinks by the root of the time."""
        times = math.log(self.high / self.low) / 2 / math.log(1 + percent / 100)
        return math.ceil(measured_s * times * times / 60)

    def words(self, measured_s):
        """The difference, or that there is none."""
        if self.differs:
            return self.difference()
        if self.is_unsteady:
            return f"too unsteady to tell; --for {self.minutes_for(UNSTEADY_PERCENT, measured_s)}m may do"
        return f"same, within {self.within()}"


def say_same(energy, work, measured_s):
    """No difference was found in what is known of the two."""
    known = [finding for finding in (energy, work) if finding]
    steady = [finding for finding in known if not finding.is_unsteady]
    if not steady:
        minutes = known[0].minutes_for(UNSTEADY_PERCENT, measured_s)
        return f"too unsteady to tell by {known[0].name}; --for {minutes}m may do"
    found = ", or ".join(f"above {finding.within()} in {finding.name}" for finding in steady)
    said = f"no difference found; one {found}, would have been"
    if max(finding.bound for finding in steady) > SMALL_PERCENT:
        longer = max(finding.minutes_for(SMALL_PERCENT, measured_s) for finding in steady)
        said += f"; one above {SMALL_PERCENT} % would be by --for {longer}m"
    return said + "".join(f"; {finding.name} is too unsteady to tell" for finding in known
                          if finding.is_unsteady)


def verdict(findings, n_pairs, block_s, measured_s):
    """The energy for each unit of work first, then the work in its time."""
    def first_known(*keys):
        return next((findings[key] for key in keys if key in findings), None)

    work = first_known("figure", "run_s", "ios_per_s")
    energy = first_known("joules_per_run", "estimate_per_run", "joules_per_io", "estimate_per_io")
    # Few I/Os that have nothing to do with the load are no unit of it.
    if not energy or (energy.key.endswith("_io") and energy.is_unsteady):
        energy = first_known("watts", "energy_estimate")
    if not work and not energy:
        if n_pairs < PAIRS_LEAST:
            return (f"too little was measured to say: it takes {PAIRS_LEAST} pairs of blocks, which is "
                    f"--for {math.ceil(PAIRS_LEAST * 2 * block_s)}s at least")
        return "nothing to compare: no disk was used and no energy is known; name a COMMAND to time"
    if not any(finding and finding.differs for finding in (energy, work)):
        return say_same(energy, work, measured_s)
    if not energy:
        return f"{work.name}: {work.difference()}; what that takes in energy is not known here"
    if not work:
        return f"{energy.name}: {energy.difference()}; whether as much was done is not known"
    for one, other in ((energy, work), (work, energy)):
        if not other.differs:
            return f"{one.name}: {one.difference()}, at the same {other.name} (within {other.within()})"
    return f"{energy.name}: {energy.difference()}; {work.name}: {work.difference()}"


def answer_of(experiment, seed):
    """The answer as wakegovctl(1) documents it."""
    measured_s = (len(experiment.pairs) + experiment.void) * 2 * experiment.block_s
    all_findings = (Finding(key, experiment.pairs, experiment.own) for key in FIGURES)
    findings = {finding.key: finding for finding in all_findings if finding.is_known}
    findings = {key: f for key, f in findings.items() if MEASURED.get(key) not in findings}
    model = "the kernel's energy model" if experiment.meters.model.is_kernels else "frequency alone"
    figures = []
    for key, f in findings.items():
        figure = {"name": key, "title": f.name, "words": f.words(measured_s), "pairs": len(f.ratios),
                  "ratio": f.ratio, "low": f.low, "high": f.high, "with": f.with_mean,
                  "without": f.without_mean, "unit": f.unit, "ratios": f.ratios}
        if key in MEASURED:
            figure["source"] = model
        elif key in MEASURED.values():
            figure["source"] = experiment.meters.meter.source
        figures.append(figure)
    return {"against": experiment.against, "pairs": len(experiment.pairs), "void": experiment.void,
            "seed": seed, "block_s": experiment.block_s, "figures": figures,
            "verdict": verdict(findings, len(experiment.pairs), experiment.block_s, measured_s)}


def show(answer):
    """The answer for people, the verdict first."""
    print(f"Verdict: {answer['verdict']}.")
    print(f"With wakegov, against {answer['against'] or 'the former governor'}, in {answer['pairs']} "
          f"pairs of blocks ({answer['void']} more were void):")
    width = max((len(figure["title"]) for figure in answer["figures"]), default=0)
    for figure in answer["figures"]:
        decimals = decimals_of(figure["without"] / 100)
        unit = f" {figure['unit']}" if figure["unit"] else ""
        source = f", by {figure['source']}" if "source" in figure else ""
        print(f"  {figure['title']:{width}} {figure['words']:24} {figure['with']:.{decimals}f}, "
              f"without {figure['without']:.{decimals}f}{unit}{source}")


# The picture: a panel for each figure, with a mark for each pair.
WIDTH, LEFT, RIGHT, TOP, PANEL, GAP, MARK = 900, 210, 240, 60, 90, 24, 5


def draw_figure(top, figure):
    """A mark for each pair of blocks at the difference that wakegov made, and the interval."""
    percents = [100 * (ratio - 1) for ratio in figure["ratios"]]
    low, high = 100 * (figure["low"] - 1), 100 * (figure["high"] - 1)
    most = 1.1 * max(1, *map(abs, percents), abs(low), abs(high))
    middle, pixels = top + PANEL / 2, PANEL / 2 / most
    inner = WIDTH - RIGHT - LEFT
    yield f'<rect x="{LEFT}" y="{middle - high * pixels:.1f}" width="{inner}" ' \
          f'height="{(high - low) * pixels:.1f}" fill="#c6dbef"/>'
    yield f'<path d="M{LEFT} {middle:.1f}h{inner}" stroke="#555555"/>'
    for i, percent in enumerate(percents):
        x = LEFT + (i + 0.5) * inner / len(percents) - MARK / 2
        yield f'<rect x="{x:.1f}" y="{middle - percent * pixels - MARK / 2:.1f}" width="{MARK}" ' \
              f'height="{MARK}" fill="#08519c"/>'
    texts = [(8, 0, "start", figure["title"]), (WIDTH - RIGHT + 10, 0, "start", figure["words"]),
             (LEFT - 6, 8 - PANEL / 2, "end", f"+{most:.3g} %"), (LEFT - 6, PANEL / 2, "end", f"-{most:.3g} %")]
    for x, y, anchor, text in texts:
        yield f'<text x="{x}" y="{middle + y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def plot(answer):
    """The answer as an SVG."""
    height = TOP + len(answer["figures"]) * (PANEL + GAP)
    title = f"With wakegov, against {answer['against'] or 'the former governor'}: " \
            f"{answer['pairs']} pairs of blocks"
    drawn = [line for i, figure in enumerate(answer["figures"])
             for line in draw_figure(TOP + i * (PANEL + GAP), figure)]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="8" y="20">{escape(title)}</text>',
        f'<text x="8" y="40">{escape(answer["verdict"])}</text>', *drawn, "</svg>", ""])


def on_signal(number_of_signal, _):
    """A second one ends this at once."""
    signal.signal(number_of_signal, signal.SIG_DFL)
    raise Interrupted


def misuse(options, command):
    """What is wrong with the options; None: nothing."""
    pairs = options["for_us"] // options["block_us"] / 2
    if not PAIRS_LEAST <= pairs <= PAIRS_MOST:
        return f"--for must be {2 * PAIRS_LEAST} to {2 * PAIRS_MOST} times as long as --block"
    if options["block_us"] > BLOCK_MOST_US:
        return "--block can be 30m at most"
    return "--figure is of a command: -- COMMAND" if "figure" in options and not command else None


def main(options, command):
    """Returns the exit code."""
    if wrong := misuse(options, command):
        raise Failure(f"{wrong}. See: wakegovctl benefit --help", USAGE)
    seed, code, picture = random.randrange(1 << 31), 0, None
    if path := options.get("plot"):
        # Opened before the experiment, so that a failure does not show only at its end.
        try:
            picture = open(path, "w", encoding="utf-8")
        except OSError as error:
            raise Failure(f"cannot write {path}: {error.strerror}", REFUSED) from error
    experiment = Experiment(options, command)
    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    with contextlib.suppress(Interrupted):
        try:
            experiment.run(seed)
        except Failure as failure:
            if not experiment.pairs:
                raise
            complain(failure.args[0])
            code = failure.args[1]
    if experiment.lent:
        experiment.lent.close()
    answer = answer_of(experiment, seed)
    if options["json"]:
        json.dump(answer, sys.stdout, ensure_ascii=False, indent=2)
        print()
    else:
        show(answer)
    if picture:
        with picture:
            picture.write(plot(answer))
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
    except Failure as caught:
        complain(caught.args[0])
        sys.exit(caught.args[1])
    except BrokenPipeError:
        os.kill(os.getpid(), signal.SIGPIPE)
