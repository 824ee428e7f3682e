# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lab table: governors side by side under a load, in one boot, with interleaved runs.

TABLE_GOVERNORS=performance,powersave,schedutil,wakegov
TABLE_TIME=4
# Of the table of programs, whose CPUs are those of the timed machine.
TABLE_PROGRAMS=nginx-light,wrk,ripgrep,sox,rt-tests,zstd,postgresql-15,dbench,redis-server,redis-tools,rsync
TABLE_PROGRAMS+=,memcached,libmemcached-tools,nfs-kernel-server,nfs-common,rpcbind,btrfs-progs
export TABLE_PROGRAMS

table_names() {
	local file

	for file in "$LAB_DIR"/guest/table-*.sh "$LAB_DIR"/guest/table_*.py; do
		file=${file##*/table[-_]}
		echo "${file%.*}"
	done | { cat && echo published; } | paste -sd ' '
}

table_parse() {
	TABLE_NAME=${1:-} TABLE_CSV=no TABLE_RUNS=3 TABLE_SEED=1 TABLE_RUN_OPTIONS=()
	TABLE_WANTED=all TABLE_WORKLOADS=all TABLE_DRIVERS=pstate
	shift || true
	if [ -z "$TABLE_NAME" ] || { [ ! -e "$LAB_DIR/guest/table-$TABLE_NAME.sh" ] &&
		[ ! -e "$LAB_DIR/guest/table_$TABLE_NAME.py" ]; }; then
		die_usage "lab table: '$TABLE_NAME': expected one of: $(table_names)"
	fi
	while [ $# -gt 0 ]; do
		case $1 in
		--csv) TABLE_CSV=yes ;;
		--stalls | --idle-states) TABLE_RUN_OPTIONS+=("$1") ;;
		--runs | --time | --governors | --workloads | --kernel | --machine | \
			--driver | --cpus | --domains | --turbo | --transition | --seed | --llcs | --packages | \
			--arch | --clusters)
			need_value "$1" $#
			table_set "$1" "$2"
			shift
			;;
		*) die_usage "lab table: unknown option '$1', see lab help" ;;
		esac
		shift
	done
}

# table_need_list OPTION VALUE EXAMPLE
table_need_list() {
	[[ $2 =~ ^[a-z0-9_+-]+(,[a-z0-9_+-]+)*$ ]] ||
		die_usage "lab table: $1 '$2': expected a list such as $3"
}

table_set() {
	local least=3

	# Where a start of the machine has the same chance for each governor.
	[[ $TABLE_NAME != programs && $TABLE_NAME != biglittle ]] || least=1
	case $1 in
	--runs) need_number --runs "$2" "$least" && TABLE_RUNS=$2 ;;
	--time) need_number --time "$2" 1 && TABLE_TIME=$2 ;;
	--seed) need_number --seed "$2" 1 && TABLE_SEED=$2 TABLE_RUN_OPTIONS+=("$1" "$2") ;;
	--arch)
		# shellcheck disable=SC2034 # for lab_build
		RUN_ARCH=$2 TABLE_RUN_OPTIONS+=("$1" "$2")
		;;
	--driver) TABLE_DRIVERS=$2 TABLE_RUN_OPTIONS+=("$1" "$2") ;;
	--governors)
		table_need_list "$1" "$2" schedutil,wakegov
		TABLE_GOVERNORS=$2 TABLE_WANTED=$2
		;;
	--workloads)
		table_need_list "$1" "$2" psync,uring
		TABLE_WORKLOADS=$2
		;;
	*) TABLE_RUN_OPTIONS+=("$1" "$2") ;;
	esac
}

