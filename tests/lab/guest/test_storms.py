#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Caps, and tasks that fork, exec, change user, cgroup and name, and reuse numbers."""
import os
import signal
import subprocess
import sys
import time
import unittest

import guest
import tap
from clamps import clamps_of

CAPPED_KHZ = 600000  # the lowest OPP at or above 30 % of 1800 MHz
GROUP = "/sys/fs/cgroup/wakegov-storm"
NOBODY = 65534
NO_CLAMPS = (0, 1024)
PATIENCE_S = 5
STORM_S = 2

RULES = f"""[rule name]
comm = stormy*
cap = 30%
[rule user]
user = {NOBODY}
comm = wg-*
cap = 40%
[rule group]
cgroup = /wakegov-storm
kernel-thread = no
cap = 50%
"""
CAP_OF = {"name": 307, "user": 410, "group": 512}

# Each child does some of it at random and ends, but for the last ones, which stay as they are: of
# these there is one for each cap that may be due.
STORM = f"""
import ctypes, os, random, signal, sys, time
libc = ctypes.CDLL(None)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
random.seed(int(sys.argv[1]))
def name(text):
    libc.prctl(15, text.encode(), 0, 0, 0)
def move(group):
    with open(group + "/cgroup.procs", "w") as file:
        file.write("0")
def burn():
    until = time.monotonic() + random.choice((0.0005, 0.01))
    while time.monotonic() < until:
        pass
def become_nobody():
    name("wg-nobody")
    os.setuid({NOBODY})
def fork_on():
    if os.fork() == 0:
        burn()
DEEDS = (burn, fork_on, become_nobody, lambda: name("plain"), lambda: name("stormy-again"),
         lambda: move({GROUP!r}), lambda: move("/sys/fs/cgroup"))
LAST = (lambda: name("stormy-again"), become_nobody,
        lambda: (name("plain"), move({GROUP!r})), lambda: name("plain"))
def do_some():
    for _ in range(random.randrange(4)):
        try:
            random.choice(DEEDS)()
        except OSError:
            pass
name("stormy")
end = time.monotonic() + float(sys.argv[2])
left = 12
while left:
    is_last = time.monotonic() >= end
    left -= is_last
    if os.fork() == 0:
        if is_last and left < len(LAST):
            LAST[left]()
            signal.pause()
        random.seed(os.getpid())
        do_some()
        if random.randrange(4) == 0:
            stays = ["3600"] if is_last else ["0.01"]
            os.execv("/tmp/" + random.choice(("stormy-sleep", "plain-sleep")), ["sleep"] + stays)
        if is_last:
            signal.pause()
        os._exit(0)
    time.sleep(0.01)
signal.pause()
"""


def due_cap(pid):
    """What the rules say of a task by what /proc says of it."""
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        comm = file.read().strip()
    uid = os.stat(f"/proc/{pid}").st_uid
    group = guest.read(f"/proc/{pid}/cgroup").rsplit(":", 1)[1]
    if comm.startswith("stormy"):
        return CAP_OF["name"]
    if uid == NOBODY and comm.startswith("wg-"):
        return CAP_OF["user"]
    return CAP_OF["group"] if group == "/wakegov-storm" else 1024


