# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Governors that a table compares, to be sourced by what runs in the guest. A governor NAME is a
# pair of functions start_NAME and stop_NAME; any other is a kernel governor. A tasks_NAME prints what it says of the load's tasks.

cpufreq=/sys/devices/system/cpu/cpufreq

# One line per domain: what wakegovd has to leave as it found it.
governor_state() {
	local policy

	for policy in "$cpufreq"/policy*; do
		echo "${policy##*/} $(<"$policy/scaling_governor")" \
			"$(<"$policy/scaling_min_freq") $(<"$policy/scaling_max_freq")"
	done
}

set_kernel_governor() {
	local policy

	for policy in "$cpufreq"/policy*; do
		echo "$1" >"$policy/scaling_governor" || return 1
	done
}

governor_start() {
	if declare -F "start_$1" >/dev/null; then
		"start_$1"
	else
		set_kernel_governor "$1"
	fi
}

governor_stop() {
	if declare -F "stop_$1" >/dev/null; then
		"stop_$1"
	fi
}

# start_daemon KERNEL_GOVERNOR [OPTION…]: wakegovctl answers as soon as the daemon governs.
start_daemon() {
	local try

	set_kernel_governor "$1" || return 1
	shift
	wakegov_before=$(governor_state)
	"$WAKEGOV_BUILD/wakegovd" --config "$LAB_REPO/tests/lab/wakegov-lab.conf" "$@" >&2 &
	wakegov_pid=$!
	for ((try = 0; try < 100; try++)); do
		if "$WAKEGOV_BUILD/wakegovctl" status >/dev/null 2>&1; then
			return 0
		fi
		kill -0 "$wakegov_pid" 2>/dev/null || break
		sleep 0.1
	done
	echo "wakegovd did not come up" >&2
	stop_wakegov
	return 1
}

stop_wakegov() {
	local after

	kill -TERM "$wakegov_pid" 2>/dev/null || true
	wait "$wakegov_pid" || echo "wakegovd ended with status $?" >&2
	after=$(governor_state)
	if [ "$after" != "$wakegov_before" ]; then
		printf 'wakegovd left changes behind.\nbefore:\n%s\nafter:\n%s\n' \
			"$wakegov_before" "$after" >&2
		return 1
	fi
}

start_wakegov() {
	start_daemon schedutil
}

# A JSON list of the states of the load's tasks, while it runs. A task that pauses may be unknown
# for a moment.
tasks_wakegov() {
	local try states

	for try in 1 2 3; do
		states=$("$WAKEGOV_BUILD/wakegovctl" tasks --json |
			jq -c '[.tasks[] | select(.comm | test("^(freqload|iou-)")) | .state]') || return 1
		[ "$states" = "[]" ] || break
	done
	echo "$states"
}
