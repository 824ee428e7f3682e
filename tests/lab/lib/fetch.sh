# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Stock Debian kernels: downloaded and unpacked into the cache, never installed.
#
# $LAB_CACHE/<series>/ holds debs/, lists/ and one <release>/ per kernel release, and `current`
# names the release to boot. What is under $LAB_CACHE/arm64/ is for that architecture.

fetch_suite() {
	case $1 in
	6.1) echo bookworm ;;
	6.12 | rt) echo trixie ;;
	sid) echo sid ;;
	6.1-uclamp) echo "none: it is built" ;;
	*) die_usage "lab: kernel '$1': expected 6.1, 6.1-uclamp, 6.12, sid or rt" ;;
	esac
}

# The mirror that this machine's apt uses. apt itself tells, so every form of sources will do.
fetch_mirror() {
	apt-get --print-uris update 2>/dev/null |
		sed -n "s,^'\([^']*\)/dists/[^']*/InRelease'.*,\1,p" |
		grep -v -- '-security' | head -n 1
}

# The keyrings of an older Debian lie in the machine's trusted.gpg.d; its own sources may name
# another place, which is the one that holds the newer keys.
fetch_write_sources() {
	local suite=$1 file=$2 mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg options=""

	mirror=$(fetch_mirror) || true
	[ -n "$mirror" ] || die "no Debian mirror in this machine's apt sources"
	[ ! -e "$keyring" ] || options=" [signed-by=$keyring]"
	printf 'deb%s %s %s main\n' "$options" "$mirror" "$suite" >"$file"
}

fetch_retry() {
	local attempt

	for attempt in 1 2 3; do
		"$@" && return 0
		say "attempt $attempt of 3 failed: $*"
		sleep $((attempt * 2))
	done
	return 1
}

# fetch_arch FOLDER: Debian's name of the architecture of what is fetched there.
fetch_arch() {
	case $1 in
	*/arm64/*) echo arm64 ;;
	*) echo amd64 ;;
	esac
}

# fetch_packages FOLDER APT-CACHE…: those that carry kernel and modules: sid splits them, the older
# releases do not.
fetch_packages() {
	local series=${1##*/} arch image

	arch=$(fetch_arch "$1")
	[ "$series" != rt ] || arch=rt-$arch
	shift
	image=$("$@" show "linux-image-$arch" | fetch_depends | grep -m 1 '^linux-image-[0-9]') ||
		return 1
	echo "$image"
	"$@" show "$image" | fetch_depends | grep -E '^linux-(base|binary|modules)-[0-9]' || true
}

# The names of the first `Depends:` line on standard input, one a line, versions left out.
fetch_depends() {
	sed -n 's/^Depends: //p' | head -n 1 | sed 's/([^)]*)//g; s/[ ,|]\+/\n/g'
}

# Sets apt_options for an apt that knows $work/sources.list and nothing of the machine's own lists; a mirror may stand still.
fetch_options() {
	local work=$1 arch

	arch=$(fetch_arch "$work")
	apt_options=(
		-oAPT::Architecture="$arch" -oAPT::Architectures="$arch"
		-oDir::Etc::SourceList="$work/sources.list" -oDir::Etc::SourceParts=/dev/null
		-oDir::Etc::Preferences=/dev/null -oDir::Etc::PreferencesParts=/dev/null
		-oDir::State::Lists="$work/lists" -oDir::Cache="$work/apt"
		-oAPT::Sandbox::User=root -oAcquire::Languages=none -oAcquire::Retries=3 -oAcquire::Check-Valid-Until=false
		-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
	)
}

fetch_make_folders() {
	mkdir -p "$1/lists/partial" "$1/apt" "$1/debs"
}

# fetch_debs WORK PACKAGE…: downloads them into $work/debs, with all that they depend on: of what the host has
# installed nothing is of use.
fetch_debs() {
	local work=$1 apt_options

	shift
	fetch_options "$work"
	fetch_make_folders "$work" || return 1
	: >"$work/status"
	apt_options+=(-oDir::State::status="$work/status" -oDir::Cache::archives="$work/debs")
	mkdir -p "$work/debs/partial" || return 1
	apt-get "${apt_options[@]}" -qq update >&2 || return 1
	apt-get "${apt_options[@]}" -qq -y --no-install-recommends --download-only install "$@" >&2
}

# Downloads and unpacks into $work/tree. Runs as a whole again on failure: sid moves under us.
fetch_download() {
	local work=$1 packages apt_options

	fetch_options "$work"
	fetch_make_folders "$work" || return 1
	apt-get "${apt_options[@]}" -qq update >&2 || return 1
	packages=$(fetch_packages "$work" apt-cache "${apt_options[@]}") || return 1
	rm -rf "$work/tree"
	mkdir "$work/tree" || return 1
	# shellcheck disable=SC2086 # one word per package
	(cd "$work/debs" && apt-get "${apt_options[@]}" -qq download $packages >&2) || return 1
	fetch_unpack "$work" "$packages"
}

