# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The suites of tests/run: each prints TAP. For sourcing; REPO and BUILD are set, and it is built.
# shellcheck disable=SC2034  # tests/run reads the lists

TEST_PACKAGES=(
	clang-format-14 shellcheck man-db python3-venv python3-hypothesis fio util-linux libcap2-bin
	git tmux zsh fish libclang-rt-14-dev dbus-daemon python3-dbus
)
ANALYZERS=(clang-tidy-14 cppcheck jq valgrind)

QUICK_SUITES=(style install unit)
# The longest first, so that all lanes end together.
LONG_SUITES=(service soak timed storms programs placement promises lab fleet govern benefit faults fuzz
	boost levers demo conformance sanitize caps devices nothing clang varlink live)
# One after the other: install empties the stage that others copy. The rest run four at a time, which
# keeps two CPUs busy (three left 17 % idle): a lab is one thread of this machine, which sleeps while its
# tests wait, and what measures there does so in virtual time. The tests of unit that measure on this
# machine itself take turns with each other, and do not mind other work.
ALONE_SUITES=(style install)

# The compiler takes two thirds of the time with -O1 that it takes with -O2.
SANITIZED=$REPO/build-sanitize
SANITIZERS=("-Db_sanitize=address,undefined" -Db_lundef=false -Doptimization=1)

LAB=$REPO/tests/lab/lab
GUEST=tests/lab/guest

# check NAME COMMAND…: one TAP line; what the command printed follows when it fails.
check() {
	local name=$1 output

	shift
	if output=$("$@" 2>&1); then
		echo "ok - $name"
	else
		echo "not ok - $name"
		printf '%s\n' "$output" | tail -n 40 | sed 's/^/# /'
	fi
}

files() {
	git -C "$REPO" ls-files -- "$@"
}

spdx_everywhere() {
	local file bad=0

	while IFS= read -r file; do
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' ||
			{ echo "no SPDX line: $file" && bad=1; }
	done < <(files '*.c' '*.h' '*.py' '*.sh' '*meson.build' '*.conf' '*.in' '*.socket' '*.[158]' \
		tests/run tests/demo tests/package conf/debian/rules .ci/run)
	return $bad
}

top_level() {
	local allowed='^(src|bpf|include|conf|systemd|tests|\.ci|meson\.build|README\.md|LICENSE|\..*)$'

	! git -C "$REPO" ls-tree --name-only HEAD | grep -vE "$allowed"
}

shell_files() {
	local file

	while IFS= read -r file; do
		if head -n 3 "$file" | grep -qE '^#!/bin/(ba)?sh|shellcheck shell='; then
			printf '%s\n' "$file"
		fi
	done < <(files tests .ci)
}

format_is_clean() {
	files '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror
}

shell_is_clean() {
	shell_files | xargs shellcheck -x
}

manual_is_clean() {
	local page warnings bad=0

	while IFS= read -r page; do
		warnings=$(man --warnings -l "$page" 2>&1 >/dev/null)
		[ -z "$warnings" ] || { echo "$page: $warnings" && bad=1; }
	done < <(files '*.[158]')
	return $bad
}

# The tests of these modules of the guest, a line each.
tests_of() {
	(cd "$REPO/$GUEST" && sed -nE 's/^    def (test_[a-z_]+).*/\1/p' "$@" | sort -u)
}

# The manual says who can do what, what happens when something fails, and with which test that was
# tried: none is missing on either side.
promises_have_tests() {
	local said here=(test_trust.py matrix_domains.py matrix_tasks.py test_machine_storms.py
		test_selftests.py test_suspend.py)

	said=$(sed -n '/^\.SH WHO CAN DO WHAT/,/^\.SH JOURNAL/p' "$REPO/src/wakegovd.8" |
		grep -oE '\btest_[a-z_]+\b' |
		grep -vE '^test_(trust|service|matrix|machine_storms|placement|idle_latency|storms|selftests)$' | sort -u)
	[ -n "$said" ] || return 1
	! comm -23 <(echo "$said") <(tests_of "${here[@]}" test_service.py test_storms.py) | grep . ||
		return 1
	! comm -13 <(echo "$said") <(tests_of "${here[@]}") | grep .
}

