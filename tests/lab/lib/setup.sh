# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The Debian packages that the lab needs on the host (the guest runs the host's programs).

# shellcheck source=tests/lib/packages.sh
. "$LAB_REPO/tests/lib/packages.sh"

LAB_PACKAGES=(
	acpica-tools busybox-static cpio kmod xz-utils
	systemd dbus util-linux iproute2 procps jq fio gnuplot-nox dmsetup linux-perf strace git make
	# To build the timed machine
	gcc libc6-dev ninja-build pkg-config patch bzip2 python3-venv
	# Its loads
	sqlite3 openssl
)

# Quiet and quick when nothing is missing: run and table call it each time.
setup_main() {
	[ $# -eq 0 ] || die_usage "lab setup: unexpected argument '$1'"
	packages_install "${LAB_PACKAGES[@]}" || die "could not install the packages: see above"
}
