# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Block devices with a latency, to be sourced by what runs in the guest.

# null_blk_create NAME [ATTRIBUTE=VALUE…]: /dev/NAME, NAME being nullb1 … nullb9. By default one
# that serves any number of requests at once, each in about 345 us under emulation.
null_blk_create() {
	local name=$1 directory=/sys/kernel/config/nullb/$1 setting

	shift
	modprobe null_blk 2>/dev/null || true
	mkdir "$directory"
	for setting in size=1024 blocksize=4096 irqmode=2 completion_nsec=200000 memory_backed=0 "$@"; do
		echo "${setting#*=}" >"$directory/${setting%%=*}"
	done
	echo 1 >"$directory/power"
	[ -b "/dev/$name" ]
}

# null_blk_create_bound NAME [MBPS]: a device that is itself the bottleneck, at any depth. 17 MB/s
# are 87 requests of 4 KiB in each 20 ms, 4,350 a second.
null_blk_create_bound() {
	null_blk_create "$1" submit_queues=1 hw_queue_depth=1024 "mbps=${2:-17}"
}

# null_blk_create_paced NAME [MBPS]: one that uses its idle time itself. 9 MB/s are 46 requests of
# 4 KiB in each 20 ms, 2,300 a second, each in about 205 us, and whoever is done with them sooner
# waits for longer.
null_blk_create_paced() {
	null_blk_create "$1" completion_nsec=60000 "mbps=${2:-9}"
}

null_blk_remove() {
	rmdir "/sys/kernel/config/nullb/$1"
}
