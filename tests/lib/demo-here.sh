# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The demo on this machine's own cpufreq. For sourcing, after demo.sh.

# shellcheck disable=SC2034 # for demo_prepare
DEMO_PACKAGES_HERE=(fio jq gnuplot-nox kmod procps)
HERE_CPUFREQ=/sys/devices/system/cpu/cpufreq
HERE_ROUNDS=3
HERE_GOVERNORS=()
HERE_DATA=""

here_check() {
	local running

	compgen -G "$HERE_CPUFREQ/policy*" >/dev/null ||
		demo_fail "this machine has no cpufreq domains: run tests/demo without --here"
	running=$(pgrep -x -d ' ' wakegovd) || true
	[ -z "$running" ] ||
		demo_fail "wakegovd is running already (pid $running): end it first, systemctl stop wakegovd"
	if [ -n "$DEMO_FILE" ] && [ ! -f "$DEMO_FILE" ] && [ ! -b "$DEMO_FILE" ]; then
		demo_fail "--file '$DEMO_FILE': expected a file or a block device"
	fi
}

here_save_governors() {
	local policy

	for policy in "$HERE_CPUFREQ"/policy*; do
		HERE_GOVERNORS+=("$policy $(<"$policy/scaling_governor")")
	done
}

# Also in the trap, so it goes on when one fails.
here_restore_governors() {
	local entry policy governor status=0

	for entry in "${HERE_GOVERNORS[@]}"; do
		policy=${entry% *} governor=${entry##* }
		[ "$(<"$policy/scaling_governor")" = "$governor" ] ||
			echo "$governor" >"$policy/scaling_governor" ||
			{ echo "demo: $policy/scaling_governor is not back at $governor" >&2 && status=1; }
	done
	return "$status"
}

demo_cleanup_here() {
	here_restore_governors || true
	[ -z "$HERE_DATA" ] || rm -f "$HERE_DATA"
}

# A file whose blocks are on the disk; random, so that no file system makes holes of it.
here_make_file() {
	if [ -z "$DEMO_FILE" ]; then
		HERE_DATA=$DEMO/data
		DEMO_FILE=$HERE_DATA
		dd if=/dev/urandom of="$HERE_DATA" bs=1M count=64 conv=fsync status=none ||
			demo_fail "can't write 64 MiB to $HERE_DATA"
	fi
	DEMO_FILE=$(realpath "$DEMO_FILE")
	export DEMO_FILE
	dd if="$DEMO_FILE" of=/dev/null iflag=direct bs=4k count=1 status=none ||
		demo_fail "$DEMO_FILE can't be read past the page cache: give another one with --file"
}

# here_offers GOVERNOR: in every domain
here_offers() {
	local policy

	for policy in "$HERE_CPUFREQ"/policy*; do
		grep -qw -- "$1" "$policy/scaling_available_governors" || return 1
	done
}

# Those to compare, one a line. wakegov goes back to schedutil between two runs of it.
here_list_governors() {
	local governor

	for governor in performance powersave schedutil ondemand conservative; do
		! here_offers "$governor" || echo "$governor"
	done
	if here_offers userspace && here_offers schedutil; then
		echo wakegov
	fi
}

# Not with drivers that leave the choice to the hardware, nor with a kernel built without them.
here_has_statistics() {
	compgen -G "$HERE_CPUFREQ/policy*/stats/time_in_state" >/dev/null
}

here_write_notes() {
	local drivers

	drivers=$(cat "$HERE_CPUFREQ"/policy*/scaling_driver | sort -u | paste -sd ' ')
	if here_has_statistics; then
		echo "Kernel $(uname -r), cpufreq driver $drivers. Medians of $HERE_ROUNDS interleaved runs" \
			"of $DEMO_SECONDS s; ratio: IOPS to those of performance. fio ran on the CPUs of the" \
			"fastest domain; mean MHz is that domain's, with fio's own start and end."
	else
		echo "No table: the cpufreq driver $drivers keeps no statistics of the frequencies."
	fi
}

here_table() {
	local governors

	mapfile -t governors < <(here_list_governors)
	demo_step "Run: $HERE_ROUNDS x $DEMO_SECONDS s for each of ${governors[*]}"
	export WAKEGOV_BUILD=$BUILD
	demo_run tests/lab/guest/table fio "$HERE_ROUNDS" "$DEMO_SECONDS" all "${governors[@]}" \
		>"$DEMO/runs" || return
	here_restore_governors
}

here_story() {
	local backend=auto

	demo_step "Run: the story under wakegovd"
	! here_offers userspace || backend=setspeed
	demo_run /usr/bin/python3 tests/lib/story.py --backend "$backend" \
		--io "fio --name=demo --filename=$DEMO_FILE --readonly --rw=randread --bs=4k --direct=1
			--ioengine=psync --thread --time_based --runtime=300 --output=/dev/null" \
		--cpu "sh -c 'while :; do :; done'" >"$DEMO/story.json"
}

# Says what to make of a story in which the reads did not count.
here_remark() {
	if ! jq -e '[.decisions[] | select(.reason == "io-boost")] | length > 0' \
		"$DEMO/story.json" >/dev/null; then
		echo "No I/O boost was due: the reads from $DEMO_FILE did not wait a thousand times a" \
			"second, as on a slow disk or in memory. --file names another file or device."
	fi
	if jq -e '.status.mode == "observing"' "$DEMO/story.json" >/dev/null; then
		echo "wakegovd only observed: the driver offers no userspace governor."
	fi
}

here_measure() {
	if here_has_statistics; then
		here_table || return
	fi
	here_story
}

demo_in_here() {
	local status=0

	modprobe -q cpufreq_userspace 2>/dev/null || true
	here_save_governors
	here_make_file
	here_measure 2> >(demo_progress) || status=$?
	[ "$status" = 0 ] || demo_run_failed "$status"
	here_write_notes >"$DEMO/notes"
	here_remark >>"$DEMO/notes"
	# shellcheck disable=SC2034 # for demo_show
	DEMO_LOADS=("fio=Random 4 KiB reads by fio, one at a time") \
		DEMO_TITLE="wakegovd on this machine, kernel $(uname -r)"
}
