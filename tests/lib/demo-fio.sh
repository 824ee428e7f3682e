# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # used by, and set by, tests/lab/guest/table
# The table of tests/demo --here, for guest/table: fio reads $DEMO_FILE, which it never writes.

workloads=(fio)

# Unlike the lab's machine this one goes on when the table is cut short: no daemon may be left.
table_setup() {
	trap 'jobs -p | xargs -r kill' EXIT
	trap 'exit 143' TERM
}

# The name of the domain whose CPUs are in $cpus.
fio_domain() {
	local policy

	for policy in "$cpufreq"/policy*; do
		if [ "$(tr ' ' , <"$policy/affected_cpus")" = "$cpus" ]; then
			echo "${policy##*/}"
			return
		fi
	done
}

load_fio() {
	local before result

	read_stats
	before=$stats
	result=$(fio --name=demo --filename="$DEMO_FILE" --readonly --rw=randread --bs=4k --direct=1 \
		--ioengine=psync --thread --time_based --runtime="$seconds" --cpus_allowed="$cpus" \
		--output-format=json) || return 1
	read_stats
	jq -c --argjson stats "$(stats_between "$before" "$stats")" --arg domain "$(fio_domain)" \
		'.jobs[0].read | {iops, mean_mhz: $stats.mhz[$domain],
		lat_p50_us: (.clat_ns.percentile["50.000000"] / 1000),
		lat_p99_us: (.clat_ns.percentile["99.000000"] / 1000)}' <<<"$result"
}
