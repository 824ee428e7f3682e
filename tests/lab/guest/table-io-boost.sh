# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # used by, and set by, guest/table
# Does a faster clock bring more I/O, and does each governor know?
#   psync    one task that reads, computes and reads again: it does
#   uring    four tasks that keep 128 reads in flight each: the device is the limit at any clock
#   paced    psync on a device that lets so many through in each 20 ms: time that the CPU saves is
#            time that the device takes

workloads=(psync uring paced)
# The loads run for as long before they count, so a governor has settled by then.
settle_seconds=0
margin_ms=1000

table_setup() {
	null_blk_create nullb1
	null_blk_create_bound nullb2
	null_blk_create_paced nullb3
}

# 61,714 cycles, freqload's own default, are 34 us at 1800 MHz and 154 us at 400 MHz. In place of
# the shell, which is one of the load's own.
load() {
	exec "$freqload" "$@" --margin-ms "$margin_ms" --time "$seconds" --json
}

load_psync() {
	load psync --file /dev/nullb1 --cpus "$cpus"
}

# 10,000 cycles, so that four CPUs at the lowest OPP have time to spare.
load_uring() {
	load io_uring --threads 4 --depth 128 --cycles 10000 --file /dev/nullb2
}

# 50,000 cycles, so that the lowest OPP is done with the reads of 20 ms before they are over.
load_paced() {
	local seconds=${PACED_SECONDS:-$seconds}

	load psync --file /dev/nullb3 --cycles 50000 --cpus "$cpus"
}
