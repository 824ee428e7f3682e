# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The Debian packages that the lab needs on the host (the guest runs the host's programs).

LAB_PACKAGES=(
	qemu-system-x86 qemu-system-common acpica-tools busybox-static cpio kmod xz-utils
	systemd dbus util-linux iproute2 procps jq fio gnuplot-nox
)

setup_missing() {
	local package installed

	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${LAB_PACKAGES[@]}" \
		2>/dev/null) || true
	for package in "${LAB_PACKAGES[@]}"; do
		grep -qxF "$package installed" <<<"$installed" || printf '%s\n' "$package"
	done
}

# Quiet and quick when nothing is missing: run and table call it each time.
setup_main() {
	local missing

	[ $# -eq 0 ] || die_usage "lab setup: unexpected argument '$1'"
	mapfile -t missing < <(setup_missing)
	[ ${#missing[@]} -gt 0 ] || return 0

	need_root
	say "installing: ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update >&2 || say "apt-get update failed, trying with what is known"
	apt-get -qq -y --no-install-recommends install "${missing[@]}" >&2 ||
		die "could not install ${missing[*]}: see above"
}
