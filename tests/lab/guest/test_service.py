#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The installed unit under a real systemd as PID 1.

Run with lab run --init systemd --packages power-profiles-daemon,tlp.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import guest
import tap
from clamps import clamps_of
from installed import Installed, POLICY, SETSPEED, drop_in, journal, run, show

CAP_SYS_NICE = 1 << 23
STATE = "/var/lib/wakegov"
TLP_CONF = "/etc/tlp.d/90-test.conf"


def matched(pid):
    """The names of the rules that match the task."""
    rules = json.loads(run("wakegovctl", "--json", "rules", str(pid)).stdout)["rules"]
    return [rule["rule"]["name"] for rule in rules if rule["matches"]]


class Service(Installed):
    def test_start_stop(self):
        """the unit starts, governs, answers anyone; stopped it restores everything, and who connects starts nothing"""
        nobody = ["setpriv", "--reuid=65534", "--clear-groups", "wakegovctl", "status"]
        run("systemctl", "start", "wakegovd.service")
        self.assertEqual(show("ActiveState"), "active")
        self.assertEqual(guest.read(guest.policy("policy0", "scaling_governor")), "userspace")
        self.assertIn("policy0", run(*nobody).stdout)
        # What is in /run outlasts the daemon, as long as the machine runs.
        boot = "/run/wakegov/wakegov.conf.d/40-boot.conf"
        os.makedirs(os.path.dirname(boot), exist_ok=True)
        guest.write(boot, "")
        self.addCleanup(os.remove, boot)
        run("systemctl", "stop", "wakegovd.service")
        self.assertTrue(os.path.exists(boot))
        self.assertEqual(guest.snapshot(), self.before)
        self.assertIn("restored policy0 scaling_governor to schedutil", journal())
        guest.write(POLICY, "[io-boost]\nmin-rate = 1000\n")
        for _ in range(6):  # at the sixth systemd would say that it was started too often
            done = run(*nobody, check=False)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("wakegovd is not running", done.stderr)
        self.assertEqual((show("ActiveState"), show("Result")), ("inactive", "success"))

    def test_conflicts(self):
        """power-profiles-daemon and TLP themselves are named, and what TLP sets is left to it"""
        self.addCleanup(run, "systemctl", "stop", "power-profiles-daemon.service")
        run("systemctl", "start", "power-profiles-daemon.service")
        run("systemctl", "start", "wakegovd.service")
        self.assertIn("power-profiles-daemon: runs", run("wakegovctl", "doctor", check=False).stdout)
        for name in ("policy0", "policy2"):
            self.addCleanup(guest.write, guest.policy(name, "scaling_governor"), "schedutil")
        guest.write(TLP_CONF, "CPU_SCALING_GOVERNOR_ON_AC=performance\n")
        self.addCleanup(os.remove, TLP_CONF)
        told = journal().count("wakegov leaves it alone")
        # On AC, as a machine without a battery is.
        run("tlp", "start")

        def states():
            status = json.loads(run("wakegovctl", "--json", "status").stdout)
            return {domain["state"] for domain in status["domains"]}

        guest.wait_for(lambda: states() == {"yielded"}, 10, "both domains left to TLP")
        self.assertIn("TLP: runs", run("wakegovctl", "doctor", check=False).stdout)
        self.assertEqual(journal().count("wakegov leaves it alone"), told + 2)
        run("systemctl", "stop", "wakegovd.service")
        self.assertEqual(guest.read(guest.policy("policy0", "scaling_governor")), "performance")

    def test_killed(self):
        """after SIGKILL the unit restores every control, and is about to start the daemon again"""
        run("systemctl", "start", "wakegovd.service")
        pid = int(show("MainPID"))
        drop_in("RestartSec=10min")
        os.kill(pid, signal.SIGKILL)
        self.restored("signal")

    def restored(self, result):
        """Systemd's own restart, which test_groups waits for, would leave a moment for the look."""
        guest.wait_for(lambda: show("SubState") == "auto-restart", 30, "its end")
        self.assertEqual(show("Result"), result)
        self.assertEqual(guest.snapshot(), self.before)

    def past(self, *options, user=()):
        done = run(*user, "wakegovctl", "decisions", "--since", "1h", "--json", *options)
        return [d for d in json.loads(done.stdout)["decisions"] if d["realtime_us"]], done.stderr

    @staticmethod
    def kept():
        """In bytes: what was decided is written within a minute."""
        path = f"{STATE}/history.1"
        return os.path.getsize(path) if os.path.exists(path) else 0

    def test_past(self):
        """what was decided a minute before a SIGKILL is listed and explained, for root"""
        guest.stay_off({2, 3}, self)
        run("rm", "-rf", STATE)
        run("systemctl", "start", "wakegovd.service")
        pid = int(show("MainPID"))
        with guest.busy_loop(3):
            guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 10, "the highest OPP")
            time.sleep(2)
            busy = time.strftime("%Y-%m-%d %H:%M:%S")
        guest.wait_for(lambda: guest.frequency("policy2") == 400000, 10, "the lowest OPP")
        kept = self.kept()
        guest.wait_for(lambda: self.kept() > kept, 70, "what was decided kept")
        os.kill(pid, signal.SIGKILL)
        guest.wait_for(lambda: show("ActiveState") == "active" and int(show("MainPID")) not in (0, pid),
                       20, "another daemon")
        decisions, told = self.past("policy2")
        tap.note(f"{len(decisions)} decisions of policy2 before the SIGKILL, in "
                 f"{os.path.getsize(STATE + '/history.1')} bytes")
        self.assertEqual(told, "")
        targets = [d["target_khz"] for d in decisions]
        self.assertIn(1400000, targets)
        self.assertIn(400000, targets[targets.index(1400000):])
        explained = run("wakegovctl", "explain", "policy2", "--at", busy).stdout
        self.assertRegex(explained, r"chosen +1400 MHz")
        self.assertRegex(explained, r"changed +(from \d+ MHz )?to 1400 MHz at (\d\d-\d\d )?\d\d:")
        nobody = ("setpriv", "--reuid=65534", "--clear-groups")
        decisions, told = self.past(user=nobody)
        # Those of the daemon that runs are everyone's.
        began_us = int(show("ExecMainStartTimestampMonotonic"))
        self.assertEqual([d for d in decisions if d["monotonic_us"] < began_us], [])
        self.assertIn("only root sees those", told)
        self.assertIn("Only root sees", run(*nobody, "wakegovctl", "explain", "policy2", "--at", busy,
                                           check=False).stderr)
        self.assertEqual(os.stat(STATE).st_mode & 0o777, 0o700)
        self.assertNotIn(" is left out", journal())

    def test_no_room_for_the_past(self):
        """a full disk is said once, and is not in the way; history = no keeps nothing"""
        run("mkdir", "-p", STATE)
        run("mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", STATE)
        self.addCleanup(run, "umount", STATE)
        guest.write(f"{STATE}/other", "")
        with open(f"{STATE}/other", "wb") as other:
            other.write(bytes(8192))
        before = journal().count("cannot write to /var/lib/wakegov")
        run("systemctl", "start", "wakegovd.service")
        with guest.busy_loop(3):
            guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 10, "the highest OPP")
        guest.wait_for(lambda: journal().count("cannot write to /var/lib/wakegov") > before, 70, "what is wrong")
        self.assertEqual(journal().count("cannot write to /var/lib/wakegov"), before + 1)
        run("systemctl", "stop", "wakegovd.service")
        os.remove(f"{STATE}/other")
        guest.write(POLICY, "[wakegov]\nhistory = no\n")
        run("systemctl", "start", "wakegovd.service")
        with guest.busy_loop(3):
            guest.wait_for(lambda: guest.frequency("policy2") == 1400000, 10, "the highest OPP")
        run("systemctl", "stop", "wakegovd.service")
        self.assertEqual([name for name in os.listdir(STATE) if name.startswith(("history", "account"))
                          and os.path.getsize(f"{STATE}/{name}")], [])

    def test_watchdog(self):
        """a daemon that hangs is ended by the watchdog, and every control restored"""
        drop_in("WatchdogSec=10s\nRestartSec=10min")
        run("systemctl", "start", "wakegovd.service")
        pid, fed = int(show("MainPID")), show("WatchdogTimestampMonotonic")
        guest.wait_for(lambda: show("WatchdogTimestampMonotonic") != fed, 10, "the watchdog fed")
        self.assertEqual(int(show("MainPID")), pid)
        os.kill(pid, signal.SIGSTOP)
        self.restored("watchdog")

    def test_failed_start(self):
        """a start on a bad policy fails with its file and line, and changes nothing"""
        guest.write(POLICY, "[io-boost]\nmin-rate = 1000\n")
        drop_in("Restart=no")
        self.assertNotEqual(run("systemctl", "start", "wakegovd.service", check=False).returncode, 0)
        self.assertEqual(show("Result"), "exit-code")
        self.assertIn(f"{POLICY}:2: [io-boost] min-rate: found '1000'", journal())
        self.assertEqual(guest.snapshot(), self.before)

    def test_clamps(self):
        """under the unit's restrictions auto clamps tasks of other users and whole units, killed or stopped"""
        os.remove(SETSPEED)
        self.addCleanup(guest.write, SETSPEED, "[wakegov]\nbackend = setspeed\n")
        guest.write(POLICY, "[rule task]\ncomm = capped\ncap = 30%\n"
                            "[rule lab]\nunit = capped-lab.service\ncap = 30%\n")
        run("systemd-run", "--unit=capped-lab", "sleep", "1000")
        self.addCleanup(run, "systemctl", "stop", "capped-lab.service")
        unit = int(guest.read("/sys/fs/cgroup/system.slice/capped-lab.service/cgroup.procs"))
        run("systemctl", "start", "wakegovd.service")
        self.assertIn("backend uclamp", run("wakegovctl", "status").stdout)
        task = guest.ended_with(self, subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups",
                                                        guest.link("capped", "/bin/sleep"), "1000"]))

        def wait_capped():
            for pid in (unit, task.pid):
                guest.wait_for(lambda: clamps_of(pid)[1] < 1024, 30, "a clamp")

        wait_capped()
        pid = int(show("MainPID"))
        os.kill(pid, signal.SIGKILL)
        self.wait_active(pid)
        wait_capped()
        self.assertNotIn("cannot be clamped", journal())
        run("systemctl", "stop", "wakegovd.service")
        self.assertIn("restored the clamps of", journal())
        self.assertEqual([clamps_of(pid) for pid in (unit, task.pid)], [(0, 1024)] * 2)

    def test_frozen_reader(self):
        """a process whose command line cannot be read without waiting for ever makes nobody wait"""
        with tempfile.TemporaryDirectory() as directory:
            frozen = subprocess.Popen([sys.executable, f"{guest.REPO}/tests/lib/frozen.py", directory],
                                      stdout=subprocess.PIPE, text=True, start_new_session=True)
            self.addCleanup(frozen.wait)
            self.addCleanup(os.killpg, frozen.pid, signal.SIGKILL)
            self.assertEqual(frozen.stdout.readline(), "frozen\n")
        reader = subprocess.Popen(["cat", f"/proc/{frozen.pid}/cmdline"], stdout=subprocess.DEVNULL)
        with self.assertRaises(subprocess.TimeoutExpired, msg="who reads it does not wait"):
            reader.wait(2)
        guest.write(POLICY, "[rule marked]\ncommand = *wg-marker*\ncap = 40%\n"
                            "[rule python]\nexe = */python3*\ncap = 50%\n")
        for command in ("start", "reload"):
            run("systemctl", command, "wakegovd.service")
            shown = run("wakegovctl", "rules", str(frozen.pid)).stdout
            self.assertRegex(shown, r"no +marked .*: its command is not known \(")
            self.assertRegex(shown, r"yes +python ")
            run("wakegovctl", "tasks")
        self.assertEqual(show("NRestarts"), "0")

    def test_groups_of_users(self):
        """a cgroup that is merely named like a unit is no unit"""
        os.remove(SETSPEED)
        self.addCleanup(guest.write, SETSPEED, "[wakegov]\nbackend = setspeed\n")
        run("systemd-run", "--unit=lab-users", "-p", "Delegate=yes", "sleep", "1000")
        self.addCleanup(run, "systemctl", "stop", "lab-users.service")
        unit = "/sys/fs/cgroup/system.slice/lab-users.service"
        task = int(guest.read(f"{unit}/cgroup.procs"))
        os.mkdir(f"{unit}/postgresql.service")
        guest.write(f"{unit}/postgresql.service/cgroup.procs", str(task))
        guest.write(POLICY, "[rule lab]\ncgroup = /system.slice/lab-*/postgresql.service\ncap = 30%\n"
                            "[rule unit]\nunit = postgresql.service\nfloor = 20%\n")
        run("systemctl", "start", "wakegovd.service")
        guest.wait_for(lambda: clamps_of(task) == (0, 307), 10, "its cap")
        self.assertEqual(matched(task), ["lab"])

    def test_energy_model(self):
        """the unit reads the kernel's energy model, whose inefficient OPPs are skipped; doctor names them"""
        debug = "/sys/kernel/debug"
        run("mount", "-t", "tmpfs", "made-up", debug)
        self.addCleanup(run, "umount", debug)
        for mhz, mw in ((400, 49), (600, 84), (1000, 900), (1400, 1000), (1800, 2278)):
            os.makedirs(f"{debug}/energy_model/cpu0/ps:{mhz}000")
            guest.write(f"{debug}/energy_model/cpu0/ps:{mhz}000/power", f"{mw}000")
        guest.write(POLICY, "[domain policy0]\nmin-frequency = 1GHz\n")
        run("systemctl", "start", "wakegovd.service")
        why = ("1000 MHz would suffice, but takes 26.0 % more energy for the same work, says the kernel's "
               "energy model")
        # While a CPU of the domain is idle: on a busy host it rarely is.
        explain = lambda: " ".join(run("wakegovctl", "explain", "policy0").stdout.split())
        guest.wait_for(lambda: re.search("runs at 1400 MHz.*" + re.escape(why), explain()), 30,
                       "an efficient OPP, with its reason")
        said = " ".join(run("wakegovctl", "doctor", check=False).stdout.split())
        self.assertIn("policy0: energy of the OPPs: by the kernel's energy model; inefficient: 1000 "
                      "MHz", said)

    def test_hardened(self):
        """the unit is as tight as systemd can judge"""
        done = run("systemd-analyze", "security", "--no-pager", "wakegovd.service", check=False)
        exposure = re.search(r"Overall exposure level for wakegovd.service: ([\d.]+)", done.stdout)
        tap.note(f"systemd-analyze security: exposure {exposure.group(1)} of 10")
        self.assertLessEqual(float(exposure.group(1)), 1.4)

    def test_hotplug_after_start(self):
        """a domain that was offline at the start is governed when it comes, by one restart"""
        def set_online(value):
            for cpu in (2, 3):
                guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", value)

        def states():
            try:
                domains = guest.call("/run/wakegov/io.wakegov", "Domains")["domains"]
            except OSError:
                return {}
            return {domain["name"]: domain["state"] for domain in domains}
        self.addCleanup(set_online, 1)
        set_online(0)
        run("systemctl", "start", "wakegovd.service")
        self.assertEqual(states(), {"policy0": "driven"})
        restarts = int(show("NRestarts"))
        set_online(1)
        guest.wait_for(lambda: states() == {"policy0": "driven", "policy2": "driven"}, 30, "both")
        self.assertEqual(int(show("NRestarts")), restarts + 1)
        run("systemctl", "stop", "wakegovd.service")


