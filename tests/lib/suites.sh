# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The suites of tests/run: each prints TAP. For sourcing; REPO and BUILD are set, and it is built.
# shellcheck disable=SC2034  # tests/run reads the lists

# shellcheck source=tests/lib/checks.sh
. "$REPO/tests/lib/checks.sh"

TEST_PACKAGES=(
	"clang-format-$CLANG" shellcheck man-db python3-venv python3-hypothesis fio util-linux libcap2-bin
	git reuse tmux zsh fish "libclang-rt-$CLANG-dev" dbus-daemon python3-dbus python3-gi
)

# A row for each suite: its tier, its name, and its budget in seconds of a CPU, twice what it took with both
# CPUs busy with other work; "here" where it needs no lab. Those come first, as the lab may have to be built beside
# them; of the others the longest first, so that all lanes end together.
SUITES="
quick style       40 here
quick install     15 here
quick unit       150 here
run   native     300 here
run   varlink    100 here
run   live        40 here
run   clang      120 here
run   harmless   700
run   chains     700
run   promises   500
run   service    450
run   boost      450
run   backends   450
run   storms     350
run   faults     400
run   drivers    250
run   lab        100
all   sanitize   500 here
all   fuzz       250 here
all   browser    150 here
all   demo       200
all   readme    4000
all   analyze   1200 here
all   sanitize_native 500 here
all   soak      1200
all   matrix    1500
all   machine_storms 1000
all   programs   900
all   profiles   450
all   trust      400
all   other_drivers 800
all   placement_pays 450
all   desktop    500
all   timed      300
all   response   200
all   arm        800
all   older      450
all   no_tick    100
all   benefit    400
all   fleet      400
all   idle       200
all   stalls     200
all   stacks     800
all   kernels    800
all   schedulers 3000
all   old_kernels 1600
all   suspend    200
all   lab_whole  400
all   sanitize_lab 600
all   package   1500
"

# suites_of TIER…: their names, a line each.
suites_of() {
	awk -v tiers=" $* " 'index(tiers, " " $1 " ") { print $2 }' <<<"$SUITES"
}

# Of a suite; fails where there is none of that name.
budget_of() {
	awk -v name="$1" '$2 == name { print $3; found = 1 } END { exit !found }' <<<"$SUITES"
}

needs_no_lab() {
	awk -v name="$1" '$2 == name { exit $4 != "here" }' <<<"$SUITES"
}

# The compiler takes two thirds of the time with -O1 that it takes with -O2.
SANITIZED=$REPO/build-sanitize
SANITIZERS=("-Db_sanitize=address,undefined" -Db_lundef=false -Doptimization=1)

LAB=$REPO/tests/lab/lab
GUEST=tests/lab/guest
# As a machine that lacks the module, which the kernel would load when a governor is set.
WITHOUT_USERSPACE="{ echo install cpufreq_userspace /bin/false >/etc/modprobe.d/lab.conf; rmmod cpufreq_userspace; }"
CONFORMANCE="env CMOCKA_MESSAGE_OUTPUT=TAP build/tests/lab/actuator-conformance"