# Words that mean something else to a kernel developer, or nothing; and, outside the tests, sentences
# without a subject that does something.
words_of_the_field() {
	local wrong='\b(takeover|ruling|leasing|levers|limiters)_[a-z]|\brivalry\b|manager_(tell|carry)'

	wrong+='|ACTUATOR_(FOREIGN|DOUBTED)|\b(near|far) flights?\b|\bjournal_tell|_is_heard\b|\bunheard\b'
	wrong+='|_mind_[a-z]+\(|\b(levers?|ceilings?|leases?|leasing|rooms)\b|\bcarrie[ds] by\b|\bgive or take\b'
	! git -C "$REPO" grep -nE "$wrong" -- src bpf include conf systemd README.md 'tests/*.[ch]' || return 1
	! git -C "$REPO" grep -nwiE 'nobody|somebody|lift(s|ed)?' -- src bpf include conf systemd README.md
}

suite_style() {
	cd "$REPO" || return 1
	check "C is formatted as .clang-format says" format_is_clean
	check "shellcheck finds nothing" shell_is_clean
	check "manual pages are free of warnings" manual_is_clean
	check "every file carries its SPDX line" spdx_everywhere
	check "nothing at the top but what belongs there" top_level
	check "words are those of the field" words_of_the_field
	check "what the manual promises has tests" promises_have_tests
}

analyzed_by_gcc() {
	local directory=$REPO/build-analyze

	# What leaks is LeakSanitizer's to find: the analyzer takes a struct that is returned for lost.
	[ -e "$directory/build.ninja" ] || meson setup "$directory" "$REPO" -Dwerror=true \
		-Dc_args="-fanalyzer -Wno-analyzer-malloc-leak" >/dev/null || return 1
	ninja --quiet -C "$directory" wakegovd wakegovctl
}

analyzed_by_clang_tidy() {
	files 'src/*.c' | xargs -P "$(nproc)" -n 8 \
		clang-tidy-14 -p "$BUILD" --quiet --warnings-as-errors='*' 2>/dev/null
}

# It knows neither macros of libraries nor __attribute__((cleanup)).
analyzed_by_cppcheck() {
	cppcheck --enable=warning,performance --quiet --std=c11 --library=posix --inline-suppr \
		--error-exitcode=1 --suppress=resourceLeak --suppress=memleak \
		-I src -I include -I bpf -I "$BUILD/src/libvarlink.a.p" \
		'-DLIBBPF_OPTS(type,name,...)=struct type name = { __VA_ARGS__ }' \
		'-Djson_array_foreach(array,i,value)=while (value = json_array_get(array, i = 0))' \
		'-Djson_object_foreach(object,key,value)=while (value = json_object_get(object, key = ""))' src
}

# Of the unit tests those that are programs of ours, not scripts.
clean_under_valgrind() {
	meson introspect --tests "$BUILD" |
		jq -r --arg build "$BUILD/tests/unit/" \
			'.[] | select(.cmd[0] | startswith($build)) | .name' |
		xargs meson test -C "$BUILD" --no-rebuild --quiet --timeout-multiplier 20 --wrapper \
			'valgrind --quiet --error-exitcode=1 --leak-check=full'
}

# The daemon in the lab, with what it leaks at its ends. What is found is in the files that they write.
suite_sanitize_lab() {
	build_tree "$SANITIZED" "${SANITIZERS[@]}" || return 1
	WAKEGOV_BUILD=$SANITIZED "$LAB" run -- sh -c "
		export ASAN_OPTIONS=log_path=/tmp/found UBSAN_OPTIONS=log_path=/tmp/found:print_stacktrace=1
		/usr/bin/python3 $GUEST/test_profiles.py
		/usr/bin/python3 $GUEST/test_levers.py
		word=ok
		! cat /tmp/found.* 2>/dev/null || word='not ok'
		echo \"\$word - the sanitizers find nothing in the daemon meanwhile\""
}

