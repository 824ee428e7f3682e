# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What every part of the lab uses.

# Exit codes of our own, apart from those of the COMMAND: as timeout(1) and env(1) have them.
export EXIT_TIMEOUT=124 EXIT_VM=125 EXIT_USAGE=2

say() {
	printf 'lab: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 1
}

die_usage() {
	printf '%s\n' "$*" >&2
	exit "$EXIT_USAGE"
}

# need_value OPTION COUNT: OPTION must be followed by a value; COUNT is what is left of "$@".
need_value() {
	if [ "$2" -lt 2 ]; then
		die_usage "lab: $1 needs a value"
	fi
}

# need_number OPTION VALUE MINIMUM
need_number() {
	if ! [[ $2 =~ ^[0-9]{1,9}$ ]] || ((10#$2 < $3)); then
		die_usage "lab: $1 '$2': expected a whole number of at least $3"
	fi
}

need_root() {
	[ "$(id -u)" -eq 0 ] || die "must run as root (it exports / to the VM, read-only)"
}

# Where the build lies, as an absolute path without requiring that it exists.
lab_build() {
	local build=${WAKEGOV_BUILD:-$LAB_REPO/build}

	[ "${RUN_ARCH:-amd64}" = amd64 ] || build+=-$RUN_ARCH
	realpath -m -- "$build"
}
