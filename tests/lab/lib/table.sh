# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lab table: governors side by side under loads.

# Of the table of programs, whose CPUs are those of the timed machine.
TABLE_PROGRAMS=nginx-light,wrk,ripgrep,sox,rt-tests,zstd,postgresql-15,dbench,redis-server,redis-tools,rsync,stress-ng
TABLE_PROGRAMS+=,memcached,libmemcached-tools,nfs-kernel-server,nfs-common,rpcbind,btrfs-progs,openssh-server,wireguard-tools
TABLE_PROGRAMS+=,xfsprogs,f2fs-tools,bcache-tools,ethtool
export TABLE_PROGRAMS

table_names() {
	basename -s .py "$LAB_DIR"/guest/table_*.py | sed 's/^table_//' | { cat && echo published; } | paste -sd ' '
}

table_parse() {
	TABLE_NAME=${1:-} TABLE_CSV="" TABLE_RUNS=3 TABLE_SEED=1 TABLE_RUN_OPTIONS=()
	TABLE_WANTED=all TABLE_WORKLOADS=all TABLE_DRIVERS=pstate
	shift || true
	[ -e "$LAB_DIR/guest/table_$TABLE_NAME.py" ] ||
		die_usage "lab table: '$TABLE_NAME': expected one of: $(table_names)"
	while [ $# -gt 0 ]; do
		case $1 in
		--csv) TABLE_CSV=yes ;;
		--stalls) TABLE_RUN_OPTIONS+=("$1") ;;
		--runs | --governors | --workloads | --kernel | --machine | \
			--driver | --cpus | --domains | --turbo | --transition | --energy | --seed | --llcs | --packages | \
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
	case $1 in
	--runs) need_number --runs "$2" 1 && TABLE_RUNS=$2 ;;
	--seed) need_number --seed "$2" 1 && TABLE_SEED=$2 TABLE_RUN_OPTIONS+=("$1" "$2") ;;
	--arch)
		# shellcheck disable=SC2034 # for lab_build
		RUN_ARCH=$2 TABLE_RUN_OPTIONS+=("$1" "$2")
		;;
	--driver) TABLE_DRIVERS=$2 TABLE_RUN_OPTIONS+=("$1" "$2") ;;
	--governors)
		table_need_list "$1" "$2" schedutil,wakegov
		TABLE_WANTED=$2
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
		[ -x "$build/$program" ] || die "no $build/$program: build first (meson setup, ninja)"
	done
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

# table_programs_start DRIVER SEED GOVERNORS GOLOAD: another start of the machine, with all governors and workloads.
table_programs_start() {
	say "driver $1, seed $2"
	table_vm "$TABLE_DIR/start" --machine timed --card --timeout 7200 --packages "$TABLE_PROGRAMS" \
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
	python3 "$LAB_DIR/lib/programs_report.py" ${TABLE_CSV:+--csv} <"$TABLE_DIR/runs"
}

table_main() {
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
	table_vm "$TABLE_DIR/text" --timeout 5400 "${TABLE_RUN_OPTIONS[@]}" -- \
		/usr/bin/python3 "tests/lab/guest/table_$TABLE_NAME.py" "$TABLE_RUNS" "$TABLE_WORKLOADS" \
		"$TABLE_WANTED"
	cat "$TABLE_DIR/text"
}
