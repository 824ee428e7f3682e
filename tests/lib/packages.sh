# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Debian packages: installs what is missing, quiet and quick when nothing is. For sourcing.

packages_missing() {
	local package installed

	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null) || true
	for package in "$@"; do
		grep -qxF "$package installed" <<<"$installed" || printf '%s\n' "$package"
	done
}

# apt does not wait for the lock of its lists.
packages_update() {
	flock /var/lib/apt apt-get -qq update >&2
}

packages_install() {
	local missing

	mapfile -t missing < <(packages_missing "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "${0##*/}: run as root, or install: ${missing[*]}" >&2
		return 1
	fi
	echo "${0##*/}: installing ${missing[*]}" >&2
	export DEBIAN_FRONTEND=noninteractive
	packages_update || echo "${0##*/}: apt-get update failed, going on" >&2
	# Another apt, of a test beside this one or of the machine, may be at work.
	apt-get -o DPkg::Lock::Timeout=600 -qq -y --no-install-recommends install "${missing[@]}" >&2
}