table_need_build() {
	local build program

	build=$(lab_build)
	for program in tests/lab/freqload wakegovd wakegovctl; do
		case $program,$TABLE_GOVERNORS in
		wakegov*,*wakegov* | tests/*)
			[ -x "$build/$program" ] || die "no $build/$program: build first (meson setup, ninja)"
			;;
		esac
	done
}

# Measures, in one boot, into FILE.
table_measure() {
	local governors timeout

	IFS=, read -ra governors <<<"$TABLE_GOVERNORS"
	# No table has more than a few workloads, nor a domain many OPPs; a virtual second takes some of
	# ours, and what a run costs besides its load is seconds.
	timeout=$((180 + 4 * TABLE_RUNS * (${#governors[@]} + 4) * (10 * TABLE_TIME + 15)))
	table_vm "$1" --timeout "$timeout" "${TABLE_RUN_OPTIONS[@]}" -- \
		tests/lab/guest/table "$TABLE_NAME" "$TABLE_RUNS" "$TABLE_TIME" "$TABLE_WORKLOADS" \
		"${governors[@]}" || exit $?
}

# table_vm FILE [lab run's OPTION…] -- COMMAND…: on the timed machine, which nothing on this machine
# can disturb. Not in the foreground: a signal is to reach the trap at once. TABLE_PID is the process to
# end then.
table_vm() {
	local file=$1 status=0

	shift
	"$LAB_DIR/lab" run --machine timed "$@" >"$file" &
	TABLE_PID=$!
	wait "$TABLE_PID" || status=$?
	TABLE_PID=""
	return "$status"
}

table_cleanup() {
	if [ -n "$TABLE_PID" ]; then
		kill -TERM "$TABLE_PID" 2>/dev/null || true
		wait "$TABLE_PID" || true
	fi
	rm -rf "$TABLE_DIR"
}

# The CSV on standard input, for people: with the ratio to performance of the same workload, and an
# empty line between two workloads.
table_print() {
	awk -F , '
		NR == 1 {
			n = NF + 1
			for (i = 1; i <= n; i++)
				width[i] = length(name[i] = i < 4 ? $i : i == 4 ? "ratio" : $(i - 1))
			next
		}
		{ if ($2 == "performance") base[$1] = $3
		  for (i = 1; i <= n; i++) cell[NR, i] = i < 4 ? $i : i == 4 ? "" : $(i - 1) }
		function row(text, i, line) {
			for (i = 1; i <= n; i++)
				line = line sprintf(i < 3 || i == n ? "%-*s  " : "%*s  ", width[i], text[i])
			sub(/ +$/, "", line)
			print line
		}
		END {
			for (r = 2; r <= NR; r++) {
				if (base[cell[r, 1]] > 0)
					cell[r, 4] = sprintf("%.3f", cell[r, 3] / base[cell[r, 1]])
				else
					cell[r, 4] = "-"
				for (i = 1; i <= n; i++)
					if (length(cell[r, i]) > width[i])
						width[i] = length(cell[r, i])
			}
			row(name)
			for (r = 2; r <= NR; r++) {
				if (r > 2 && cell[r, 1] != cell[r - 1, 1])
					print ""
				for (i = 1; i <= n; i++)
					text[i] = cell[r, i]
				row(text)
			}
		}'
}

table_notes() {
	cat <<-EOF
	Kernel $1, emulated. Medians of $TABLE_RUNS interleaved runs of $TABLE_TIME s in one boot.
	ratio: iops to those of performance; mean_mhz: of the load's domain. Compare governors, not
	absolute figures: each CPU's time goes by its frequency, and an instruction takes 4 cycles.
	EOF
}

# What only the whole table has.
table_legend() {
	local file=$LAB_DIR/guest/table-$TABLE_NAME.sh

	sed -n '/^# Does/,/^$/s/^# \?//p' "$file"
	echo "low_policyN: percentage of the time that the domain spent at its lowest OPP;"
	echo "task_states: what the governor said of the load's tasks, counted over the ends of the runs."
}

# table_programs_start DRIVER SEED GOVERNORS GOLOAD: another start of the machine, with all governors and workloads.
table_programs_start() {
	say "driver $1, seed $2"
	table_vm "$TABLE_DIR/start" --machine timed --timeout 7200 --packages "$TABLE_PROGRAMS" \
		"${TABLE_RUN_OPTIONS[@]}" --driver "$1" --seed "$2" -- \
		env "LAB_GOLOAD=$4" /usr/bin/python3 tests/lab/guest/table_programs.py --seed "$2" \
		--governors "$3" --workloads "$TABLE_WORKLOADS" || exit $?
	cat "$TABLE_DIR/start" >>"$TABLE_DIR/runs"
}

table_programs() {
	local driver seed list=$TABLE_WANTED goload=""

	[ "$list" != all ] || list=performance,powersave,own,wakegov
	[[ ! $TABLE_WORKLOADS =~ ^all$|(^|,)go- ]] || goload=$(golang_build)
	for driver in ${TABLE_DRIVERS//,/ }; do
		for ((seed = TABLE_SEED; seed < TABLE_SEED + TABLE_RUNS; seed++)); do
			table_programs_start "$driver" "$seed" "$list" "$goload"
		done
	done
	if [ "$TABLE_CSV" = yes ]; then
		python3 "$LAB_DIR/lib/programs_report.py" --csv <"$TABLE_DIR/runs"
	else
		python3 "$LAB_DIR/lib/programs_report.py" <"$TABLE_DIR/runs"
	fi
}

table_main() {
	local kernel

	if [ "${1:-}" = published ]; then
		need_root
		exec python3 "$LAB_DIR/lib/published.py" "${@:2}"
	fi
	table_parse "$@"
	need_root
	setup_main
	table_need_build
	TABLE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/wakegov-table.XXXXXX") TABLE_PID=""
	trap table_cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	if [ "$TABLE_NAME" = programs ]; then
		table_programs
		return
	fi
	# One that is no comparison of governors under loads prints itself.
	if [ -e "$LAB_DIR/guest/table_$TABLE_NAME.py" ]; then
		table_vm "$TABLE_DIR/text" --timeout 5400 "${TABLE_RUN_OPTIONS[@]}" -- \
			/usr/bin/python3 "tests/lab/guest/table_$TABLE_NAME.py" "$TABLE_RUNS" "$TABLE_WORKLOADS" \
			"$TABLE_WANTED"
		cat "$TABLE_DIR/text"
		return
	fi
	table_measure "$TABLE_DIR/runs"
	kernel=$(head -n 1 "$TABLE_DIR/runs" | jq -r .kernel)
	jq -r -s -f "$LAB_DIR/lib/table.jq" "$TABLE_DIR/runs" >"$TABLE_DIR/csv"
	if [ "$TABLE_CSV" = yes ]; then
		cat "$TABLE_DIR/csv"
		table_notes "$kernel" >&2
	else
		table_print <"$TABLE_DIR/csv"
		echo
		table_legend
		table_notes "$kernel"
	fi
}