# in_lab "OPTION…" "MODULE [TEST…]"…: the tests of these modules of the guest, one after the other, in one boot.
# What is no module is a command that prints TAP. Under systemd they take what meson installs.
in_lab() {
	local options=$1 part script=""

	shift
	[[ $options != *"--init systemd"* ]] || stage_tree "$BUILD" >&2 || { echo "not ok - nothing is staged" && return 1; }
	for part; do
		part=${part//[$'\n\t']/ }
		[[ $part != test_* ]] || part="/usr/bin/python3 $GUEST/$part"
		script+="$part || echo 'not ok - $part passes whole'; "
	done
	# shellcheck disable=SC2086 # one word per option
	"$LAB" run $options -- sh -c "$script" ||
		echo "not ok - the lab was cut off (status $?, options $options)"
}

# meson_tests DIRECTORY LOG [meson test's OPTION…]: builds what those need, and runs them; meson's own log, by
# that name, as TAP. Exit status 77 is a skip.
meson_tests() {
	local directory=$1 log=$1/meson-logs/$2

	shift 2
	# A build that fails leaves none.
	rm -f "$log.json"
	# A time-out is for what hangs; a machine that has other work takes many times as long.
	meson test -C "$directory" --quiet --timeout-multiplier 20 --logbase "${log##*/}" "$@" >"$log.out" 2>&1 ||
		[ -e "$log.json" ] || { cat "$log.out" >&2 && return 1; }
	python3 - "$log.json" <<-'END'
	import json, sys
	for line in open(sys.argv[1], encoding="utf-8"):
	    test = json.loads(line)
	    name = test["name"].split(" / ")[-1]
	    if test["result"] == "OK":
	        print(f"ok - {name}")
	    elif test["result"] == "SKIP":
	        lines = (test.get("stderr") or test.get("stdout") or "no reason given").split("\n")
	        print(f"ok - {name} # SKIP {lines[0]}")
	    else:
	        print(f"not ok - {name}")
	        for output in (test.get("stderr") or "", test.get("stdout") or ""):  # why, then what
	            print("\n".join("# " + text for text in output.splitlines()[-40:]))
	END
}

suite_unit() {
	meson_tests "$BUILD" unit --no-suite native
}

# The BPF programs on this machine's own kernel, one after the other. They wait for other processes by its clock, and it
# may stand still for longer: a test that fails runs once more, as in tap.py.
suite_native() {
	local log=$BUILD/meson-logs/native.tap unsure

	meson_tests "$BUILD" native --suite native >"$log" || return 1
	sed 's/^not ok -/# failed, and runs again:/' "$log"
	mapfile -t unsure < <(sed -n 's/^not ok - //p' "$log")
	((${#unsure[@]} == 0)) || meson_tests "$BUILD" native-again "${unsure[@]}" |
		sed 's/^ok - \(.*\)/&\n# passed when run again: \1/'
}

# The unit tests once more, with the compiler's checks of memory and arithmetic.
suite_sanitize() {
	build_tree "$SANITIZED" "${SANITIZERS[@]}" || return 1
	meson_tests "$SANITIZED" unit --no-suite native
}

suite_sanitize_native() {
	build_tree "$SANITIZED" "${SANITIZERS[@]}" || return 1
	BUILD=$SANITIZED suite_native
}

# The daemon in the lab, with what it leaks at its ends. What is found is in the files that they write.
suite_sanitize_lab() {
	build_tree "$SANITIZED" "${SANITIZERS[@]}" || return 1
	WAKEGOV_BUILD=$SANITIZED "$LAB" run -- sh -c "
		export ASAN_OPTIONS=log_path=/tmp/found UBSAN_OPTIONS=log_path=/tmp/found:print_stacktrace=1
		/usr/bin/python3 $GUEST/test_profiles.py
		/usr/bin/python3 $GUEST/test_backends.py
		word=ok
		! cat /tmp/found.* 2>/dev/null || word='not ok'
		echo \"\$word - the sanitizers find nothing in the daemon meanwhile\""
}

varlink_tests() {
	local python module

	python=$(tests/varlink/setup-venv) || return 1
	WAKEGOV_TOOLS=$(tests/varlink/setup-tools) || return 1
	export WAKEGOV_TOOLS
	for module in tests/varlink/test_*.py; do
		WAKEGOV_BUILD=$BUILD "$python" tests/lib/tap.py "$module"
	done
}

# The PyPI client and hostile ones against the real server with made-up data.
suite_varlink() {
	varlink_tests
}

# The same against wakegovd as it runs on this machine. What needs made-up data is not repeated.
suite_live() {
	local run=$BUILD/live pid

	rm -rf "$run"
	mkdir -p "$run"
	: >"$run/empty.conf"
	"$BUILD/wakegovd" --config "$run/empty.conf" --run-dir "$run" 2>"$run/log" &
	pid=$!
	for _ in $(seq 100); do
		[ -S "$run/io.wakegov" ] && break
		sleep 0.1
	done
	WAKEGOV_SOCKET=$run/io.wakegov varlink_tests
	kill "$pid"
	if wait "$pid"; then
		echo "ok - wakegovd ends in good order after it"
	else
		echo "not ok - wakegovd ends in good order after it" && sed 's/^/# /' "$run/log"
	fi
}

suite_fuzz() {
	tests/fuzz/run
}

# That a suite's result is what its guest said; lab_whole has the rest.
suite_lab() {
	tests/lab/test-lab "output cleanup"
}

suite_lab_whole() {
	tests/lab/test-lab
}

# On the timed machine, whose CPUs count their cycles.
drivers() {
	local driver

	for driver; do
		echo "# driver $driver"
		case $driver in
		amd)
			in_lab "--machine timed --driver $driver --cpus 2" "$CONFORMANCE limits" "$CONFORMANCE cooled" \
				"test_timed.py Driver" "test_amd.py Preference OwnClock"
			;;
		pstate-active | hwp)
			in_lab "--machine timed --driver $driver --cpus 2" "$CONFORMANCE limits" "$CONFORMANCE cooled" \
				"test_timed.py Driver"
			;;
		amd-guided)
			in_lab "--machine timed --driver $driver --cpus 2" "$CONFORMANCE setspeed" "$CONFORMANCE limits" \
				"$CONFORMANCE cooled" "test_timed.py Driver" "test_amd.py Guided OwnClock"
			;;
		*)
			in_lab "--machine timed --driver $driver --cpus 2" "$CONFORMANCE setspeed" "$CONFORMANCE limits" \
				"$CONFORMANCE cooled" "$CONFORMANCE uclamp" "test_timed.py Driver"
			;;
		esac
	done
}