# By hand: some minutes.
suite_analyze() {
	cd "$REPO" && packages_install "${ANALYZERS[@]}" || return 1
	check "gcc -fanalyzer finds nothing" analyzed_by_gcc
	check "clang-tidy finds nothing" analyzed_by_clang_tidy
	check "cppcheck finds nothing" analyzed_by_cppcheck
	check "valgrind finds nothing in the unit tests" clean_under_valgrind
}

suite_clang() {
	export CC=clang-14
	check "clang-14 builds without a warning" build_tree "$REPO/build-clang" -Dwerror=true -Doptimization=0
}

installs() {
	local stage=$BUILD/stage file

	rm -rf "$stage"
	DESTDIR=$stage meson install -C "$BUILD" --no-rebuild --quiet || return 1
	for file in usr/sbin/wakegovd usr/bin/wakegovctl usr/lib/systemd/system/wakegovd.service \
		usr/libexec/wakegov-desktop usr/lib/systemd/system/wakegov-desktop.service \
		usr/share/dbus-1/system.d/wakegov-desktop.conf \
		usr/share/polkit-1/actions/io.wakegov.policy \
		usr/share/doc/wakegov/examples/laptop.conf \
		usr/share/wakegov/wakegov.conf usr/share/wakegov/fleet/wakegov.rules.yml \
		usr/share/wakegov/fleet/wakegov-dashboard.json usr/share/wakegov/fleet/benefit.jq \
		usr/share/wakegov/fleet/wakegov-benefit.service \
		usr/share/man/man8/wakegovd.8 usr/share/man/man7/wakegov.7 \
		usr/share/man/man1/wakegovctl.1 \
		usr/share/man/man5/wakegov.conf.5 usr/lib/systemd/catalog/wakegov.catalog \
		usr/share/bash-completion/completions/wakegovctl \
		usr/share/zsh/site-functions/_wakegovctl \
		usr/share/fish/vendor_completions.d/wakegovctl.fish; do
		[ -s "$stage/$file" ] || { echo "not installed: $file" && return 1; }
	done
	[ ! -e "$stage/etc" ] || { echo "/etc is the administrator's" && return 1; }
	"$stage/usr/sbin/wakegovd" --check-config "$stage/usr/share/wakegov/wakegov.conf"
}

# What the administrator wrote outlasts an update and the removal.
leaves_etc_alone() {
	local stage=$BUILD/stage-etc policy

	policy=$stage/etc/wakegov/wakegov.conf
	rm -rf "$stage"
	install -D -m 600 <(echo "# mine") "$policy" || return 1
	DESTDIR=$stage meson install -C "$BUILD" --no-rebuild --quiet || return 1
	DESTDIR=$stage ninja -C "$BUILD" uninstall || return 1
	find "$stage" -type f
	[ "$(cat "$policy")" = "# mine" ] && [ "$(find "$stage" -type f)" = "$policy" ]
}

# Those that the others depend on need no name.
readme_names_packages() {
	local package missing=0

	for package in "${BUILD_PACKAGES[@]}"; do
		case $package in
		ninja-build | libc6-dev | linux-libc-dev) ;;
		*) grep -qE "(^|[^a-z0-9-])$package([^a-z0-9-]|\$)" "$REPO/README.md" ||
			{ echo "README does not name $package" && missing=1; } ;;
		esac
	done
	return $missing
}

suite_install() {
	check "README names the packages that a build needs" readme_names_packages
	check "installing and removing leaves /etc alone" leaves_etc_alone
	check "meson install puts everything where a distribution expects it" installs
}

