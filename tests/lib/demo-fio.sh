# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # used by, and set by, tests/lab/guest/table
# The table of tests/demo --here, for guest/table: fio reads $DEMO_FILE, which it never writes.

workloads=(fio)

# Unlike the lab's machine this one goes on when the table is cut short: no daemon may be left.
table_setup() {
	trap 'jobs -p | xargs -r kill' EXIT
	trap 'exit 143' TERM
}

load_fio() {
	local result

	result=$(fio --name=demo --filename="$DEMO_FILE" --readonly --rw=randread --bs=4k --direct=1 \
		--ioengine=psync --thread --time_based --runtime="$seconds" --cpus_allowed="$cpus" \
		--output-format=json) || return 1
	jq -c '.jobs[0].read | {iops,
		lat_p50_us: (.clat_ns.percentile["50.000000"] / 1000),
		lat_p99_us: (.clat_ns.percentile["99.000000"] / 1000)}' <<<"$result"
}