# Those that choose by themselves; acpi-cpufreq is the other suites', where the CPUs count no cycles.
suite_drivers() {
	drivers hwp amd
	# What newer kernels take from the unit's capabilities is not all that older ones ask for.
	in_lab "--kernel 6.1" "test_kernels.py uclamp Kernels.test_a_starts"
}

suite_other_drivers() {
	drivers acpi msr hwp-passive pstate-active amd-passive amd-guided
	in_lab "--machine timed --driver amd-passive" "test_amd.py Capacity Boost Modes Advice"
	in_lab "--machine timed --driver amd" "test_amd.py Boost Advice Capacity"
	in_lab "--machine timed --driver amd-guided --threads 2" "test_timed.py Threads.test_clock Threads.test_cycles"
	in_lab "--machine timed --driver amd --prefcore" "test_amd.py PreferredCores Capacity Advice DynamicPreference"
	in_lab "--machine timed --driver amd-passive --prefcore" "test_amd.py PreferredCores Capacity"
	in_lab "--machine timed --kernel 6.1 --driver amd-passive" "test_amd.py Boost"
}

# When a boost pays; and that domains follow load and I/O.
suite_boost() {
	in_lab "--machine timed --packages python3-fusepy,libfuse2" \
		test_govern.py "test_boost.py Boost.test_pays Boost.test_by_bytes Boost.test_deep_queue Boost.test_paced
		Boost.test_kernel_boost_that_pays Boost.test_flips Boost.test_fallback Boost.test_fuse
		Boost.test_fuse_deep Boost.test_recorded Boost.test_slack" \
		"test_programs.py Machine.test_doctor Programs.test_libaio"
}

# The older kernels: what they have a say in.
suite_older() {
	local kernel

	echo "# kernel 6.1"
	in_lab "--machine timed --kernel 6.1" "test_govern.py Govern.test_cpu_bound Govern.test_io_boost
		Govern.test_boost_follows Govern.test_idle" \
		"test_faults.py Faults.test_foreign_governor Faults.test_foreign_speed Faults.test_limits
		Faults.test_domain_offline" "test_storage.py Storage" "$CONFORMANCE setspeed" "$CONFORMANCE limits" \
		"$CONFORMANCE unclamped"
	for kernel in 6.1 6.12; do
		echo "# kernel $kernel, short commands"
		in_lab "--machine timed --driver pstate --card --kernel $kernel --packages wireguard-tools" \
			"test_harmless.py Commands.test_setspeed Commands.test_limits"
	done
}

