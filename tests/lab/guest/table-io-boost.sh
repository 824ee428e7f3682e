# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # used by, and set by, guest/table
# One task that reads, computes and reads again: how much of its speed does each governor keep?

workloads=(psync)

table_setup() {
	null_blk_create nullb1
}

# 61,714 cycles are 34 us at 1800 MHz and 154 us at 400 MHz.
load_psync() {
	"$freqload" psync --file /dev/nullb1 --cycles 61714 --cpus "$cpus" --time "$seconds" --json
}
