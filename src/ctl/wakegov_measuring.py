# SPDX-License-Identifier: GPL-2.0-only
"""What benefit.py, suite.py and measure-power.py share: the machine's counters, its energy, wakegovd's socket.

It is installed beside them."""
import fnmatch
import glob
import json
import math
import os
import re
import socket
import statistics
import sys
import time

REFUSED, USAGE, LOST = 1, 2, 4  # exit codes of wakegovctl(1)

HAND_BACK_US = 3600000000  # the longest that the daemon allows; it ends with its connection
TAKE_OVER_S = 2
SENSORS_S = 1  # how often power sensors, and the frequencies for the estimate, are read


class Failure(Exception):
    """Ends the experiment with a message and an exit code."""


def complain(text):
    """A line on standard error; names of tasks and files may have control characters."""
    print("wakegovctl:", "".join(c if c.isprintable() else "?" for c in text), file=sys.stderr)


def read(path):
    """The text of a file; "" where it cannot be read."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def number(path):
    """The number that a file has; None without one."""
    try:
        return float(read(path))
    except ValueError:
        return None


class Meter:
    """The energy that the machine itself measures: of the first source that can be read."""

    def __init__(self, sys_path, now_s):
        # The best first: a counter misses nothing between two readings.
        sources = {"powercap": self.find_packages, "battery": self.find_batteries,
                   "hwmon": self.find_sensors}
        self.source, self.inputs = None, []
        for source, find in sources.items():
            self.inputs = [i for i in find(sys_path) if i["value"]() is not None]
            if self.inputs:
                self.source = source
                break
        self.read_s, self.joules, self.lost = now_s, 0.0, 0
        for i in self.inputs:
            i["last"] = i["value"]()

    @staticmethod
    def find_packages(sys_path):
        """Only packages: core and uncore are parts of one, psys contains them."""
        for zone in sorted(glob.glob(f"{sys_path}/class/powercap/intel-rapl:*")):
            if read(f"{zone}/name").startswith("package-"):
                yield {"value": lambda zone=zone: number(f"{zone}/energy_uj"), "counts": True,
                       "range": number(f"{zone}/max_energy_range_uj")}

    @staticmethod
    def find_batteries(sys_path):
        """Documentation/ABI/testing/sysfs-class-power. The battery of a mouse has scope Device."""
        def microwatts(supply):
            # On mains power the same files show the charging current.
            if read(f"{supply}/status") != "Discharging":
                return None
            watts = number(f"{supply}/power_now")
            amperes, volts = number(f"{supply}/current_now"), number(f"{supply}/voltage_now")
            if watts is None and amperes is not None and volts is not None:
                watts = amperes * volts / 1e6
            return watts and abs(watts)  # some drivers report discharge as a negative number

        for supply in sorted(glob.glob(f"{sys_path}/class/power_supply/*")):
            if read(f"{supply}/type") == "Battery" and read(f"{supply}/scope") != "Device":
                yield {"value": lambda supply=supply: microwatts(supply), "counts": False}

    @staticmethod
    def find_sensors(sys_path):
        """Documentation/hwmon/sysfs-interface.rst: sensors of the machine or its CPUs, of one device, as
        one may measure a part of another."""
        kinds = {"power_meter": "power1_average", "fam15h_power": "power1_input", "ina2[0-9][0-9]": "power1_input"}
        for device in sorted(glob.glob(f"{sys_path}/class/hwmon/hwmon*")):
            paths = [f"{device}/{f}" for name, f in kinds.items() if fnmatch.fnmatch(read(f"{device}/name"), name)]
            if any(number(p) is not None for p in paths):
                return [{"value": lambda p=p: number(p), "counts": False} for p in paths]
        return []

    def look(self, now_s):
        """Adds the energy since the last reading. Power is assumed to change linearly between two
        readings, and a counter to wrap at most once. A failed reading, or a counter that began again,
        is counted: the time beside it is missing from joules."""
        for i in self.inputs:
            value, last = i["value"](), i["last"]
            i["last"] = value
            if value is None or last is None:
                self.lost += 1
            elif not i["counts"]:
                self.joules += (value + last) / 2e6 * (now_s - self.read_s)
            elif value >= last or i["range"]:
                self.joules += (value - last + (i["range"] if value < last else 0)) / 1e6
            else:
                self.lost += 1
        self.read_s = now_s


def power_share(khz, highest_khz):
    """f·V², with the voltage on a line to 0.6 of its highest at 0 Hz; for both kinds of CPUs of an rk3399
    (rk3399-opp.dtsi) that of OPPs is within 14 % of that line."""
    f = khz / highest_khz
    return f * (0.6 + 0.4 * f) ** 2


class Model:
    """Energy for machines that measure none: the busy time of each domain's CPUs, times the power of
    one CPU at the domain's frequencies in that time. Idle CPUs take nothing. The unit is the energy of
    one CPU that is busy for a second at its highest frequency, of the kind that takes most."""

    def __init__(self, sys_path, proc, now_s):
        self.proc, self.domains, self.cpus = proc, [], {}
        self.busy_s = self.full_cpu_s = self.khz_s = self.domain_s = 0.0
        for path in glob.glob(f"{sys_path}/devices/system/cpu/cpufreq/policy*"):
            times = self.read_times(path)
            if not times:
                continue
            first = re.sub(".*policy", "", path)
            kernel = {khz: number(f"{sys_path}/kernel/debug/energy_model/cpu{first}/ps:{khz:.0f}/power")
                      for khz in times}
            self.domains.append({"path": path, "times": times, "kernel": kernel,
                                 "cpus": read(f"{path}/affected_cpus").split()})
        # One OPP that is missing, and two kinds of CPUs would not be of one scale.
        self.is_kernels = bool(self.domains) and all((power or 0) > 0 for domain in self.domains
                                                     for power in domain["kernel"].values())
        for domain in self.domains:
            highest = max(domain["times"])
            domain["power"] = domain["kernel"] if self.is_kernels else {
                khz: power_share(khz, highest) * highest for khz in domain["times"]}
        self.most = max((max(d["power"].values()) for d in self.domains), default=1)
        self.look(now_s)
        self.full_cpu_s = 0.0

    @staticmethod
    def read_times(path):
        """Seconds by kHz: lines of kHz and hundredths of a second."""
        fields = read(f"{path}/stats/time_in_state").split()
        return {float(khz): float(t) / 100 for khz, t in zip(fields[::2], fields[1::2])}

    def read_cpus(self, name, of, per_s):
        """What lines such as "cpu3 1 2 3 …" have in some columns, in seconds."""
        lines = (line.split() for line in read(f"{self.proc}/{name}").splitlines())
        return {f[0][3:]: sum(float(f[i]) for i in of) / per_s
                for f in lines if re.match(r"cpu\d", f[0]) and len(f) > max(of)}

    def read_busy(self, now_s):
        """By CPU since the last reading. A CPU's busy time is either its time not idle, which the kernel
        shows in whole ticks, or the run time of its tasks, which is exact but lacks the present turn:
        whichever has grown more. User and system time are only sampled, which misses short tasks."""
        ran_s = self.read_cpus("schedstat", [7], 1e9)
        busy_s = {}
        for cpu, idle_s in self.read_cpus("stat", [4, 5], os.sysconf("SC_CLK_TCK")).items():
            since = self.cpus.setdefault(cpu, {"at": now_s, "idle": idle_s, "ran": ran_s.get(cpu, 0),
                                               "busy": 0.0})
            busy = max(now_s - since["at"] - (idle_s - since["idle"]),
                       ran_s.get(cpu, since["ran"]) - since["ran"])
            busy_s[cpu], since["busy"] = busy - since["busy"], busy
        return busy_s

    def look(self, now_s):
        """Adds the energy since the last reading. A domain's busy time is assumed to be spread evenly
        over the frequencies between two readings."""
        busy_s = self.read_busy(now_s)
        self.busy_s += sum(busy_s.values())
        for domain in self.domains:
            times = self.read_times(domain["path"])
            passed = {khz: t - domain["times"].get(khz, t) for khz, t in times.items()}
            domain["times"] = times or domain["times"]
            total_s = sum(passed.values())
            self.domain_s += total_s
            self.khz_s += sum(khz * t for khz, t in passed.items())
            if total_s > 0:
                power = sum(t * domain["power"].get(khz, 0) for khz, t in passed.items())
                self.full_cpu_s += (sum(busy_s.get(cpu, 0) for cpu in domain["cpus"]) * power /
                                    total_s / self.most)


def disk_totals(sys_path):
    """Completed requests of all disks, and the ms that they took: Documentation/block/stat.rst. Disks
    whose requests are counted on other disks are left out."""
    ios = io_ms = 0
    for path in glob.glob(f"{sys_path}/block/*/stat"):
        fields = read(path).split()
        stacked = re.search("/(loop|z?ram)", path) or glob.glob(f"{os.path.dirname(path)}/slaves/*")
        if not stacked and len(fields) > 7:
            ios += int(fields[0]) + int(fields[4])
            io_ms += int(fields[3]) + int(fields[7])
    return ios, io_ms


class Meters:
    """What blocks are measured by."""

    def __init__(self, sys_path="/sys", proc="/proc"):
        self.sys, self.proc = sys_path, proc
        self.meter = Meter(sys_path, time.monotonic())
        self.model = Model(sys_path, proc, time.monotonic())

    def look(self):
        """Reads what has to be read more often than twice in a block. Returns the time until next."""
        now_s = time.monotonic()
        if now_s >= self.meter.read_s + SENSORS_S:
            self.meter.look(now_s)
            self.model.look(now_s)
        return self.meter.read_s + SENSORS_S - now_s

    def wait(self, until_s):
        """Reads the sensors meanwhile."""
        while (left_s := until_s - time.monotonic()) > 0:
            time.sleep(max(0, min(left_s, self.look())))

    def sample(self):
        """Counters, which only grow. One that is not known stays 0, so that its difference is 0."""
        now_s = time.monotonic()
        self.meter.look(now_s)
        self.model.look(now_s)
        ios, io_ms = disk_totals(self.sys)
        # Documentation/scheduler/sched-stats.rst: what a CPU's tasks waited, in ns, and their turns.
        lines = [line.split() for line in read(f"{self.proc}/schedstat").splitlines()
                 if line.startswith("cpu")]
        changes = glob.glob(f"{self.sys}/devices/system/cpu/cpufreq/policy*/stats/total_trans")
        return {"s": now_s, "ios": ios, "io_ms": io_ms,
                "wait_us": sum(float(f[8]) for f in lines) / 1000,
                "turns": sum(float(f[9]) for f in lines),
                "changes": sum(number(path) or 0 for path in changes),
                "khz_s": self.model.khz_s, "domain_s": self.model.domain_s,
                "cpu_s": self.model.busy_s, "full_cpu_s": self.model.full_cpu_s,
                "joules": self.meter.joules, "lost": self.meter.lost}


def mean_of(values):
    """The mean and half of its interval of 95 %, by Student's t: Abramowitz and Stegun 26.7.5, which is within
    1 % from 3 degrees of freedom on."""
    z, freedom = statistics.NormalDist().inv_cdf(0.975), len(values) - 1
    t = (z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2) +
         (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3))
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values)) * t


def decimals_of(value):
    """Two digits, or all before the decimal point: "0.25", "3.1", "480"."""
    return min(3, max(0, 1 - math.floor(math.log10(value)))) if value > 0 else 0


class Daemon:
    """Calls over the daemon's socket: a JSON object and a NUL, in both directions."""

    def __init__(self, path, timeout_s):
        self.path, self.timeout_s = path, timeout_s

    def hand_back(self, governor):
        """To that governor, None: the former one, until the connection that is returned is closed."""
        named = {"governor": governor} if governor else {}
        return self.call("HandBack", named | {"for_us": HAND_BACK_US}, keep=True)

    def call(self, method, parameters=None, keep=False):
        """Returns the reply's parameters, and with keep the connection too, which holds what was got."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(self.timeout_s)
        text = b""
        try:
            connection.connect(self.path)
            message = {"method": f"io.wakegov.{method}", "parameters": parameters or {}, "more": keep}
            connection.sendall(json.dumps(message).encode() + b"\0")
            while not text.endswith(b"\0"):
                part = connection.recv(65536)
                if not part:
                    raise ConnectionResetError("it closed the connection")
                text += part
        except OSError as error:
            raise Failure(f"lost the connection to {self.path}: {error}. See: systemctl status wakegovd",
                          LOST) from error
        reply = json.loads(text[:-1])
        if "error" in reply:
            raise Failure(refusal(method, reply["error"], reply.get("parameters", {})), REFUSED)
        if keep:
            return connection
        connection.close()
        return reply["parameters"]


def wait_for_governing(governs):
    until_s = time.monotonic() + TAKE_OVER_S
    while not governs() and time.monotonic() < until_s:
        time.sleep(0.01)


def refusal(method, error, parameters):
    """What the daemon's error reply means, and what to do."""
    sentences = {
        "io.wakegov.PolicyHeld":
            "a client holds a policy already: there can be only one experiment at a time",
        "io.wakegov.HandedBack":
            "the domains are handed back already: there can be only one experiment at a time. "
            "See: wakegovctl status",
        "io.wakegov.NothingToHandBack":
            "wakegovd drives no domain now, so there is nothing to compare. See: wakegovctl domains",
        "io.wakegov.PolicyInvalid":
            f"the policy was refused: {parameters.get('message', '')}",
        "org.varlink.service.PermissionDenied":
            "benefit is for root, and for the members of change-group (wakegov.conf(5)). "
            "Try: sudo wakegovctl benefit",
        "org.varlink.service.InvalidParameter":
            "--against cannot be that: the driver of a domain does not offer the governor. See: "
            "cat /sys/devices/system/cpu/cpufreq/policy*/scaling_available_governors",
    }
    return sentences.get(error, f"wakegovd refused {method}: {error} {json.dumps(parameters)}")
