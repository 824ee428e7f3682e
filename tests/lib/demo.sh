# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # variables are shared with what sources this
# What the demo does wherever it runs: set-up, build, and showing what came out. For sourcing by
# tests/demo; demo-lab.sh and demo-here.sh have a demo_in_… that leaves in $DEMO the files
#   runs        the runs of the table, one JSON object a line, as guest/table prints them
#   story.json  what story.py printed
#   notes       what to know about the table
# and in DEMO_TITLE the heading of the timeline's picture, in DEMO_LOADS what the table's loads are,
# as LOAD=WORDS; also, where the P-state port is seen from outside, ports and states.

: "${BUILD:?}"
DEMO=$BUILD/demo
DEMO_START=$SECONDS
DEMO_CHILD=""
LAB_DIR=$REPO/tests/lab LAB_REPO=$REPO
# shellcheck source=tests/lab/lib/common.sh
. "$LAB_DIR/lib/common.sh"
# shellcheck source=tests/lab/lib/setup.sh
. "$LAB_DIR/lib/setup.sh"
# shellcheck source=tests/lab/lib/table.sh
. "$LAB_DIR/lib/table.sh"
# shellcheck source=tests/lab/lib/ports.sh
. "$LAB_DIR/lib/ports.sh"

demo_step() {
	printf '== %s\n' "$*"
}

demo_fail() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

demo_need_root() {
	[ "$(id -u)" = 0 ] || demo_fail "must run as root: sudo tests/demo"
}

demo_cleanup() {
	trap - EXIT INT TERM
	if [ -n "$DEMO_CHILD" ]; then
		kill -TERM "$DEMO_CHILD" 2>/dev/null || true
		wait "$DEMO_CHILD" 2>/dev/null || true
	fi
	! declare -F "demo_cleanup_$DEMO_WHERE" >/dev/null || "demo_cleanup_$DEMO_WHERE"
}

# In the background and waited for, so that a signal reaches the traps at once.
demo_run() {
	local status=0

	"$@" &
	DEMO_CHILD=$!
	wait "$DEMO_CHILD" || status=$?
	DEMO_CHILD=""
	return "$status"
}

# Everything until the run. Inside of the lab the host's packages and build are there already.
demo_prepare() {
	local -n packages=DEMO_PACKAGES_${DEMO_WHERE^^}

	trap demo_cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	if [ -z "${WAKEGOV_LAB:-}" ]; then
		demo_step "Set-up: Debian packages, if any are missing"
		packages_install "${BUILD_PACKAGES[@]}" "${packages[@]}" ||
			demo_fail "could not install the packages: see above"
		demo_step "Build"
		build_tree "$BUILD" || demo_fail "the build failed: see above"
	fi
	rm -rf "$DEMO"
	mkdir -p "$DEMO"
}

# Shows what the run says of its progress and keeps everything in $DEMO/log.
demo_progress() {
	tee "$DEMO/log" | grep --line-buffered -E '^(lab: |round |story: )' | sed -u 's/^/   /' || true
}

demo_run_failed() {
	tail -n 25 "$DEMO/log" | sed 's/^/  | /' >&2
	demo_fail "the run failed, status $1; above is the end of ${DEMO#"$REPO"/}/log"
}

# The CSV on standard input: for each load, which $1 says more of, the columns that fit a terminal.
demo_print_table() {
	awk -F , -v loads="$1" '
		BEGIN {
			n = split(loads, list, ";")
			for (i = 1; i <= n; i++) {
				at = index(list[i], "=")
				words[substr(list[i], 1, at - 1)] = substr(list[i], at + 1)
			}
			format = "%-13s %9s %7s %9s %10s %9s %9s\n"
		}
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$1 != load {
			load = $1
			base = 0
			printf "%s%s\n", (NR > 2 ? "\n" : ""), words[load]
			printf format, "governor", "a second", "ratio", "mean MHz", "changes/s", \
				"p50, us", "p99, us"
		}
		{ iops = $column["iops"] }
		$column["governor"] == "performance" { base = iops }
		{ printf format, $column["governor"], iops, base ? sprintf("%.3f", iops / base) : "-", \
			$column["mean_mhz"], $column["changes_per_s"], $column["lat_p50_us"], \
			$column["lat_p99_us"] }'
}

demo_show_table() {
	[ -s "$DEMO/runs" ] || { cat "$DEMO/notes" && return; }
	jq -r -s -f "$LAB_DIR/lib/table.jq" "$DEMO/runs" >"$DEMO/loads.csv"
	demo_print_table "$(printf '%s;' "${DEMO_LOADS[@]}")" <"$DEMO/loads.csv"
	echo
	fold -s -w 98 "$DEMO/notes"
}

# The story as the CSV files that timeline.py reads; time counts from the first phase.
demo_write_timeline() {
	jq -r '(["seconds", "domain", "from_khz", "to_khz", "reason", "detail"]),
		(.phases[0].start_us as $start | .decisions[] | select(.previous_khz != .target_khz) |
		[(.monotonic_us - $start) / 1e6, .domain, .previous_khz, .target_khz, .reason,
		(if .pid then "\(.comm // "?"), pid \(.pid)"
		 elif .reason == "utilisation" then "CPU \(.cpu) asks for \(.demand_cap) of 1024"
		 else "" end + if .limiter != "none" then "; limited by \(.limiter)" else "" end)]) | @csv' "$DEMO/story.json" >"$DEMO/changes.csv"
	jq -r '(["start", "end", "label"]), (.phases[0].start_us as $start | .phases[] |
		[(.start_us - $start) / 1e6, (.end_us - $start) / 1e6, .label]) | @csv' \
		"$DEMO/story.json" >"$DEMO/phases.csv"
	jq -r '(["domain", "khz"]), (.domains[] | .name as $name | .opps_khz[] | [$name, .]) | @csv' \
		"$DEMO/story.json" >"$DEMO/opps.csv"
}

demo_timeline() {
	/usr/bin/python3 tests/lib/timeline.py "$DEMO"/{changes,phases,opps}.csv "$@"
}

demo_show_restored() {
	local arguments=("$DEMO/story.json") status=0

	[ ! -s "$DEMO/states" ] || arguments+=("$DEMO/ports" "$DEMO/states")
	/usr/bin/python3 tests/lib/restored.py "${arguments[@]}" >"$DEMO/restored" || status=$?
	fold -s -w 98 "$DEMO/restored"
	return "$status"
}

demo_show() {
	local picture

	printf '\n== Each governor, under the same loads\n\n'
	demo_show_table
	printf '\n== What wakegovd did, and why\n\n'
	demo_write_timeline
	demo_timeline
	demo_timeline --gnuplot "$DEMO/timeline.svg" --title "$DEMO_TITLE" | gnuplot ||
		demo_fail "gnuplot could not draw the timeline"
	# It writes each kind of point, groups that hold nothing, and line breaks.
	sed -Ezi 's/\t<[^>]*gp(Pt|Dot)[^>]*>\n//g; s/(<g [^>]*>\n<\/g>\n)+//g; s/\s+/ /g; s/ $/\n/' "$DEMO/timeline.svg"
	jq -r .page "$DEMO/story.json" >"$DEMO/page.html"
	printf '\nA picture, and a page that says why at each point:\n'
	for picture in "$DEMO"/*.{svg,html}; do
		printf '  %s\n' "$picture"
	done
	printf '\n'
	demo_show_restored
	printf 'Took %d s.\n' $((SECONDS - DEMO_START))
}
