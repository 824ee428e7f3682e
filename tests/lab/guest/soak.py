# SPDX-License-Identifier: GPL-2.0-only
"""Mixed load with random faults under the installed unit: soak.py SECONDS SEED, by tests/lab/soak.

A round starts some loads, does some faults to the daemon and around it, ends all of it, and then
looks: the daemon's memory and descriptors are what they were, what status says is what cpufreq says
and is marked in the port log, and no task that is gone has a boost.
"""
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
import traceback

import guest
from installed import Installed, NOBODY, POLICY, run, show

SOCKET = "/run/wakegov/io.wakegov"
PORT, MARK = 0x5f0, b"\xe4"
POLICIES = ("", "[rule low]\ncomm = capped\ncap = 30%\n", "[domain policy0]\nmax-frequency = 1GHz\n",
            "[rule names]\ncomm = wg-*\nfloor = 40%\n[rule users]\nuser = nobody\ncap = 50%\n",
            "[io-boost]\nmin-rate = 200/s\n[domain]\ndown-hold = 30ms\n")
GROWTH_KIB = 3 << 10


def call(method, **parameters):
    return guest.call(SOCKET, method, **parameters)


class Soak:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loads = []
        self.lives = 0  # how often the daemon was killed
        self.pid = self.resident = self.descriptors = None

    # Loads

    def freqload(self, *arguments):
        self.loads.append(guest.start_load(*arguments))

    def shell(self, *command):
        self.loads.append(subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL))

    def psync(self):
        device = guest.null_blk(self.random.choice(("null_blk_create", "null_blk_create_bound",
                                                    "null_blk_create_paced")))
        self.freqload("psync", "--file", device, "--threads", str(self.random.randrange(1, 4)),
                      "--cpus", self.random.choice(("0", "2", "0-3")), "--time", "1000")

    def periodic(self):
        self.freqload("periodic", "--period-us", "20000", "--busy-cycles", "5400000", "--cpus",
                      self.random.choice(("0-1", "2-3")), "--time", "1000")

    def capped(self):
        self.shell(guest.link("capped", "/bin/sh"), "-c", "while :; do :; done")

    def own_clamps(self):
        self.shell("uclampset", "-m", str(self.random.randrange(1024)), "sh", "-c",
                   "while :; do :; done")

    def short_tasks(self):
        self.shell("sh", "-c", "while :; do /bin/true; sleep 0.01; done")

    def names(self):
        self.shell("setpriv", f"--reuid={NOBODY}", "--clear-groups", sys.executable, "-c",
                   "import ctypes\nset = ctypes.CDLL(None).prctl\n"
                   "while True:\n for name in (b'wg-a', b'plain'): set(15, name, 0, 0, 0)")

    def end_loads(self):
        for load in self.loads:
            with contextlib.suppress(ProcessLookupError):
                if os.getpgid(load.pid) == load.pid:
                    os.killpg(load.pid, signal.SIGKILL)
            load.kill()
            load.wait()
            if load.stdout:
                load.stdout.close()
            if load.stderr:
                load.stderr.close()
        self.loads = []

    # Faults: each leaves the machine as it found it, but for the policy

    def killed(self):
        os.kill(self.pid, self.random.choice((signal.SIGKILL, signal.SIGSEGV)))
        self.lives += 1
        self.meet(self.pid)

    def stopped(self):
        os.kill(self.pid, signal.SIGSTOP)
        time.sleep(self.random.random() * 2)
        os.kill(self.pid, signal.SIGCONT)

    def hotplug(self):
        cpus = self.random.choice(((1,), (3,), (2, 3)))
        for value in (0, 1):
            for cpu in cpus:
                guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", value)
            time.sleep(self.random.random())

    def foreign_governor(self):
        path = guest.policy(self.random.choice(("policy0", "policy2")), "scaling_governor")
        # What was there when it is adopted is what is put back in the end.
        for governor in ("performance", "schedutil"):
            subprocess.run(["sh", "-c", f"echo {governor} > {path}"], check=True)
            time.sleep(self.random.random())
        run("wakegovctl", "adopt", check=False)

    def foreign_limit(self):
        path = guest.policy("policy0", "scaling_max_freq")
        for khz in (1000000, 1800000):
            subprocess.run(["sh", "-c", f"echo {khz} > {path}"], check=True)
            time.sleep(self.random.random())

    def reload(self):
        guest.write(POLICY, self.random.choice(POLICIES))
        run("wakegovctl", "reload")

    def bad_reload(self):
        good = guest.read(POLICY)
        guest.write(POLICY, "[wakegov]\nbackend = none of these\n")
        run("wakegovctl", "reload", check=False)
        guest.write(POLICY, good + "\n")

    def override(self):
        added = call("AddOverride", domain="policy0", settings={"max-frequency": "600MHz"})["override"]
        time.sleep(self.random.random())
        call("CancelOverride", id=added["id"])

    def crowd(self):
        # Those that are not let in are hung up on; all end with their process.
        subprocess.run([sys.executable, "-c", "import contextlib, socket\nall = []\n"
                        "for i in range(200):\n all.append(socket.socket(socket.AF_UNIX))\n"
                        " with contextlib.suppress(OSError):\n"
                        f"  all[-1].connect('{SOCKET}')\n"
                        "  all[-1].send(b'{\"method\"' * (i % 3))"], check=True)

    def no_fault(self):
        time.sleep(self.random.random() * 3)

    # Looks

    def meet(self, before=0):
        """Another daemon than before is there, and its memory and descriptors are taken.

        Beside three loads, and on a busy host, a start of two seconds takes minutes.
        """
        guest.wait_for(lambda: show("ActiveState") == "active" and
                       int(show("MainPID")) not in (0, before), 120, "the unit active")
        self.pid = int(show("MainPID"))
        guest.wait_for(lambda: os.path.exists(SOCKET), 30, "its socket")
        call("Status")
        self.resident = self.descriptors = None

    def descriptors_of(self):
        """Without the tracer's links: programs are attached when there is first need of them."""
        count = 0
        for name in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):  # closed since
                count += os.readlink(f"/proc/{self.pid}/fd/{name}") != "anon_inode:bpf_link"
        return count

    def cost(self):
        resident = int(re.search(r"VmRSS:\s+(\d+)", guest.read(f"/proc/{self.pid}/status")).group(1))
        return resident, self.descriptors_of()

    def boosted(self):
        """Those of the dead, whose boosts are to be over."""
        tasks = [task for task in call("Tasks")["tasks"] if task["boost_cap"]]
        tasks += [domain for domain in call("Domains")["domains"] if domain["reason"] == "io-boost"]
        return [task for task in tasks if not os.path.exists(f"/proc/{task['pid']}")]

    @staticmethod
    def changes(names):
        """Of each domain the frequency, and how many changes there were until then."""
        return [(guest.frequency(name), guest.read(guest.policy(name, "stats/total_trans")))
                for name in names]

    def agree(self):
        """What it runs at, by status, cpufreq, and a mark in the port log, of a moment."""
        domains = {domain["name"]: domain for domain in call("Domains")["domains"]}
        names = ("policy0", "policy2")
        before = self.changes(names)
        with open("/dev/port", "wb", buffering=0) as port:
            port.seek(PORT)
            port.write(MARK)
        # By then cpufreq has counted a change that was under way at the mark.
        time.sleep(0.1)
        after = self.changes(names)
        said = [domains[name]["current_khz"] for name in names]
        targets = [domains[name]["target_khz"] for name in names]
        # A mark that is in the log counts, so each is a look; one amid a change tells nothing.
        khz = [frequency for frequency, _ in after]
        print("# look {} {}".format(*(khz if before == after else (0, 0))), flush=True)
        return before == after and khz == said and targets == said and \
            all(domains[name]["state"] == "driven" for name in names)

    def look(self):
        guest.wait_for(lambda: not self.boosted(), 5, f"no boost of who is gone: {self.boosted()}")
        guest.wait_for(self.agree, 5, f"status and cpufreq agree: {call('Domains')}")
        resident, descriptors = self.cost()
        if self.resident is None:
            self.resident, self.descriptors = resident, descriptors
        if resident > self.resident + GROWTH_KIB:
            raise AssertionError(f"{resident} KiB, {self.resident} at its first look")
        guest.wait_for(lambda: self.cost()[1] <= self.descriptors, 15,
                       f"{self.descriptors} descriptors, {descriptors} now")
        if int(show("NRestarts")) != self.lives or int(show("MainPID")) != self.pid:
            raise AssertionError(f"{show('NRestarts')} restarts, {self.lives} by us")

    def round(self):
        loads = self.random.sample((self.psync, self.periodic, self.capped, self.own_clamps,
                                    self.short_tasks, self.names), self.random.randrange(1, 4))
        faults = self.random.choices((self.killed, self.stopped, self.hotplug, self.foreign_governor,
                                      self.foreign_limit, self.reload, self.bad_reload, self.override,
                                      self.crowd, self.no_fault), k=3)
        print("# {} | {}".format(" ".join(deed.__name__ for deed in loads),
                                 " ".join(deed.__name__ for deed in faults)), flush=True)
        for deed in loads + faults:
            deed()
        self.end_loads()
        self.look()