# meson_tests DIRECTORY [meson test's OPTION…]: builds what those need, and runs them; meson's own log
# as TAP. Exit status 77 is a skip.
meson_tests() {
	local directory=$1

	shift
	# A build that fails leaves none.
	rm -f "$directory/meson-logs/testlog.json"
	# A time-out is for what hangs; a machine that has other work takes many times as long.
	meson test -C "$directory" --quiet --timeout-multiplier 5 "$@" >"$directory/unit.log" 2>&1 ||
		[ -e "$directory/meson-logs/testlog.json" ] || { cat "$directory/unit.log" >&2 && return 1; }
	python3 - "$directory" <<-'END'
	import json, sys
	for line in open(sys.argv[1] + "/meson-logs/testlog.json", encoding="utf-8"):
	    test = json.loads(line)
	    name = test["name"].split(" / ")[-1]
	    if test["result"] == "OK":
	        print(f"ok - {name}")
	    elif test["result"] == "SKIP":
	        lines = (test.get("stderr") or test.get("stdout") or "no reason given").split("\n")
	        print(f"ok - {name} # SKIP {lines[0]}")
	    else:
	        print(f"not ok - {name}")
	        output = (test.get("stdout") or "") + (test.get("stderr") or "")
	        print("\n".join("# " + text for text in output.splitlines()[-60:]))
	END
}

suite_unit() {
	meson_tests "$BUILD"
}

# The unit tests once more, with the compiler's checks of memory and arithmetic.
suite_sanitize() {
	set_up_tree "$SANITIZED" "${SANITIZERS[@]}" || return 1
	meson_tests "$SANITIZED" --no-suite native
}

