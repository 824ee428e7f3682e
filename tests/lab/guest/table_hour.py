#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lab table hour --driver hwp --energy laptop: a laptop's mixed hour in a minute, each part in proportion.

Typing (20 minutes of the hour), a browser's frames (6), video (14), pauses (12), a build, with what is left of its 8. By our
model of HWP, as power-profiles-daemon sets it; by schedutil, and wakegov beside it, also by its profile for a battery, quiet.
"""
import contextlib
import subprocess
import time

import guest
from table_programs import governed, prepare
from workloads import WORK, frameload, input_devices, objects, printed, shell

PARTS = (("typing", 20), (None, 6), ("browser", 6), (None, 6), ("video", 14), ("build", 8))
STATUS = "/sys/devices/system/cpu/intel_pstate/status"


def part(name, seconds):
    """What it prints: in time, in percent, and the median in us; of a build, how long it took in s."""
    ends_s = time.monotonic() + seconds
    found = None
    if name == "build":
        shell(f"cd {WORK}/make; rm -f *.o *.a; make -s")
        found = seconds - (ends_s - time.monotonic())
    elif name:
        found = printed(shell(frameload(name, seconds - 1)))
    time.sleep(max(0, ends_s - time.monotonic()))
    return found


@contextlib.contextmanager
def hwp(preference):
    guest.set_governor("powersave")
    for cpu in range(4):
        guest.write(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/energy_performance_preference", preference)
    yield


@contextlib.contextmanager
def profile(name):
    with governed("wakegov"):
        subprocess.run([f"{guest.BUILD}/wakegovctl", "profile", name], check=True, stdout=subprocess.DEVNULL)
        yield


BY = (("active", "HWP, balanced", hwp("balance_performance")), ("active", "HWP, power-saver", hwp("power")),
      ("passive", "schedutil", governed("own")), ("passive", "performance", governed("performance")),
      ("passive", "wakegov", governed("wakegov")), ("passive", "wakegov, quiet", profile("quiet")))


def main():
    prepare()
    input_devices()
    objects()
    part("build", 0)  # so that the compiler is in memory for the first row too
    print(f"{'by':<18} {'J':>6} {'press ms':>9} {'99th':>6} {'frames %':>9} {'video %':>8} {'build s':>8}")
    for status, by, governing in BY:
        guest.write(STATUS, status)
        with governing:
            time.sleep(1)
            before_j = guest.energy_j()
            typing, _, browser, _, video, build = [part(*which) for which in PARTS]
            print(f"{by:<18} {guest.energy_j() - before_j:6.1f} {typing[1] / 1000:9.1f} {typing[2] / 1000:6.1f} {browser[0]:9.1f} "
                  f"{video[0]:8.1f} {build:8.2f}", flush=True)


if __name__ == "__main__":
    main()