# They behave alike; and what each of them does.
suite_backends() {
	in_lab "" "$CONFORMANCE setspeed" "$CONFORMANCE limits" "$CONFORMANCE cooled" "$CONFORMANCE uclamp" \
		"$CONFORMANCE observe" test_caps.py test_backends.py test_devices.py test_sched_ext.py
}

suite_profiles() {
	in_lab "" test_profiles.py
}

# The same list for every backend.
suite_promises() {
	in_lab "" test_promises.py
}

# Faults; lent to another governor; what outlasts the daemon; tasks kept to one of two last-level caches; and
# the machine with nothing to drive, or little. The table of faults at each step is suite matrix.
suite_faults() {
	in_lab "--llcs 2" test_faults.py "test_hand_back.py Setspeed Limits.test_original Limits.test_named
		Uclamp.test_original Uclamp.test_named" test_past.py "test_placement.py Placement.test_full
		Placement.test_others Placement.test_hand_back Placement.test_offline Placement.test_forks" \
		"rmmod acpi_cpufreq" "$CONFORMANCE absent" "test_nothing_to_drive.py no-cpufreq" \
		"modprobe acpi_cpufreq" "$WITHOUT_USERSPACE" "$CONFORMANCE refused" \
		"test_nothing_to_drive.py no-userspace"
}

suite_matrix() {
	in_lab "" test_matrix.py "test_hand_back.py Limits.test_ended Limits.test_foreign Uclamp.test_ended
		Uclamp.test_foreign"
}

# What is soon over; machine_storms has the rest.
suite_storms() {
	in_lab "" test_storms.py "test_storage.py Storage" "test_machine_storms.py Storms.test_clock Storms.test_driver
		Storms.test_governors Storms.test_hotplug"
}

suite_machine_storms() {
	in_lab "--suspend" "test_machine_storms.py Storms.test_driver_of_others Storms.test_limits Storms.test_fork_bomb Storms.test_short_tasks
		Storms.test_disks Storms.test_readers Storms.test_suspends" "test_storage.py Limited"
}

# S3 takes the RTC of a host whose time goes on.
suite_suspend() {
	"$LAB" run --suspend --clock host -- $GUEST/in-ram /usr/bin/python3 $GUEST/test_suspend.py
}

suite_no_tick() {
	in_lab "--append nohz_full=2-3" "test_nothing_to_drive.py no-tick"
	in_lab "--append highres=off" "test_nothing_to_drive.py no-hrtimers"
}

# The experiments, and what is put back exactly.
suite_placement_pays() {
	in_lab "--llcs 2" "test_placement.py Placement.test_spread_pays Placement.test_crowd_waits Placement.test_cpuset
		Placement.test_exact Placement.test_long_path" "test_idle_latency.py IdleLatency"
}

# On the timed machine no program is worse off than without wakegov.
suite_harmless() {
	# As the table was made: on two CPUs, and first.
	in_lab "--machine timed --driver pstate --cpus 2 --packages dbench,rt-tests,redis-server,redis-tools" \
		"test_harmless.py Harmless.test_instructions" \
		"test_realtime.py Alone Setspeed Limits Uclamp"
	in_lab "--machine timed --driver pstate --card --packages wireguard-tools" "test_harmless.py Harmless.test_psync Harmless.test_pool" \
		"test_harmless.py Harmless.test_not_left Commands Kept"
}

# Tasks that work in turn have one clock, on the timed machine; and who wakes whom.
suite_chains() {
	in_lab "--machine timed --driver pstate --card" \
		"test_chains.py Chains Frames Input Sleepers Takers Ways Workers"
}

# Plain programs on the timed machine.
suite_timed() {
	in_lab "--machine timed --driver pstate" "test_timed.py Timed"
	in_lab "--machine timed --driver pstate --threads 2" "test_timed.py Threads"
	# test_capabilities is the last: it sets a counter back, for which the kernel gives up frequency invariance.
	in_lab "--machine timed --driver pstate" "test_programs.py Machine.test_heat Machine.test_injected_idle" \
		"test_response.py MeasuredFrequency" "test_programs.py Machine.test_fallback Machine.test_compile
		Machine.test_turbo_by_cores Machine.test_capabilities"
}

