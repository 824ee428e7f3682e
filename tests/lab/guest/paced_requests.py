# SPDX-License-Identifier: GPL-2.0-only
"""SQLite requests at an even pace, and how long each takes: what a response is for."""
import json
import subprocess

CPU = 1
# Of a table in memory, in 0.59 ms at 1800 MHz; see request().
ROWS = 540
NAME = "requests"
PROGRAM = f"""import json, os, sqlite3, sys, time
os.sched_setaffinity(0, {{{CPU}}})
with open("/proc/self/comm", "w") as comm: comm.write("{NAME}")
database = sqlite3.connect(":memory:")
database.execute("create table t(a, b)")
database.executemany("insert into t values (?, ?)", ((x, x * 7919 % 101) for x in range({ROWS})))
period, n = float(sys.argv[1]), int(sys.argv[2])
took = []
due = time.monotonic()
for _ in range(n):
    due += period
    time.sleep(max(0, due - time.monotonic()))
    start = time.monotonic()
    database.execute("select sum(a) from t where b % 3 = 1").fetchall()
    took.append(time.monotonic() - start)
print(json.dumps(took[n // 2:]))
"""


def start(period_s, n, run=subprocess.Popen):
    """To be read to its end."""
    command = ("/usr/bin/python3", "-c", PROGRAM, str(period_s), str(n))
    return run(command, text=True, stdout=subprocess.PIPE)


def serve(period_s, n, run=subprocess.Popen):
    """How long the second half of n requests took, in us, the shortest first."""
    with start(period_s, n, run) as task:
        took_s = json.loads(task.stdout.read())
    return sorted(took * 1e6 for took in took_s)


def percentile(took_us, part):
    return took_us[len(took_us) * part // 100]