def soak(seconds, seed):
    print(f"# seed {seed}", flush=True)
    Installed.setUpClass()
    before = guest.snapshot()
    guest.write(POLICY, "")
    # As often as it likes, for each end of it is ours; and as long as a busy host makes it.
    os.makedirs("/run/systemd/system/wakegovd.service.d", exist_ok=True)
    guest.write("/run/systemd/system/wakegovd.service.d/soak.conf",
                "[Unit]\nStartLimitIntervalSec=0\n[Service]\nTimeoutStartSec=infinity\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "start", "wakegovd.service")
    soaked = Soak(seed)
    soaked.meet()
    end, rounds = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < end:
            soaked.round()
            rounds += 1
    finally:
        soaked.end_loads()
    print(f"# {rounds} rounds, {soaked.lives} daemons killed, {soaked.cost()[0]} KiB", flush=True)
    run("systemctl", "stop", "wakegovd.service")
    guest.wait_for(lambda: guest.snapshot() == before, 5, "everything put back")


def main():
    name = "soak: memory and descriptors flat, status and cpufreq agree, no boost of the dead"
    try:
        soak(int(sys.argv[1]), int(sys.argv[2]))
    except Exception:  # whatever it is, it is found
        print(f"not ok 1 - {name}")
        for line in (traceback.format_exc() +
                     subprocess.run(["journalctl", "-u", "wakegovd.service", "-n", "30", "-o", "cat"],
                                    capture_output=True, text=True, check=False).stdout).splitlines():
            print("# " + line)
        sys.exit(1)
    print(f"ok 1 - {name}")


main()