suite_response() {
	in_lab "--machine timed --driver msr" "test_response.py Response"
}

# CPUs of unlike capacity, on arm64, the big ones first: domains and OPPs are those that the tests know.
suite_arm() {
	local conformance=${CONFORMANCE/build/\$WAKEGOV_BUILD} clusters

	in_lab "--machine timed --arch arm64 --clusters 2x1800x1024,4x1400x485 --build" \
		"$conformance setspeed" "$conformance limits" "$conformance uclamp" "$conformance observe" test_arm.py \
		"test_promises.py Setspeed.test_unclean_end Setspeed.test_cap Setspeed.test_overrides Limits.test_unclean_end
		Limits.test_cap Limits.test_floor Uclamp.test_unclean_end Uclamp.test_cap Uclamp.test_floor_is_a_clamp Observe" \
		"test_govern.py Govern.test_cpu_bound Govern.test_boost_follows" "test_chains.py Chains" \
		"test_response.py Response" "test_benefit.py Benefit.test_command Benefit.test_interrupted"
	for clusters in 4x1400x485,2x1800x800,2x1800x1024 4x1400x1024 8x1800x1024; do
		echo "# clusters $clusters"
		in_lab "--machine timed --arch arm64 --clusters $clusters" "test_arm.py Clusters"
	done
}

suite_programs() {
	local ns

	# Whose answer differs from start to start.
	in_lab "--machine timed" "test_boost.py Boost.test_kernel_boost"
	in_lab "--machine timed --driver pstate" "test_programs.py Programs.test_fio Programs.test_libaio
		Machine.test_turbo_off_at_start Machine.test_turbo_on_later"
	in_lab "--machine timed --driver hwp" "test_programs.py Programs.test_fio Programs.test_sqlite
		Machine.test_doctor Machine.test_turbo Machine.test_heat Machine.test_turbo_by_cores"
	in_lab "--machine timed --driver hwp --cpus 2" "test_realtime.py Powersave"
	in_lab "--machine timed --driver pstate" "test_chains.py Figures"
	for ns in 50000 1000000; do
		echo "# a change of frequency takes $ns ns"
		in_lab "--machine timed --driver msr --transition $ns" "test_harmless.py Harmless.test_psync"
	done
}

suite_idle() {
	in_lab "--machine timed --driver pstate --energy laptop" "test_timed.py IdleStates" "test_idle_latency.py DeepIdle"
}

alike() {
	grep -q "^# all took" "$1" && diff "$1" "$2"
}

# One run in about ten is a fraction of a millisecond off, for a reason that is not known: then a
# third one must be as one of the two is.
two_alike() {
	alike "$1/first" "$1/second" && return
	in_lab "$2" "$3" >"$1/third"
	alike "$1/first" "$1/third" || alike "$1/second" "$1/third"
}

# stalls_twice MACHINE TESTS: two starts are alike to the last digit of all that they print, side by
# side on a machine that has other work.
stalls_twice() {
	local dir pid

	dir=$(mktemp -d)
	in_lab "$@" >"$dir/second" 2>/dev/null &
	pid=$!
	in_lab "$@" | tee "$dir/first"
	wait "$pid"
	check "two runs of the timed machine are alike to the last digit: $2" two_alike "$dir" "$@"
	rm -r "$dir"
}

suite_stalls() {
	stalls_twice "--machine timed --driver hwp --stalls" "test_timed.py Stalls"
	stalls_twice "--machine timed --driver pstate --stalls --llcs 2" "test_timed.py Shared"
}

# Storage where the kernel's own threads do part of what a program waits for.
suite_stacks() {
	in_lab "--machine timed --driver pstate" test_stacks.py
}

