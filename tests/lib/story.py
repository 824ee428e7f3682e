#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A short story under wakegovd, for tests/demo: idle, a task that waits for I/O, the same task in
another domain, a busy loop, the same loop under a cap, idle, SIGTERM. Prints what happened as one JSON object."""
import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests/lab/guest"))
import guest  # pylint: disable=wrong-import-position

# Written to the P-state port, where no P-state has these values, so that the host's log of the
# port shows what lies between.
MARK_GOVERNS, MARK_STOPPING, MARK_RESTORED = b"\xe1", b"\xe2", b"\xe3"
SAMPLE_SECONDS = 0.1
CAP = "30 %"


class Failure(Exception):
    """What went wrong, for the user."""


class Load:
    """A process that runs on one CPU. It is started, let get going and then stopped, so that its
    own start does not show in the story."""

    def __init__(self, command, cpu):
        self.command = command
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=sys.stderr, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))

    def reads(self):
        return int(next(line.split()[1] for line in open(f"/proc/{self.process.pid}/io",
                                                         encoding="ascii")
                        if line.startswith("syscr")))

    def cpu_ticks(self):
        fields = guest.read(f"/proc/{self.process.pid}/stat").rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def pause_when(self, counter, least):
        """Stops it once counter() has grown by `least` in each of five samples in a row."""
        samples = 0
        before = counter()
        for _ in range(400):
            time.sleep(SAMPLE_SECONDS)
            if self.process.poll() is not None:
                raise Failure(f"'{self.command}' ended with status {self.process.returncode}")
            now = counter()
            samples = samples + 1 if now - before >= least else 0
            before = now
            if samples == 5:
                self.process.send_signal(signal.SIGSTOP)
                return
        raise Failure(f"'{self.command}' did not get going within 40 s")

    def go(self):
        self.process.send_signal(signal.SIGCONT)

    def move(self, cpu):
        for tid in os.listdir(f"/proc/{self.process.pid}/task"):
            os.sched_setaffinity(int(tid), {cpu})

    def end(self):
        """At once, without an epilogue that would show."""
        self.process.kill()
        self.process.wait()


class Daemon:
    """wakegovd with a policy of the story's own, in a temporary directory."""

    def __init__(self, directory, backend):
        self.log_path = f"{directory}/log"
        policy = f"{directory}/demo.conf"
        with open(policy, "w", encoding="ascii") as file:
            file.write(f"[wakegov]\nbackend = {backend}\nmax-decisions = 2048\n")
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([f"{guest.BUILD}/wakegovd", "--config", policy],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()

    def wait_until_up(self):
        for _ in range(200):
            if self.process.poll() is not None:
                raise Failure("wakegovd ended at its start: " + self.log())
            if subprocess.run([f"{guest.BUILD}/wakegovctl", "status"], check=False,
                              capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise Failure("wakegovd did not come up within 20 s: " + self.log())

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure("wakegovd did not end within 20 s of SIGTERM") from None

    def abandon(self):
        if self.process.poll() is None:
            self.stop()


def ask(command):
    done = subprocess.run([f"{guest.BUILD}/wakegovctl", "--json", command], check=False,
                          capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"wakegovctl {command}: {done.stderr.strip()}")
    return json.loads(done.stdout)


@contextlib.contextmanager
def page(directory, result):
    """What happens meanwhile is recorded, and is drawn as the page of report --html in result["page"]."""
    names = [f"{directory}/{name}" for name in ("demo", "page")]
    with subprocess.Popen([f"{guest.BUILD}/wakegovctl", "record", "-o", names[0]], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as recorder:
        time.sleep(0.5)
        yield
        recorder.send_signal(signal.SIGINT)
    subprocess.run([f"{guest.BUILD}/wakegovctl", "report", "--html", names[1], "--from", names[0]], check=True,
                   stdout=subprocess.DEVNULL)
    with open(names[1], encoding="utf-8") as drawn:
        result["page"] = drawn.read()


def cap(load):
    """By the administrator, while it runs."""
    subprocess.run([f"{guest.BUILD}/wakegovctl", "override", str(load.process.pid), "--max",
                    CAP.replace(" ", ""), "--for", "1m"], check=True, stdout=subprocess.DEVNULL)


def cpus_of(policy):
    return [int(cpu) for cpu in guest.read(guest.policy(policy, "affected_cpus")).split()]


def domains():
    names = sorted((name for name in os.listdir(guest.CPUFREQ) if name.startswith("policy")),
                   key=lambda name: int(name[6:]))
    return [name for name in names if cpus_of(name)]


def opps(policy):
    try:
        listed = guest.read(guest.policy(policy, "scaling_available_frequencies")).split()
    except FileNotFoundError:
        listed = [guest.read(guest.policy(policy, f"cpuinfo_{end}_freq")) for end in ("min", "max")]
    return sorted(int(khz) for khz in listed)


def mark(port, byte):
    """An outb(), seen by the host's log of the port."""
    if port is not None:
        fd = os.open("/dev/port", os.O_WRONLY | os.O_CLOEXEC)
        os.pwrite(fd, byte, port)
        os.close(fd)


def mark_and_read(port, names):
    """The frequencies at the moment of the last mark: it is repeated until they held still."""
    for _ in range(100):
        before = {name: guest.frequency(name) for name in names}
        mark(port, MARK_RESTORED)
        if {name: guest.frequency(name) for name in names} == before:
            break
        time.sleep(0.02)
    return before


class Story:
    def __init__(self, names):
        self.phases = []
        self.names = names
        self.first = cpus_of(names[0])[0]
        self.second = cpus_of(names[-1])[-1]

    def phase(self, label, seconds, begin=None, finish=None):
        print(f"story: {label}", file=sys.stderr, flush=True)
        start = time.monotonic()
        if begin:
            begin()
        time.sleep(max(0, start + seconds - time.monotonic()))
        if finish:
            finish()
        self.phases.append({"label": label, "start_us": int(start * 1e6),
                            "end_us": int(time.monotonic() * 1e6)})

    def run(self, io, cpu):
        self.phase("idle", 1)
        if self.second == self.first:
            self.phase(f"I/O on CPU {self.first}", 2, io.go, io.end)
        else:
            self.phase(f"I/O on CPU {self.first}", 2, io.go)
            self.phase(f"same task, CPU {self.second}", 2, lambda: io.move(self.second), io.end)
        self.phase(f"loop on CPU {self.first}", 1.5, cpu.go)
        self.phase(f"capped at {CAP}", 1.5, lambda: cap(cpu), cpu.end)
        self.phase("idle", 1)


def tell(arguments, cleanup):
    names = domains()
    story = Story(names)
    result = {"story": True, "domains": [{"name": name, "opps_khz": opps(name)} for name in names]}
    before = guest.snapshot()
    io = Load(arguments.io, story.first)
    cleanup.callback(io.end)
    io.pause_when(io.reads, 5)
    cpu = Load(arguments.cpu, story.first)
    cleanup.callback(cpu.end)
    cpu.pause_when(cpu.cpu_ticks, 2)

    directory = tempfile.mkdtemp(prefix="wakegov-demo.")
    cleanup.callback(shutil.rmtree, directory)
    daemon = Daemon(directory, arguments.backend)
    cleanup.callback(daemon.abandon)
    daemon.wait_until_up()
    with page(directory, result):
        mark(arguments.port, MARK_GOVERNS)
        story.run(io, cpu)
        mark(arguments.port, MARK_STOPPING)
    result["decisions"] = ask("decisions")["decisions"]
    result["status"] = ask("status")
    result["exit_status"] = daemon.stop()
    after = guest.snapshot()
    result["log"] = daemon.log().splitlines()
    result["last_khz"] = mark_and_read(arguments.port, names)
    result["phases"] = story.phases
    result["before"] = {name: value.decode() for name, value in before.items()}
    result["after"] = {name: value.decode() for name, value in after.items()}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--io", required=True, help="command of a load that waits for I/O")
    parser.add_argument("--cpu", required=True, help="command of a CPU-bound load")
    parser.add_argument("--backend", default="setspeed", help="of wakegovd; default setspeed")
    parser.add_argument("--port", type=lambda text: int(text, 0),
                        help="I/O port of the P-states, to be marked")
    arguments = parser.parse_args()
    # So that a signal cleans up as well.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        with contextlib.ExitStack() as cleanup:
            print(json.dumps(tell(arguments, cleanup)), flush=True)
    except Failure as failure:
        sys.exit(f"story: {failure}")


if __name__ == "__main__":
    main()