# By hand: they measure on this machine, one after the other.
suite_sanitize_native() {
	build_tree "$SANITIZED" "${SANITIZERS[@]}" || return 1
	meson_tests "$SANITIZED" --suite native
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

suite_lab() {
	tests/lab/test-lab
}

# conformance "BACKEND…" [lab run's OPTION…]: one after the other, in one boot.
conformance() {
	local backends=$1

	shift
	# shellcheck disable=SC2016 # for the guest's shell
	"$LAB" run "$@" -- env CMOCKA_MESSAGE_OUTPUT=TAP sh -c 'status=0
		for backend in $1; do
			build/tests/lab/actuator-conformance "$backend" || status=1
		done
		exit $status' sh "$backends"
}

# conformance_of DRIVER "BACKEND…" [lab run's OPTION…]: on the timed machine, whose CPUs count their cycles.
conformance_of() {
	local driver=$1 backends=$2

	shift 2
	echo "# driver $driver"
	conformance "$backends" --machine timed --driver "$driver" "$@"
}

suite_conformance() {
	echo "# kernel sid"
	conformance "setspeed limits uclamp observe"
	echo "# kernel 6.12"
	conformance "setspeed limits" --kernel 6.12
	echo "# kernel 6.1"
	conformance "setspeed limits unclamped" --kernel 6.1
	conformance refused --without cpufreq_userspace
	conformance absent --no-cpufreq
	conformance_of msr "setspeed limits uclamp observe"
	conformance_of pstate "setspeed limits uclamp observe" --cpus 2
	conformance_of hwp-passive "setspeed limits uclamp observe" --cpus 2
	conformance_of pstate-active "limits observe" --cpus 2
	conformance_of hwp "limits observe" --cpus 2
}

# govern KERNEL [TEST…]
govern() {
	local kernel=$1

	shift
	echo "# kernel $kernel"
	"$LAB" run --machine timed --kernel "$kernel" -- \
		/usr/bin/python3 tests/lib/tap.py $GUEST/test_govern.py "${@/#/Govern.test_}"
}

# All on the newest kernel, and on the others what they have a say in.
suite_govern() {
	govern sid
	govern 6.12 io_boost killed
	govern 6.1 cpu_bound io_boost boost_follows idle killed tunables
}

# The figures are for the newest kernel; it is the same core on the others.
suite_boost() {
	"$LAB" run --machine timed --packages python3-fusepy,libfuse2 -- \
		/usr/bin/python3 $GUEST/test_boost.py
}

# programs DRIVER TEST…: on the timed machine, which is as fast as its driver makes it.
programs() {
	local driver=$1

	shift
	echo "# driver $driver"
	"$LAB" run --machine timed --driver "$driver" -- \
		/usr/bin/python3 $GUEST/test_programs.py "$@"
}

suite_programs() {
	programs pstate Programs.test_fio Programs.test_libaio Machine.test_fallback Machine.test_capabilities Machine.test_compile \
		Machine.test_heat Machine.test_turbo_by_cores
	programs hwp Programs.test_fio Programs.test_sqlite Machine.test_doctor Machine.test_turbo \
		Machine.test_heat Machine.test_turbo_by_cores
	programs acpi Machine.test_doctor Programs.test_libaio
	"$LAB" run --machine timed --driver msr -- /usr/bin/python3 $GUEST/test_response.py Response
	"$LAB" run --machine timed --driver pstate -- /usr/bin/python3 $GUEST/test_response.py Measured
}

# timed DRIVER CLASS [lab run's OPTION…]: a boot of the timed machine.
timed() {
	local driver=$1 class=$2

	shift 2
	"$LAB" run --machine timed --driver "$driver" "$@" -- \
		/usr/bin/python3 $GUEST/test_timed.py "$class"
}

alike() {
	grep -q "^# all took" "$1" && diff "$1" "$2"
}

# One run in about ten is a fraction of a millisecond off, for a reason that is not known: then a
# third one must be as one of the two is.
two_alike() {
	alike "$1/first" "$1/second" && return
	timed hwp Stalls --stalls >"$1/third"
	alike "$1/first" "$1/third" || alike "$1/second" "$1/third"
}

# Two starts are alike to the last digit of all that they print, side by side on a machine that has
# other work.
timed_alike() {
	local dir pid

	dir=$(mktemp -d)
	timed hwp Stalls --stalls >"$dir/second" 2>/dev/null &
	pid=$!
	timed hwp Stalls --stalls | tee "$dir/first"
	wait "$pid"
	check "two runs of the timed machine are alike to the last digit" two_alike "$dir"
	rm -r "$dir"
}

suite_timed() {
	local driver ns

	"$LAB" run --machine timed --driver pstate -- \
		/usr/bin/python3 $GUEST/test_harmless.py Harmless.test_psync Harmless.test_instructions
	"$LAB" run --machine timed --driver msr -- \
		/usr/bin/python3 $GUEST/test_harmless.py Harmless.test_repeated_run
	for ns in 50000 1000000; do
		echo "# a change of frequency takes $ns ns"
		"$LAB" run --machine timed --driver msr --transition "$ns" -- \
			/usr/bin/python3 $GUEST/test_harmless.py Harmless.test_psync
	done
	timed pstate Timed
	timed pstate IdleStates --idle-states
	"$LAB" run --machine timed --driver pstate --idle-states -- \
		/usr/bin/python3 $GUEST/test_idle_latency.py DeepIdle
	timed_alike
	for driver in acpi msr pstate-active hwp hwp-passive; do
		timed "$driver" Driver --cpus 1
	done
}

# Lent to another governor, by each backend; what outlasts the daemon; and what is found out by lending.
suite_benefit() {
	"$LAB" run --clock virtual -- sh -c "/usr/bin/python3 $GUEST/test_hand_back.py
		/usr/bin/python3 $GUEST/test_past.py"
	"$LAB" run --machine timed --driver acpi -- \
		/usr/bin/python3 $GUEST/test_benefit.py Benefit Answer Wakeups
	"$LAB" run --machine timed --driver msr -- \
		/usr/bin/python3 $GUEST/test_benefit.py Power
}

# What a fleet's Prometheus and Grafana are given.
suite_fleet() {
	local tools

	tools=$(tests/varlink/setup-tools) || return 1
	check "each alert fires where it should, and nowhere else" \
		"$tools/promtool" test rules tests/fleet/rules.test.yml
	WAKEGOV_TOOLS=$tools python3 tests/fleet/test_fleet.py
	stage_tree "$BUILD" >&2 || return 1
	"$LAB" run --init systemd -- /usr/bin/python3 $GUEST/test_fleet_units.py
}

suite_devices() {
	"$LAB" run -- /usr/bin/python3 $GUEST/test_devices.py
}

suite_caps() {
	"$LAB" run --clock virtual -- /usr/bin/python3 $GUEST/test_caps.py
}

suite_faults() {
	echo "# kernel sid"
	# The whole table takes some minutes: tests/README.md.
	"$LAB" run -- sh -c "/usr/bin/python3 $GUEST/test_faults.py
		/usr/bin/python3 $GUEST/test_matrix.py Domains.test_eio Domains.test_enospc \
			Domains.test_ebusy Domains.test_ring \
			Tasks.test_enospc Tasks.test_eperm Tasks.test_ring"
	echo "# kernel 6.1"
	"$LAB" run --kernel 6.1 -- /usr/bin/python3 tests/lib/tap.py $GUEST/test_faults.py \
		Faults.test_foreign_governor Faults.test_foreign_speed Faults.test_limits \
		Faults.test_domain_offline
}

suite_levers() {
	"$LAB" run -- sh -c "/usr/bin/python3 $GUEST/test_levers.py; /usr/bin/python3 $GUEST/test_profiles.py"
}

# The same list for every backend.
suite_promises() {
	"$LAB" run --clock virtual -- /usr/bin/python3 $GUEST/test_promises.py
}

# Two last-level caches, in a time that nothing on this machine disturbs.
suite_placement() {
	"$LAB" run --llcs 2 --clock virtual -- sh -c "/usr/bin/python3 $GUEST/test_placement.py
		/usr/bin/python3 $GUEST/test_idle_latency.py IdleLatency"
	echo "# kernel 6.1"
	"$LAB" run --kernel 6.1 --llcs 2 --clock virtual -- /usr/bin/python3 tests/lib/tap.py \
		$GUEST/test_placement.py Placement.test_cpuset Placement.test_long_path
}

suite_storms() {
	local selftests

	selftests=$("$LAB" selftests) || return 1
	"$LAB" run --suspend -- sh -c "/usr/bin/python3 $GUEST/test_storms.py
		/usr/bin/python3 $GUEST/test_machine_storms.py
		/usr/bin/python3 $GUEST/test_selftests.py $selftests"
	"$LAB" run --suspend -- $GUEST/in-ram /usr/bin/python3 $GUEST/test_suspend.py
}

suite_nothing() {
	"$LAB" run --no-cpufreq -- /usr/bin/python3 $GUEST/test_nothing_to_drive.py no-cpufreq
	"$LAB" run --without cpufreq_userspace -- \
		/usr/bin/python3 $GUEST/test_nothing_to_drive.py no-userspace
	"$LAB" run --append nohz_full=2-3 -- \
		/usr/bin/python3 $GUEST/test_nothing_to_drive.py no-tick
}

suite_service() {
	stage_tree "$BUILD" >&2 || return 1
	"$LAB" run --init systemd --timeout 3600 --packages power-profiles-daemon,tlp -- \
		sh -c "/usr/bin/python3 $GUEST/test_service.py; /usr/bin/python3 $GUEST/test_trust.py
			/usr/bin/python3 $GUEST/test_desktop.py; /usr/bin/python3 $GUEST/test_hints.py"
	echo "# kernel 6.1"
	"$LAB" run --init systemd --kernel 6.1 -- /usr/bin/python3 tests/lib/tap.py \
		$GUEST/test_service.py Service.test_programs Service.test_frozen_reader \
		Service.test_capabilities
}

# Of the day's seed. An hour is by hand.
suite_soak() {
	tests/lab/soak --for 5m --seed "$(date +%Y%m%d)"
}

# The demo compares every control with what it was, and its story with the port log.
suite_demo() {
	check "the demo tells its story, and the port log agrees with it" tests/demo --quick
}
