#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tasks spread over two last-level caches: where they are kept, when that is let go, and what is put back."""
import os
import re
import signal
import statistics
import subprocess
import time
import unittest

import guest
import tap
from test_hand_back import Stream

CACHES = [{0, 1}, {2, 3}]
ALL = {0, 1, 2, 3}
WAKELOAD = f"{guest.BUILD}/tests/lab/wakeload"
CLASS = "apart"
CGROUPS = "/sys/fs/cgroup"
GROUP = f"{CGROUPS}/wakegov-lab"
# Before Linux 6.2 a cpuset that changes gives its tasks all of its CPUs.
KERNEL_KEEPS_AFFINITY = [int(n) for n in os.uname().release.split(".")[:2]] >= [6, 2]
# A parent that forks N children, tells their numbers, and waits with them. All at once they leave a cache no idle CPU.
FORKS = """
import os, sys, time
told = []
for i in range(int(sys.argv[1])):
    pid = os.fork()
    if not pid:
        sys.stdin.read()
        os._exit(0)
    told.append(pid)
    time.sleep(0.05)
print(*told, flush=True)
sys.stdin.read()
"""

def allowed(pid):
    """As the kernel has it, offline CPUs included."""
    return re.search(r"^Cpus_allowed:\s*(\S+)", guest.read(f"/proc/{pid}/status"), re.M).group(1)


def mask(cpus):
    return f"{sum(1 << cpu for cpu in cpus):x}"


def run_as(*command, **options):
    return subprocess.Popen([f"{guest.BUILD}/wakegovctl", "run", "--class", CLASS, "--", *command],
                            stdout=subprocess.PIPE, text=True, **options)


