# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The emulator: QEMU of a newer Debian than the host's, with all libraries that it was built with,
# unpacked into the cache and never installed. Where instructions are the clock, QEMU before 8.1
# lets one CPU run until the next timer and leaves nothing of that time to the others.
#
# $LAB_CACHE/emulator/ has what fetch.sh has of a kernel: lists/, one <version>/, and `current`.

EMULATOR_PACKAGE=qemu-system-x86

# Downloads and unpacks into $work/tree, and prints the version, without the epoch: its colon would
# end a path among the loader's.
emulator_download() {
	local work=$1 deb

	fetch_debs "$work" $EMULATOR_PACKAGE || return 1
	rm -rf "$work/tree"
	mkdir "$work/tree" || return 1
	for deb in "$work"/debs/*.deb; do
		dpkg -x "$deb" "$work/tree" || return 1
	done
	dpkg-deb -f "$work"/debs/${EMULATOR_PACKAGE}_*.deb Version | sed 's/^[0-9]*://'
	rm -rf "$work/debs"
}

emulator_fetch() {
	local work=$1 version

	say "fetching QEMU of trixie into $work"
	fetch_write_sources trixie "$work/sources.list"
	version=$(fetch_retry emulator_download "$work") || die "could not fetch $EMULATOR_PACKAGE"
	fetch_keep "$work" "$version"
}

# Sets EMULATOR to the command, fetching what it takes when the cache has none.
emulator_find() {
	local tree

	tree=$LAB_CACHE/emulator/$(fetch_current emulator)
	# shellcheck disable=SC2034 # for run.sh
	EMULATOR=(
		"$tree/usr/lib64/ld-linux-x86-64.so.2" --library-path "$tree/usr/lib/x86_64-linux-gnu"
		"$tree/usr/bin/qemu-system-x86_64" -L "$tree/usr/share/qemu" -L "$tree/usr/share/seabios"
	)
}