fetch_unpack() {
	local work=$1 package deb

	for package in $2; do
		# The newest, should several versions of one release lie there.
		deb=$(find "$work/debs" -name "${package}_*.deb" -printf '%T@ %p\n' |
			sort -n | tail -n 1 | cut -d ' ' -f 2-)
		[ -n "$deb" ] && dpkg -x "$deb" "$work/tree" || return 1
	done
}

# Brings a tree into one form whatever the release: <release>/{vmlinuz,version,usr/lib/modules/…}.
fetch_install() {
	local work=$1 tree=$1/tree release image

	# bookworm's packages still have /lib, not /usr/lib.
	if [ -d "$tree/lib/modules" ]; then
		mkdir -p "$tree/usr/lib"
		mv "$tree/lib/modules" "$tree/usr/lib/modules"
	fi
	release=$(basename "$(echo "$tree"/usr/lib/modules/*)")
	image=$tree/usr/lib/modules/$release/vmlinuz
	[ -e "$image" ] || image=$tree/boot/vmlinuz-$release
	[ -e "$image" ] || die "the packages in $work/debs hold no kernel image for '$release'"
	mv "$image" "$tree/vmlinuz"
	depmod -b "$tree/usr" "$release"
	fetch_keep "$work" "$release"
}

# fetch_keep WORK NAME: $work/tree becomes $work/<NAME>, the one to use. A VM may be running from
# there: not without need.
fetch_keep() {
	local work=$1 name=$2

	if [ -d "$work/$name" ] && diff -rq "$work/tree" "$work/$name" >/dev/null 2>&1; then
		rm -rf "$work/tree"
	else
		rm -rf "${work:?}/$name"
		mv "$work/tree" "$work/$name"
	fi
	printf '%s\n' "$name" >"$work/current.new"
	mv "$work/current.new" "$work/current"
}

# fetch_linux_source WORK PACKAGE LEVELS [PATTERN]: what of the kernel's sources has such a name, into
# $work/tree, without the first LEVELS folders of its path.
fetch_linux_source() {
	local work=$1 package=$2 levels=$3

	rm -rf "$work/tree" "$work/debs"
	mkdir -p "$work/tree" "$work/debs" || return 1
	(cd "$work/debs" && apt-get -oAPT::Sandbox::User=root -qq download "$package" >&2) ||
		return 1
	dpkg-deb --fsys-tarfile "$(echo "$work"/debs/*.deb)" | tar -xO --wildcards './usr/src/*.tar.xz' |
		tar -xJ -C "$work/tree" --strip-components="$levels" --wildcards "${4:-*}" || return 1
	rm -r "$work/debs"
}

# lab fetch [KERNEL|emulator|machine|missing|arm64]
fetch_main() {
	local what=${1:-sid}

	[ $# -le 1 ] || die_usage "lab fetch: unexpected argument '$2'"
	case $what in
	machine) what=$(machine_folder) ;;
	emulator | missing | arm64) ;;
	*) fetch_suite "$what" >/dev/null ;;
	esac
	setup_main
	if [ "$what" = missing ]; then
		for what in "$(machine_folder)" emulator sid 6.1; do
			fetch_current "$what" >/dev/null
		done
	elif [ "$what" = arm64 ]; then
		arm_fetch
	else
		fetch_locked "$what" always
	fi
}

# fetch_locked WHAT always|missing: one at a time, and another may have fetched what is missing.
fetch_locked() {
	local what=$1 work=$LAB_CACHE/$1

	mkdir -p "$work"
	exec {fetch_lock}>"$work/lock"
	flock "$fetch_lock"
	if [ "$2" = always ] || [ ! -s "$work/current" ]; then
		case $what in
		emulator) emulator_fetch "$work" ;;
		machine/* | machine-arm64/*) machine_fetch "$work" ;;
		arm64/root-*) arm_fetch_root "$work" ;;
		6.1-uclamp) kernel_build "$work" ;;
		*) fetch_kernel "$(fetch_suite "${what##*/}")" "$work" ;;
		esac
		say "fetched $(cat "$work/current")"
	fi
	exec {fetch_lock}>&-
}

fetch_kernel() {
	local suite=$1 work=$2

	say "fetching the newest kernel of $suite into $work"
	fetch_write_sources "$suite" "$work/sources.list"
	fetch_retry fetch_download "$work" || die "could not fetch a kernel of $suite"
	fetch_install "$work"
}

# Prints which release of a kernel, or version of the emulator, to use, fetching one when the cache
# has none.
fetch_current() {
	[ -s "$LAB_CACHE/$1/current" ] || fetch_locked "$1" missing
	cat "$LAB_CACHE/$1/current"
}