class CapsTest(unittest.TestCase):
    def start(self, *command, cpus=None, **options):
        """A process of its own group, ended with the test."""
        process = subprocess.Popen(command, start_new_session=True, preexec_fn=lambda:
                                   os.sched_setaffinity(0, cpus or range(os.cpu_count())), **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        guest.end_group(process)
        if process.stdout:
            process.stdout.close()


class Neighbours(CapsTest):
    def test_neighbours(self):
        """uclamp: who runs for short beside a capped task carries its cap, and only that long"""
        guest.stay_off({1}, self)
        daemon = guest.KeptDaemon.with_policy("[wakegov]\nbackend = uclamp\n"
                                              "[rule low]\ncomm = capped\ncap = 30%\n")
        short = self.start(sys.executable, "-S", "-c", "import time\nwhile True: time.sleep(0.02)", cpus={1})
        time.sleep(0.5)
        self.assertEqual(clamps_of(short.pid), NO_CLAMPS)
        loop = self.start(guest.link("capped", sys.executable), "-S", "-c", "while True: pass", cpus={1})
        guest.wait_for(lambda: clamps_of(short.pid) == (0, CAP_OF["name"]), PATIENCE_S,
                       "the neighbour's cap")
        self.end(loop)
        guest.wait_for(lambda: clamps_of(short.pid) == NO_CLAMPS, PATIENCE_S, "no cap again")
        # Kernel threads that cannot be clamped are neighbours too, and no news.
        self.assertNotIn("cannot be clamped", daemon.log())


class BadLevels(CapsTest):
    def test_said_once(self):
        """a cap below the lowest OPP, and a floor above another rule's cap: said once, cap holds"""
        policy = ("[wakegov]\nbackend = setspeed\n[rule least]\ncomm = nosuch\ncap = 1%\n"
                  "[rule low]\ncomm = capped\ncap = 30%\n"
                  "[rule high]\ncomm = cap*\nfloor = 80%\n")
        daemon = guest.KeptDaemon.with_policy(policy)
        for cpu in (0, 1):
            self.start(guest.link("capped", sys.executable), "-S", "-c", "while True: pass", cpus={cpu})
        guest.wait_for(lambda: "its floor is above the cap" in daemon.log(), PATIENCE_S,
                       "the floor above the cap said")
        guest.wait_for(lambda: guest.frequency("policy0") == CAPPED_KHZ, PATIENCE_S, "the cap")
        log = daemon.log()
        self.assertEqual(log.count(":5: [rule least] cap is below the lowest frequency"), 1, log)
        self.assertEqual(log.count(":9: [rule high] for tasks that [rule low]"), 1, log)


class Ends(CapsTest):
    MANY = 400
    POLICY = "[wakegov]\nbackend = setspeed\n[rule ended]\ncomm = ended\ncap = 30%\n"
    # They outlive the scan that follows their start.
    CROWD = f"""
import ctypes, os, signal
ctypes.CDLL(None).prctl(15, b"ended", 0, 0, 0)
for _ in range({MANY}):
    if os.fork() == 0:
        signal.pause()
print(flush=True)
signal.pause()
"""

    def test_at_once(self):
        """tasks that end at once on one CPU, where the kernel skips our program for some: none is kept"""
        daemon = guest.KeptDaemon.with_policy(self.POLICY)
        crowd = self.start(sys.executable, "-S", "-c", self.CROWD, cpus={1}, stdout=subprocess.PIPE)
        crowd.stdout.readline()
        tasks = lambda: daemon.call("Rules")["rules"][0]["tasks"]
        guest.wait_for(lambda: tasks() == self.MANY + 1, PATIENCE_S, "all are known")
        time.sleep(2)
        self.end(crowd)
        guest.wait_for(lambda: tasks() == 0, 2, "none is kept")
        tap.note(f"the kernel skipped {daemon.call('Status')['drops']['missed']} runs of programs")


class Stops(CapsTest):
    MANY = 300
    POLICY = "[wakegov]\nbackend = uclamp\n[rule forks]\ncomm = forks\ncap = 30%\n"
    FORKS = f"""
import ctypes, os, signal, time
ctypes.CDLL(None).prctl(15, b"forks", 0, 0, 0)
for n in range(2 * {MANY}):
    if os.fork() == 0:
        signal.pause()
    if n == {MANY}:
        print(flush=True)
    if n > {MANY}:
        time.sleep(0.0002)
print(flush=True)
signal.pause()
"""

    def test_end(self):
        """uclamp: the daemon ends while a capped task forks: nobody keeps the cap, nor inherits it"""
        self.check(lambda daemon: self.assertEqual(daemon.stop(), 0))

    def test_restore(self):
        """uclamp: what a killed daemon left is restored while a capped task forks: nobody keeps the cap"""
        def kill(daemon):
            daemon.stop(signal.SIGKILL)
            guest.restore()
        self.check(kill)

    def check(self, end):
        daemon = guest.Daemon(self.POLICY)
        daemon.start()
        self.addCleanup(daemon.stop)
        forks = self.start(sys.executable, "-S", "-c", self.FORKS, stdout=subprocess.PIPE)
        forks.stdout.readline()
        self.assertEqual(clamps_of(forks.pid), (0, CAP_OF["name"]))
        end(daemon)
        before = len(Storms.members(forks))
        forks.stdout.readline()
        tasks = Storms.members(forks)
        tap.note(f"{before} tasks at the daemon's end, {len(tasks)} in all")
        self.assertLess(before, len(tasks))
        self.assertEqual({pid: clamps_of(pid) for pid in tasks if clamps_of(pid) != NO_CLAMPS}, {})


def wake(pid):
    """A task that ran for short beside one with a lower cap has that one's until it next wakes."""
    os.kill(pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGCONT)


class Storms(CapsTest):
    def setUp(self):
        super().setUp()
        os.mkdir(GROUP)
        self.addCleanup(self.remove_group)
        self.daemon = guest.KeptDaemon.with_policy("[wakegov]\nbackend = uclamp\n" + RULES)

    @staticmethod
    def remove_group():
        guest.wait_for(lambda: not guest.read(f"{GROUP}/cgroup.procs"), PATIENCE_S, "an empty group")
        os.rmdir(GROUP)

    @staticmethod
    def members(storm):
        """All processes of its session that are not about to end."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rsplit(") ", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == storm.pid and fields[0] not in "ZX":
                found.append(int(pid))
        return found

    def wait_for_calm(self, storms):
        """The processes that are left when no more end."""
        seen = {}

        def is_calm():
            seen["before"] = seen.get("now")
            seen["now"] = [pid for storm in storms for pid in self.members(storm)]
            time.sleep(1)
            return seen["now"] == seen["before"] and len(seen["now"]) > 12 * len(storms)
        guest.wait_for(is_calm, STORM_S + 3 * PATIENCE_S, "the end of the storm")
        return seen["now"]

    @staticmethod
    def wrong(pids):
        """Those whose clamps are not what is due."""
        return {pid: (clamps_of(pid), due_cap(pid)) for pid in pids
                if clamps_of(pid) != (0, due_cap(pid))}

    def is_right(self, pids):
        for pid, ((_, most), due) in self.wrong(pids).items():
            if most < due:
                wake(pid)
        time.sleep(0.5)
        return not self.wrong(pids)

    def test_storm(self):
        """uclamp: through forks, execs, users, cgroups and names each has the cap that is due"""
        guest.link("stormy-sleep", "/bin/sleep")
        guest.link("plain-sleep", "/bin/sleep")
        storms = [self.start(sys.executable, "-S", "-c", STORM, str(seed), str(STORM_S))
                  for seed in range(2)]
        left = self.wait_for_calm(storms)
        try:
            guest.wait_for(lambda: self.is_right(left), PATIENCE_S, "every cap as it is due")
        except AssertionError:
            self.fail(f"clamps and the cap that is due: {self.wrong(left)}")
        dues = {due_cap(pid) for pid in left}
        matches = sum(rule["matches"] for rule in self.daemon.call("Rules")["rules"])
        tap.note(f"{matches} matches, {len(left)} tasks left with caps {sorted(dues)}")
        self.assertEqual(dues, {*CAP_OF.values(), 1024})
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual({clamps_of(pid) for pid in left}, {NO_CLAMPS})
        self.assertFalse(os.path.exists("/run/wakegov/clamps"))

    def fork_as(self, pid, deed):
        """A child with that number: the kernel gives the next free one after the last."""
        for _ in range(100):
            guest.write("/proc/sys/kernel/ns_last_pid", pid - 1)
            child = os.fork()
            if not child:
                deed()
                signal.pause()
            if child == pid:
                self.addCleanup(os.waitpid, child, 0)
                self.addCleanup(os.kill, child, signal.SIGKILL)
                return
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.fail(f"somebody else always got {pid}")

    def test_reused_number(self):
        """uclamp: a number that is used again brings nothing along, and gets what is due"""
        capped = self.start(guest.link("stormy-sleep", "/bin/sleep"), "3600")
        pid = capped.pid
        guest.wait_for(lambda: clamps_of(pid) == (0, CAP_OF["name"]), PATIENCE_S, "the cap")
        self.end(capped)
        # As another program would: a clamp of its own, which nobody may take away.
        self.fork_as(pid, lambda: subprocess.run(f"uclampset -M 900 -p {pid}".split(), check=True))
        guest.wait_for(lambda: wake(pid) or clamps_of(pid) == (0, 900), PATIENCE_S, "its own clamp")
        names = [rule["rule"]["name"] for rule in
                 self.daemon.call("ExplainRules", pid=pid)["rules"] if rule["matches"]]
        self.assertEqual(names, [])
        self.daemon.stop()
        self.assertEqual(clamps_of(pid), (0, 900))

    def test_reused_for_capped(self):
        """uclamp: a capped task whose number a task without rules had before is capped"""
        free = self.start("/bin/sleep", "3600")
        self.end(free)

        def become_capped():
            os.execv(guest.link("stormy-sleep", "/bin/sleep"), ["sleep", "3600"])
        self.fork_as(free.pid, become_capped)
        guest.wait_for(lambda: clamps_of(free.pid) == (0, CAP_OF["name"]), PATIENCE_S, "the cap")


if __name__ == "__main__":
    tap.main()
