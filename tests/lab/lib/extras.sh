# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lab run --packages: Debian packages that the guest has besides the host's, with what they need.
# Unpacked, not configured: nothing of them runs by itself.

# Downloads into debs/ what the host lacks of them, and unpacks it into tree/.
extras_download() {
	local work=$1 deb package

	shift
	rm -rf "$work/debs" "$work/tree"
	mkdir -p "$work/debs/partial" "$work/tree" || return 1
	packages_update || return 1
	# One by one: they may be in conflict.
	for package in "$@"; do
		apt-get -oDir::Cache::archives="$work/debs" -oAPT::Sandbox::User=root -qq -y \
			-oDPkg::Lock::Timeout=600 --no-install-recommends --download-only \
			install "$package" >&2 || return 1
	done
	for deb in "$work"/debs/*.deb; do
		# None where the host has them all.
		[ ! -e "$deb" ] || dpkg -x "$deb" "$work/tree" || return 1
	done
	rm -rf "$work/debs"
}

# These are links in a root with a merged /usr, which a directory would hide.
extras_merge_usr() {
	local tree=$1 name

	for name in bin sbin lib lib64; do
		[ -d "$tree/$name" ] || continue
		mkdir -p "$tree/usr/$name"
		cp -a "$tree/$name/." "$tree/usr/$name/"
		rm -r "${tree:?}/$name"
	done
}

# Prints the directory of these packages, a list such as tlp,tuned; nothing for none.
extras_find() {
	local list=$1 work=$LAB_CACHE/extras/$1 names lock

	[ -n "$list" ] || return 0
	IFS=, read -ra names <<<"$list"
	mkdir -p "$work"
	exec {lock}>"$work/lock"
	flock "$lock"
	if [ ! -e "$work/done" ]; then
		say "fetching ${names[*]}"
		fetch_retry extras_download "$work" "${names[@]}" || die "could not fetch ${names[*]}"
		extras_merge_usr "$work/tree"
		: >"$work/done"
	fi
	exec {lock}>&-
	echo "$work/tree"
}