class Running(Installed):
    """What needs a unit that runs, and leaves it so: one start for all of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.unit_before = guest.snapshot()
        run("systemctl", "start", "wakegovd.service")

    @classmethod
    def tearDownClass(cls):
        run("systemctl", "stop", "wakegovd.service")
        if guest.snapshot() != cls.unit_before:
            raise AssertionError("not everything was put back")

    def setUp(self):
        self.assertEqual(show("ActiveState"), "active")
        self.addCleanup(run, "systemctl", "reload", "wakegovd.service")
        self.addCleanup(lambda: os.path.exists(POLICY) and os.remove(POLICY))

    def test_journal(self):
        """what the journal says carries ids, fields and, with journalctl -x, an explanation"""
        run("journalctl", "--update-catalog")
        governor = guest.policy("policy0", "scaling_governor")
        self.addCleanup(run, "wakegovctl", "adopt")
        self.addCleanup(guest.write, governor, "schedutil")
        guest.write(governor, "performance")
        yielded = ("MESSAGE_ID=0c5a9832680d4d0e974fdb168b96609d", "WAKEGOV_DOMAIN=policy0")

        def entries(*options):
            run("journalctl", "--sync")
            return run("journalctl", *options, *yielded, "--no-pager", check=False).stdout

        guest.wait_for(lambda: entries("-o", "json").strip(), 10, "the message")
        entry = json.loads(entries("-o", "json").splitlines()[-1])
        self.assertEqual((entry["PRIORITY"], entry["SYSLOG_IDENTIFIER"], entry["_SYSTEMD_UNIT"]),
                         ("5", "wakegovd", "wakegovd.service"))
        self.assertIn("leaves it alone", entry["MESSAGE"])
        self.assertIn("Subject: policy0 was left to another program", entries("-x"))

    def test_reload(self):
        """a reload reads the policy again, or fails and keeps the old one whole; it tells each warning"""
        guest.write(POLICY, "[domain policy0]\nmin-frequency = 1GHz\n")
        run("systemctl", "reload", "wakegovd.service")
        guest.wait_for(lambda: guest.frequency("policy0") >= 1000000, 5, "the new minimum")
        odd = "[domain policy0]\nmin-frequency = 1GHz\n[rule odd]\nuser = nobody-at-all\n"
        guest.write(POLICY, odd)
        warned = run("wakegovctl", "--json", "reload")
        for warning in ("has no effect: set cap", "nobody-at-all does not exist here"):
            self.assertIn(warning, str(json.loads(warned.stdout)["warnings"]))
            self.assertIn(warning, journal())
        guest.write(POLICY, "[domain policy0]\nmin-frequency = 1\n")
        by_systemd = run("systemctl", "reload", "wakegovd.service", check=False)
        self.assertNotEqual(by_systemd.returncode, 0)
        self.assertEqual(journal().count("min-frequency: found '1'"), 1)
        self.assertEqual(show("ActiveState"), "active")
        refused = run("wakegovctl", "reload", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"{POLICY}:2:", refused.stderr)
        self.assertGreaterEqual(guest.frequency("policy0"), 1000000)
        denied = run("setpriv", "--reuid=65534", "--clear-groups", "wakegovctl", "reload",
                     check=False)
        self.assertEqual(denied.returncode, 1)
        self.assertIn("root", denied.stderr)

    def test_idle(self):
        """the idle service is woken by nothing but its watchdog"""
        tracing = "/sys/kernel/tracing"
        guest.write(f"{tracing}/trace_clock", "mono")
        guest.write(f"{tracing}/events/sched/sched_waking/filter", f"pid == {show('MainPID')}")
        guest.write(f"{tracing}/events/sched/sched_waking/enable", 1)
        # What this test itself does moves a clock, which is kept a minute later.
        begin = time.monotonic() + 75
        time.sleep(165)
        woken = sum(begin <= float(at) < begin + 90 for at in re.findall(
            r" ([\d.]+): sched_waking", guest.read(f"{tracing}/trace")))
        tap.note(f"{woken} wake-ups in 90 s under systemd, watchdog included")
        self.assertIn(woken, range(4, 7))  # it is fed each 15 to 22 s

    def test_capabilities(self):
        """a daemon that governs has CAP_SYS_NICE and no other, and attaches programs all the same"""
        self.wait_active()
        status = guest.read(f"/proc/{show('MainPID')}/status")
        for name, kept in (("Prm", CAP_SYS_NICE), ("Eff", CAP_SYS_NICE), ("Inh", 0), ("Amb", 0)):
            self.assertEqual(int(re.search(rf"Cap{name}:\s+(\w+)", status).group(1), 16), kept, name)

        def states():
            programs = guest.call("/run/wakegov/io.wakegov", "Status")["programs"]
            return {program["name"]: program["state"] for program in programs}
        start = "block_io_start" if states()["block_io_start"] != "missing" else "block_rq_issue"
        disk = guest.null_blk()
        # What read at the boot may be looked for, which ends with requests: too few here to be learnt.
        slow = guest.start_load("psync", "--file", disk, "--time", "1000", "--cycles", "40000000")
        guest.wait_for(lambda: states()[start] == "not-needed", 10, "nothing to learn")
        slow.terminate()
        slow.communicate()
        load = guest.start_load("psync", "--file", disk, "--time", "1000")
        guest.wait_for(lambda: states()[start] == "attached", 10, "a learning period")
        load.terminate()
        load.communicate()
        # Lent to another governor, all are detached; afterwards they are attached anew.
        run("wakegovctl", "benefit", "--for", "16s", "--block", "1s", check=False)
        guest.write(POLICY, "[rule any]\ncomm = wg-*\ncap = 30%\n")
        run("wakegovctl", "reload")
        self.assertFalse({"failed", "paused"} & set(states().values()), states())

    def test_strange_name(self):
        """a task's name makes neither a second line nor an escape sequence of the journal"""
        task = guest.ended_with(self, subprocess.Popen(["/usr/bin/python3", "-c", "import ctypes, time\n"
                                                        "ctypes.CDLL(None).prctl(15, b'\\x1b[31m\\nend 1\\xff', 0, 0, 0)\n"
                                                        "print('named', flush=True)\ntime.sleep(1000)"],
                                                       stdout=subprocess.PIPE))
        self.assertEqual(task.stdout.readline(), b"named\n")
        run("wakegovctl", "override", str(task.pid), "--max", "1GHz")
        listed = run("wakegovctl", "override", "list").stdout
        self.assertIn("?[31m?end 1\ufffd", listed)

        def messages():
            run("journalctl", "--sync")
            found = run("journalctl", "-o", "json", f"WAKEGOV_PID={task.pid}", "--no-pager")
            return [json.loads(line) for line in found.stdout.splitlines()]

        guest.wait_for(messages, 10, "the message")
        self.assertEqual(messages()[-1]["WAKEGOV_TASK"], "?[31m?end 1?")
        self.assertIn(f"pid {task.pid} (?[31m?end 1?)", messages()[-1]["MESSAGE"])

    def test_programs(self):
        """under the unit's restrictions rules know the program and the arguments of anybody's task"""
        guest.write(POLICY, "[rule sleeper]\nexe = */sleep\ncap = 30%\n"
                            "[rule marked]\ncommand = */python3 *wg-marker\ncap = 40%\n")
        nobody = ["setpriv", "--reuid=65534", "--clear-groups"]
        reads = [*nobody, sys.executable, "-c", "import sys; [0 for line in sys.stdin]", "wg-marker"]

        def popen(command):
            task = guest.ended_with(self, subprocess.Popen(command, stdin=subprocess.PIPE))
            return task

        def both():
            tasks = popen([*nobody, "sleep", "1000"]), popen(reads)
            guest.wait_for(lambda: [guest.read(f"/proc/{task.pid}/comm") for task in tasks] ==
                           ["sleep", "python3"], 20, "they run")
            return tasks

        before = both()
        run("systemctl", "reload", "wakegovd.service")
        before[1].stdin.write(b"\n")
        before[1].stdin.flush()
        for sleeper, marked in (before, both()):
            guest.wait_for(lambda: matched(sleeper.pid) == ["sleeper"], 10, "the program")
            guest.wait_for(lambda: matched(marked.pid) == ["marked"], 10, "the arguments")
        seen = run(*nobody, "wakegovctl", "rules", str(os.getpid())).stdout
        self.assertEqual(seen.count("by a program or a command line that is not yours"), 2, seen)
        own = run(*nobody, "wakegovctl", "rules", str(marked.pid)).stdout
        self.assertRegex(own, r"no +sleeper .*: exe is '/.*/python3[^']*', the rule wants exe")

    def test_drop_ins(self):
        """a drop-in of /etc replaces one of /run and /usr/lib of its name, and masks it by /dev/null"""
        folders = [f"{folder}/wakegov/wakegov.conf.d" for folder in ("/etc", "/run", "/usr/lib")]

        def write(folder, name, text):
            os.makedirs(folder, exist_ok=True)
            path = f"{folder}/{name}.conf"
            self.addCleanup(lambda: os.path.lexists(path) and os.remove(path))
            guest.write(path, text)
            return path

        def rules():
            return {rule["name"]: rule["file"] for rule in
                    guest.call("/run/wakegov/io.wakegov", "Rules")["rules"]}

        def rule(name):
            return f"[rule {name}]\ncomm = {name}\ncap = 50%\n"

        write(folders[2], "10-brought", rule("brought"))
        write(folders[2], "20-replaced", rule("old"))
        write(folders[2], "30-masked", rule("masked"))
        write(folders[1], "40-boot", rule("boot"))
        write(folders[0], "20-replaced", rule("new"))
        run("systemctl", "reload", "wakegovd.service")
        self.assertEqual(list(rules()), ["brought", "new", "masked", "boot"])
        mask = f"{folders[0]}/30-masked.conf"
        os.symlink("/dev/null", mask)
        self.addCleanup(os.remove, mask)
        write(folders[0], "40-boot", "")
        run("systemctl", "reload", "wakegovd.service")
        self.assertEqual(list(rules()), ["brought", "new"])
        shown = run("wakegovd", "--show-config").stdout
        self.assertIn(f"{folders[2]}/10-brought.conf:2", shown)

    def test_hotplug(self):
        """the unit has the kernel's hotplug events, though its network is its own"""
        def set_online(value):
            for cpu in (2, 3):
                guest.write(f"/sys/devices/system/cpu/cpu{cpu}/online", value)

        def state():
            domains = guest.call("/run/wakegov/io.wakegov", "Domains")["domains"]
            return next(domain["state"] for domain in domains if domain["name"] == "policy2")
        self.addCleanup(set_online, 1)
        set_online(0)
        guest.wait_for(lambda: state() == "offline", 5, "offline")
        set_online(1)
        guest.wait_for(lambda: state() == "driven", 5, "driven")

if __name__ == "__main__":
    tap.main()
