# SPDX-License-Identifier: GPL-2.0-only
# The runs of a table (JSON objects, slurped) → header line and one line per workload and governor.

def median: sort | if length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def digits($n): . * pow(10; $n) | round / pow(10; $n);
def column(f; $n): map(f) | median | digits($n);

# What the governor said of the load's tasks at the end of each run: "pays x3", or "-" if none.
def states: map(.tasks) |
	if all(. == null) then "-"
	else map(if length > 0 then .[] else "none" end) | group_by(.) | sort_by(-length) |
		map("\(.[0]) x\(length)") | join(" ") end;

# Groups in the order of appearance, which group_by would lose.
def groups(f): . as $runs |
	reduce (.[] | f) as $key ([]; if index([$key]) then . else . + [$key] end) |
	map(. as $key | [$runs[] | select(f == $key)]);

(.[0].mhz | keys_unsorted) as $domains |
(["workload", "governor", "iops", "mean_mhz"] + ($domains | map("mhz_" + .)) +
	($domains | map("low_" + .)) +
	["changes_per_s", "iops_min", "iops_max", "lat_p50_us", "lat_p99_us", "runs", "task_states"]),
(groups(.workload)[] | groups(.governor)[] |
	[.[0].workload, .[0].governor, column(.iops; 0), column(.mean_mhz; 0)] +
	[$domains[] as $d | column(.mhz[$d]; 0)] +
	[$domains[] as $d | column(.lowest[$d]; 0)] +
	[column(.changes_per_s; 1), (map(.iops) | min | digits(0)), (map(.iops) | max | digits(0)),
	 column(.lat_p50_us; 0), column(.lat_p99_us; 0), length, states]) |
@csv | gsub("\""; "")