# Schedulers of sched_ext that people use, which cargo builds once.
suite_schedulers() {
	local root=$HOME/.cache/wakegov-schedulers

	packages_install clang-19 libelf-dev zlib1g-dev libseccomp-dev pkg-config || return 1
	BPF_CLANG=clang-19 cargo install --quiet --locked --version 1.1.4 --root "$root" scx_bpfland scx_lavd scx_rusty || return 1
	ln -sfn "$root" "$BUILD/schedulers"
	in_lab "--machine timed --driver pstate" test_schedulers.py
}

# What is found out by lending a machine to another governor.
suite_benefit() {
	in_lab "--machine timed --driver acpi" "test_benefit.py Benefit Answer"
	in_lab "--machine timed --driver msr" "test_benefit.py Power"
	in_lab "--machine timed --driver pstate" test_measure_power.py "test_benefit.py Suite"
	in_lab "--machine timed --driver amd-passive" "test_benefit.py Suite"
}

# The page of wakegovctl report, drawn by a browser; its pictures stay in $BUILD/browser.
suite_browser() {
	packages_install chromium || return 1
	rm -rf "$BUILD/browser"
	WAKEGOV_BUILD=$BUILD python3 tests/lib/tap.py tests/varlink/drawn_report.py
}

# README's figures, by a fresh start of each of their measurements.
suite_readme() {
	WAKEGOV_BUILD=$BUILD tests/bench/readme-figures --check
}

# What a fleet's Prometheus and Grafana are given.
suite_fleet() {
	local tools python

	tools=$(tests/varlink/setup-tools) || return 1
	check "each alert fires where it should, and nowhere else" \
		"$tools/promtool" test rules tests/fleet/rules.test.yml
	WAKEGOV_TOOLS=$tools python3 tests/fleet/test_fleet.py
	packages_install jq ansible-core || return 1
	WAKEGOV_TOOLS=$tools WAKEGOV_BUILD=$BUILD python3 tests/fleet/test_many.py
	/usr/bin/python3 tests/fleet/test_playbook.py
	python=$(tests/varlink/setup-venv) && "$python" tests/fleet/test_dashboard.py || return 1
	in_lab "--init systemd" test_fleet_units.py
}

suite_service() {
	in_lab "--init systemd --packages power-profiles-daemon,tlp" test_service.py
}

suite_trust() {
	in_lab "--init systemd" test_trust.py
}

# Beside other managers of power; what clients hold and run.
suite_desktop() {
	in_lab "--init systemd --packages power-profiles-daemon,tlp" test_desktop.py test_hints.py
}

# Of the day's seed. An hour is by hand.
suite_soak() {
	tests/lab/soak --for 5m --seed "$(date +%Y%m%d)"
}

suite_kernels() {
	check "each kernel and machine keeps the promises that it can" tests/lab/kernels
}

suite_old_kernels() {
	local kernel

	for kernel in 6.12 6.1; do
		echo "# kernel $kernel"
		in_lab "--machine timed --kernel $kernel" test_govern.py "$CONFORMANCE setspeed" "$CONFORMANCE limits"
		in_lab "--llcs 2 --kernel $kernel" "test_placement.py Placement.test_cpuset Placement.test_long_path" "test_faults.py Faults"
		in_lab "--init systemd --kernel $kernel" "test_service.py Service.test_frozen_reader
			Running.test_programs Running.test_capabilities"
	done
	echo "# kernel 6.1 with uclamp"
	# Without frequency invariance schedutil chooses by the present frequency there, whatever the minimum clamp.
	in_lab "--machine timed --kernel 6.1-uclamp" "test_promises.py Uclamp.test_boost Uclamp.test_cap Uclamp.test_floor_is_a_clamp
		Uclamp.test_own_cap Uclamp.test_overrides Uclamp.test_unclean_end" "$CONFORMANCE uclamp"
	in_lab "--machine timed --driver msr --kernel 6.1-uclamp" "test_promises.py Uclamp.test_margin"
}

suite_package() {
	tests/package
}

# The demo compares every control with what it was, and its story with the port log.
suite_demo() {
	check "the demo tells its story, and the port log agrees with it" tests/demo --quick
}
