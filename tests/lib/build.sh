# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Building from a bare machine. For sourcing; REPO is the top of the repository.

# shellcheck source=tests/lib/packages.sh
. "$REPO/tests/lib/packages.sh"

# shellcheck disable=SC2034  # read by whoever sources this
BUILD_PACKAGES=(
	meson ninja-build gcc pkg-config clang bpftool libc6-dev linux-libc-dev
	libbpf-dev libsystemd-dev libcpupower-dev libinih-dev libjansson-dev libcmocka-dev liburing-dev
	libncurses-dev libzstd-dev
	python3
)

# set_up_tree DIRECTORY [MESON OPTION…]: once; says nothing when all is well.
set_up_tree() {
	local directory=$1

	shift
	[ -e "$directory/build.ninja" ] || meson setup "$directory" "$REPO" "$@" >"$directory.log" 2>&1 ||
		{ cat "$directory.log" >&2 && return 1; }
	rm -f "$directory.log"
}

# build_tree DIRECTORY [MESON OPTION…]: sets up once, then builds; says little when all is well. Suites side by
# side that share a tree wait for each other here.
build_tree() {
	local lock output="" failed=0

	mkdir -p "$1" && exec {lock}>"$1/lock" && flock "$lock" || return 1
	set_up_tree "$@" && output=$(ninja --quiet -C "$1" 2>&1) || failed=1
	[ "$failed" = 0 ] || printf '%s\n' "$output" >&2
	exec {lock}>&-
	return "$failed"
}

# stage_tree DIRECTORY: puts into its stage/ what meson installs. What is there already stays as it is:
# others may be reading it.
stage_tree() {
	DESTDIR=$1/stage flock "$1/stage.lock" meson install -C "$1" --no-rebuild --quiet --only-changed
}