class Placement(unittest.TestCase):
    def setUp(self):
        self.daemon = None
        self.tasks = []
        self.addCleanup(self.clean_up)

    def clean_up(self):
        self.end_tasks()
        if self.daemon:
            self.daemon.stop(signal.SIGKILL)
            guest.restore()

    def end_tasks(self):
        while self.tasks:
            task = self.tasks.pop()
            guest.end_group(task)
            for stream in (task.stdin, task.stdout):
                if stream:
                    stream.close()

    def start(self):
        self.daemon = guest.Daemon(f"[class {CLASS}]\nplacement = fork-spread\n").start()

    def popen(self, *command, cpus=ALL, group=None, hinted=True):
        def prepare():
            if group:
                guest.write(f"{group}/cgroup.procs", 0)
            os.sched_setaffinity(0, cpus)

        run = run_as if hinted else lambda *command, **options: subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, **options)
        task = run(*command, stdin=subprocess.PIPE, start_new_session=True, preexec_fn=prepare)
        self.tasks.append(task)
        return task

    def sleeper(self, **options):
        """A task that has read nothing yet: it sleeps, hinted unless told otherwise."""
        task = self.popen("sh", "-c", "echo; read x", **options)
        self.assertEqual(task.stdout.readline(), "\n")
        return task

    def parent(self, n):
        """A parent of so many sleepers, and their numbers."""
        parent = self.popen("/usr/bin/python3", "-c", FORKS, str(n))
        return parent, [int(pid) for pid in parent.stdout.readline().split()]

    def groups(self):
        return [group for rule in self.daemon.call("Rules")["rules"] for group in rule["groups"]]

    def counted(self):
        """Groups that are placed, and that are let go."""
        status = self.daemon.call("Status")
        return [status["placed_groups"], status["released_groups"]]

    def wait_allowed(self, pid, cpus):
        guest.wait_for(lambda: allowed(pid) == mask(cpus), 10,
                       f"CPUs {cpus} of {pid}")

    def kept_to(self, pid):
        """The cache, once the task is kept to one."""
        guest.wait_for(lambda: allowed(pid) in [mask(cache) for cache in CACHES], 10, "a cache")
        return next(cache for cache in CACHES if mask(cache) == allowed(pid))

    def p99(self, workers, ms, pause_us, hinted):
        """Of wake-ups, in us."""
        command = (WAKELOAD, str(workers), "100", str(ms), str(pause_us))
        done = (run_as if hinted else lambda *command: subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True))(*command).communicate()[0].split()
        print(f"# {workers} workers{', placed' if hinted else ''}: {' '.join(done)}", flush=True)
        return int(done[2])

    def pairs(self, workers, pause_us):
        """The p99 alone and placed, three times."""
        return [[self.p99(workers, 500, pause_us, hinted) for hinted in (False, True)] for _ in range(3)]

    def test_spread_pays(self):
        """two workers of one waker wait half as long as without: the kernel looks in one cache"""
        self.start()
        alone, placed = map(statistics.mean, zip(*self.pairs(2, 100)))
        self.assertLess(placed, alone / 2)

    def test_full(self):
        """with four tasks for each CPU they are let go"""
        self.start()
        task = self.popen(WAKELOAD, "16", "100", "1000000", "0")
        guest.wait_for(lambda: any(group["tasks"] == 17 for group in self.groups()), 10, "17 tasks")
        self.wait_allowed(task.pid, ALL)
        time.sleep(1.2)  # the back-off ends, but nothing is forked
        self.assertEqual(allowed(task.pid), mask(ALL))
        self.assertIn("no CPU of the cache was idle", self.groups()[0]["why"])

    def test_crowd_waits(self):
        """four tasks for each CPU wait no longer for it after a wake-up than without a placement"""
        self.start()
        ratio = statistics.median(placed / alone for alone, placed in self.pairs(16, 0))
        self.assertLess(ratio, 1.5)  # three runs say little

    def test_exact(self):
        """what each had comes back: at a let-go, at the end, and after SIGKILL, to children as well"""
        self.start()
        free, pinned = self.sleeper(), self.sleeper(cpus={1, 2, 3})
        kept = self.kept_to(free.pid)
        self.wait_allowed(pinned.pid, kept & {1, 2, 3})
        self.daemon.stop()
        self.wait_allowed(free.pid, ALL)
        self.wait_allowed(pinned.pid, {1, 2, 3})
        self.assertNotIn("affinities", os.listdir("/run/wakegov"))
        self.end_tasks()

        self.start()
        parent = self.popen("sh", "-c", "read x; sleep 1000 & echo $!; read x", cpus={0, 2, 3})
        guest.wait_for(lambda: allowed(parent.pid) in ("1", "c"), 10, "the parent is kept")
        self.daemon.stop(signal.SIGKILL)
        parent.stdin.write("\n")
        parent.stdin.flush()
        child = int(parent.stdout.readline())
        self.assertEqual(allowed(child), allowed(parent.pid))
        guest.restore()
        self.assertEqual((allowed(parent.pid), allowed(child)), ("d", "d"))
        self.assertNotIn("affinities", os.listdir("/run/wakegov"))

    def test_others(self):
        """what somebody sets is theirs; an affinity outside of it is no way out"""
        self.start()
        task = self.sleeper()
        kept = self.kept_to(task.pid)
        os.sched_setaffinity(task.pid, {min(kept)})
        other = self.sleeper(cpus=ALL - kept)  # of another group, for which it is the only cache
        self.daemon.stop()
        self.assertEqual(allowed(task.pid), mask({min(kept)}))
        self.assertEqual(allowed(other.pid), mask(ALL - kept))
        self.assertIn("another program", self.daemon.log())

    def make_cpuset(self, *below):
        """The path of a cgroup with a cpuset, below others."""
        path = CGROUPS
        for name in "wakegov-lab", *below:
            guest.write(f"{path}/cgroup.subtree_control", "+cpuset")
            self.addCleanup(guest.write, f"{path}/cgroup.subtree_control", "-cpuset")
            path += f"/{name}"
            os.mkdir(path)
            self.addCleanup(self.end_cpuset, path)
        return path

    def end_cpuset(self, path):
        self.end_tasks()
        guest.wait_for(lambda: not guest.read(f"{path}/cgroup.procs"), 10, "an empty cpuset")
        os.rmdir(path)

    def change_cpuset(self, end, part):
        guest.write(f"{GROUP}/cpuset.cpus", "0,2-3")
        self.start()
        task = self.sleeper(group=GROUP)
        guest.wait_for(lambda: allowed(task.pid) in (mask({0}), mask({2, 3})), 10, "a cache")
        other = CACHES[allowed(task.pid) == mask({0})]
        left = {1, 2} if part else other
        guest.write(f"{GROUP}/cpuset.cpus", ",".join(map(str, left)))
        self.assertEqual(allowed(task.pid),
                         mask(left - other if part and KERNEL_KEEPS_AFFINITY else left))
        self.daemon.stop(end)
        guest.restore()
        self.assertEqual(allowed(task.pid), mask(left))
        guest.write(f"{GROUP}/cpuset.cpus", "0-3")
        self.assertEqual(allowed(task.pid), mask(ALL))

    def test_cpuset(self):
        """a cpuset that changes meanwhile: at the end, and after SIGKILL, the task has all that it allows"""
        self.make_cpuset()
        for end in signal.SIGTERM, signal.SIGKILL:
            for part in True, False:  # of the cache is left, or nothing
                with self.subTest(end=end.name, part=part):
                    self.change_cpuset(end, part)
                self.clean_up()  # of a case that failed, too

    def test_long_path(self):
        """a cgroup whose path has more than 192 characters: a rule finds its tasks, its cpuset bounds them"""
        path = self.make_cpuset("x" * 120, "y" * 120)
        guest.write(f"{path}/cpuset.cpus", "0,2")
        self.daemon = guest.Daemon("[rule deep]\ncgroup = /wakegov-lab/x*/y*\nplacement = fork-spread\n").start()
        task = self.sleeper(group=path, hinted=False)
        # Which cache is chosen depends on where it ran before its rule was found.
        guest.wait_for(lambda: allowed(task.pid) in (mask({0}), mask({2})), 10, "a cache, in the cpuset")
        self.daemon.stop()
        self.assertEqual(allowed(task.pid), mask({0, 2}))
        guest.write(f"{path}/cpuset.cpus", "0-3")
        self.assertEqual(allowed(task.pid), mask(ALL))

    def test_hand_back(self):
        """while the domains are handed back no task is placed, also none that is hinted then; after that all"""
        self.start()
        first = self.sleeper()
        self.kept_to(first.pid)
        lent = Stream(self.daemon, "HandBack", for_us=3600 * 1000000)
        lent.reply()
        second = self.sleeper()
        third = self.sleeper(hinted=False)
        subprocess.run([f"{guest.BUILD}/wakegovctl", "hint", str(third.pid), CLASS],
                       check=True, capture_output=True)
        time.sleep(2)
        for task in first, second, third:
            self.assertEqual(allowed(task.pid), mask(ALL))
        self.assertEqual(self.counted(), [0, 3])
        lent.close()
        for task in first, second, third:
            self.kept_to(task.pid)
        self.assertEqual(self.counted(), [3, 0])

    def test_offline(self):
        """the whole cache goes offline: let go, and what each had comes back"""
        self.start()
        parent, [child] = self.parent(1)
        self.wait_allowed(parent.pid, CACHES[0])
        self.wait_allowed(child, CACHES[1])
        for cpu in CACHES[1]:
            guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", 0)
        try:
            guest.wait_for(lambda: "offline" in self.groups()[0]["why"], 10, "the let-go")
            self.assertEqual((allowed(parent.pid), allowed(child)), (mask(CACHES[0]), mask(ALL)))
        finally:
            for cpu in CACHES[1]:
                guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", 1)
        self.daemon.stop()
        self.assertEqual((allowed(parent.pid), allowed(child)), (mask(ALL), mask(ALL)))

    def test_forks(self):
        """as many in each cache, and all of them free again in the end"""
        self.start()
        parent, children = self.parent(7)
        tasks = [parent.pid, *children]
        guest.wait_for(lambda: sorted(allowed(pid) for pid in tasks) == ["3"] * 4 + ["c"] * 4, 10, "as many")
        self.daemon.stop()
        for pid in tasks:
            self.assertEqual(allowed(pid), mask(ALL))


if __name__ == "__main__":
    tap.main()
