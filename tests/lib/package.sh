# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Roots of a Debian release, and the packages built and tried in them. For sourcing by
# tests/package, which sets REPO, SUITE, RELEASE (that comes next), VERSION, UPSTREAM (what the programs say), ARCH (what they are built for), WORK (its directory), DEBS
# (where the packages go), REPOSITORY (where apt finds them) and ROOT (where they are tried).
# shellcheck disable=SC2153

# in_root ROOT COMMAND…: in the root DIRECTORY, without a systemd that runs.
in_root() {
	# shellcheck disable=SC2016  # the inner shell's own
	unshare --mount --pid --fork sh -ec '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --bind /dev "$root/dev"
		exec chroot "$root" /usr/bin/env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
	' sh "$@"
}

# Those of a root: that of this machine, and of the packages where they are built for another.
architectures() {
	printf '%s\n' "$(dpkg --print-architecture)" "$ARCH" | uniq | paste -sd ,
}

# make_root ROOT PACKAGE…: a bare root that reaches the mirror as this machine does, also one that stands still and is
# past its date; it need not survive a crash.
make_root() {
	local root=$1 include

	shift
	include=$(IFS=, && echo "debian-archive-keyring,$*")
	rm -rf "$root"
	fetch_write_sources "$SUITE" "$WORK/sources.list"
	mmdebstrap --quiet --mode=root --variant=apt --dpkgopt=force-unsafe-io --include="$include" \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--architectures="$(architectures)" "$SUITE" "$root" "$WORK/sources.list" || return 1
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
	in_root "$root" apt-get -qq update
}

# The tree as git knows it with conf/debian where Debian's tools look for it.
copy_tree() {
	local tree=$1

	mkdir -p "$tree"
	git -C "$REPO" ls-files -z | tar -C "$REPO" --null -T - -c | tar -C "$tree" -x || return 1
	echo "$UPSTREAM" >"$tree/.version"
	cp -r "$tree/conf/debian" "$tree/debian"
	cat >"$tree/debian/changelog" <<-END
	wakegov ($VERSION) unstable; urgency=medium

	  * As of commit $(git -C "$REPO" rev-parse --short HEAD).

	 -- wakegov's authors <wakegov@localhost>  $(git -C "$REPO" log -1 --format=%aD)
	END
}

builds() {
	local root=$WORK/build-root essential=build-essential

	[[ $WORK != *-"$ARCH" ]] || essential=crossbuild-essential-$ARCH
	make_root "$root" "$essential" || return 1
	rm -rf "$WORK/tree" && copy_tree "$WORK/tree" && mkdir "$root/src" && cp -a "$WORK/tree" "$root/src/wakegov" || return 1
	in_root "$root" apt-get -qq -y --no-install-recommends -a "$ARCH" build-dep /src/wakegov || return 1
	in_root "$root" sh -c "cd /src/wakegov && dpkg-buildpackage -b -us -uc -a $ARCH" || return 1
	rm -rf "$DEBS" && mkdir -p "$DEBS"
	cp "$root"/src/*.deb "$DEBS/"
	[ "$(cd "$DEBS" && echo *_"$VERSION"_*.deb | sed 's/_[^ ]*//g')" = \
		"wakegov-dbgsym wakegov-sim-dbgsym wakegov-sim wakegov" ]
}

# Elsewhere, later, and in another time zone, the same bytes come out.
reproduces() {
	local root=$WORK/build-root deb tree=elsewhere/once-more/wakegov

	mkdir -p "$root/${tree%/*}" && cp -a "$WORK/tree" "$root/$tree" || return 1
	in_root "$root" sh -c "cd /$tree && TZ=Pacific/Kiritimati dpkg-buildpackage -b -us -uc" || return 1
	for deb in "$DEBS"/*.deb; do
		cmp "$deb" "$root/${tree%/*}/${deb##*/}" || return 1
	done
}

# make_repository DIRECTORY PACKAGE…: for a line of sources.list; who publishes it signs it.
make_repository() {
	local directory=$1

	shift
	rm -rf "$directory" && mkdir -p "$directory" && cp "$@" "$directory" &&
		(cd "$directory" && dpkg-scanpackages --multiversion . >Packages)
}

makes_repository() {
	make_repository "$REPOSITORY" "$DEBS"/*.deb
}

metainfo_is_valid() {
	packages_install appstream && appstreamcli validate --no-net conf/io.wakegov.wakegovd.metainfo.xml
}

# What Fedora's packages define, for Debian's rpm; the spec's list of files must be that of what is installed.
RPM_MACROS="
%_unitdir /usr/lib/systemd/system
%_sbindir /usr/sbin
%meson meson setup --buildtype=plain --prefix=/usr --libexecdir=libexec build
%meson_build meson compile -C build
%meson_install DESTDIR=%{buildroot} meson install -C build
%systemd_post() :
%systemd_preun() :
%systemd_postun_with_restart() :
%__os_install_post %{nil}
"

# make_archive DIRECTORY: meson's archive, packed anew, since meson's has the times and owners of this machine.
make_archive() {
	local work=$1 name=wakegov-$RELEASE

	rm -rf "$work"
	if ! meson setup "$work/build" >"$work.log" 2>&1 ||
		! meson dist -C "$work/build" --no-tests --formats xztar >>"$work.log" 2>&1; then
		cat "$work.log"
		return 1
	fi
	tar -C "$work" -xf "$work/build/meson-dist/$name.tar.xz" || return 1
	tar -C "$work" --sort=name --format=posix --pax-option=delete=atime,delete=ctime --owner=0 --group=0 --numeric-owner \
		--mode=go+u,go-w --mtime="@$(git log -1 --format=%ct)" -c "$name" | xz -9 -T 1 >"$work/$name.tar.xz"
}

# rpm_builds ARCHIVE DIRECTORY: from meson's archive, by Fedora's spec, into the directory. No-buildroot-tag is of
# rpm before 4.6; Source0 has no address yet.
rpm_builds() {
	local top=$WORK/rpm spec=conf/fedora/wakegov.spec

	packages_install rpm rpmlint "${BUILD_PACKAGES[@]}" || return 1
	rpmlint "$spec" | tee "$WORK/rpmlint" | grep -q ' 0 errors' || { cat "$WORK/rpmlint" && return 1; }
	! grep ': W: ' "$WORK/rpmlint" | grep -vE 'no-buildroot-tag|invalid-url Source0' || return 1
	rm -rf "$top" && mkdir -p "$top/SOURCES" && echo "$RPM_MACROS" >"$top/macros" && cp "$1" "$top/SOURCES/" || return 1
	rpmbuild --quiet -bb --nodeps --define "_topdir $top" --load "$top/macros" "$spec" || return 1
	# openSUSE's own macros stay as they are.
	rpmspec -P --define "suse_version 1600" "$spec" | tee "$WORK/suse" | grep -q cpupower-devel || return 1
	grep -q '^%service_add_post wakegovd.service' "$WORK/suse" && ! grep -q systemd_post "$WORK/suse" || return 1
	# Who publishes it signs it; a group is of old rpms; it takes wakegov.conf.5 for the section "conf".
	rpmlint "$top"/RPMS/*/*.rpm >"$WORK/rpmlint" || true
	grep -q 'packages and' "$WORK/rpmlint" && ! grep ': E: ' "$WORK/rpmlint" |
		grep -vE 'no-(signature|packager-tag|group-tag)|no-dependency-on locales-sim|bad-manual-page-folder' || return 1
	[ "$(find "$top/RPMS" -name '*.rpm' | wc -l)" = 2 ] && find "$top/RPMS" -name '*.rpm' -exec cp -t "$2" {} +
}

# arch_builds ARCHIVE DIRECTORY: by PKGBUILD, where makepkg's user may write.
arch_builds() {
	local top

	packages_install makepkg pacman-package-manager libarchive-tools shellcheck "${BUILD_PACKAGES[@]}" || return 1
	shellcheck conf/arch/PKGBUILD || return 1
	top=$(mktemp -d) && cp conf/arch/PKGBUILD "$1" "$top/" && chown -R nobody "$top" || return 1
	(cd "$top" && HOME=$top setpriv --reuid=nobody --regid=nogroup --clear-groups \
		makepkg --nodeps) 2>&1 | tee "$WORK/makepkg"
	cp "$top"/wakegov-*.pkg.tar.* "$2/"
	rm -rf "$top"
	! grep -F 'contains reference to' "$WORK/makepkg" && bsdtar -tf "$2"/wakegov-*.pkg.tar.* | grep -qx usr/bin/wakegovd
}

# There is no address for mail yet; who publishes the packages has one.
lintian_is_clean() {
	lintian --allow-root --fail-on error,warning \
		--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$DEBS"/*.deb
}

# The package with a higher version, and with another policy as its example.
make_next() {
	local tree=$WORK/next

	rm -rf "$tree"
	dpkg-deb -R "$DEBS"/wakegov_"$VERSION"_*.deb "$tree" || return 1
	sed -i "s/^Version: .*/Version: $VERSION+next/" "$tree/DEBIAN/control"
	echo "# next" >>"$tree/usr/share/wakegov/wakegov.conf"
	dpkg-deb --root-owner-group -b "$tree" "$WORK/wakegov_next.deb" &&
		make_repository "$REPOSITORY-next" "$DEBS"/*.deb "$WORK/wakegov_next.deb"
}

# use_repository NAME: a folder in the root.
use_repository() {
	echo "deb [trusted=yes] file:/$1 ./" >"$ROOT/etc/apt/sources.list.d/wakegov.list"
	in_root "$ROOT" apt-get -qq update
}

# What the packages depend on comes first: what is left behind by themselves shows against this.
prepares() {
	local depends

	make_root "$ROOT" systemd || return 1
	depends=$(for deb in "$DEBS"/wakegov_*.deb "$DEBS"/wakegov-sim_*.deb; do
		dpkg-deb -f "$deb" Depends
	done | paste -sd ,)
	in_root "$ROOT" apt-get -qq -y --no-install-recommends satisfy "$depends" || return 1
	make_next && cp -r "$REPOSITORY" "$REPOSITORY-next" "$ROOT/" || return 1
	use_repository "${REPOSITORY##*/}" || return 1
	list_files >"$WORK/before"
}

# Without apt's and dpkg's own books, caches and logs, and what systemctl leaves.
list_files() {
	(cd "$ROOT" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache \
		-o -path ./var/log -o -path ./run/systemd -o -path ./tmp \) -prune -o -print) | sort
}

installs_there() {
	in_root "$ROOT" apt-get -qq -y install wakegov wakegov-sim wakegov-dbgsym wakegov-sim-dbgsym &&
		[ "$(in_root "$ROOT" systemctl is-enabled wakegovd.service)" = enabled ] &&
		for unit in wakegov-desktop.service wakegov-metrics.timer wakegov-benefit.timer; do
			[ "$(in_root "$ROOT" systemctl is-enabled "$unit")" = disabled ] || return 1
		done
}

runs() {
	in_root "$ROOT" wakegovd --version | grep -F "$UPSTREAM" &&
		in_root "$ROOT" wakegovd --check-config /usr/share/wakegov/wakegov.conf &&
		# It finds fault with a machine that has nothing to drive.
		{ in_root "$ROOT" wakegovctl doctor || true; } | grep -F "cpufreq domains" &&
		in_root "$ROOT" wakegov-sim --help
}

unit_is_right() {
	in_root "$ROOT" systemd-analyze verify --man=no wakegovd.service
}

catalog_is_known() {
	in_root "$ROOT" journalctl --list-catalog | grep -i wakegov
}

symbols_fit() {
	local id

	id=$(readelf -n "$ROOT/usr/sbin/wakegovd" | sed -n 's/.*Build ID: //p')
	[ -n "$id" ] && [ -s "$ROOT/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]
}

# A policy with a fault, a drop-in of the unit, and a unit that was switched off, are as they were; what
# the package brings is new.
upgrades() {
	local dropin=etc/systemd/system/wakegovd.service.d/mine.conf

	echo "nonsense = yes" | install -D /dev/stdin "$ROOT/etc/wakegov/wakegov.conf" || return 1
	printf '[Service]\nNice=-1\n' | install -D /dev/stdin "$ROOT/$dropin" || return 1
	! in_root "$ROOT" wakegovd --check-config || return 1
	in_root "$ROOT" systemctl disable wakegovd.service || return 1
	in_root "$ROOT" apt-get -qq -y install --reinstall wakegov || return 1
	use_repository "${REPOSITORY##*/}-next" || return 1
	# Its symbols ask for this very version, and go.
	in_root "$ROOT" apt-get -qq -y install wakegov || return 1
	in_root "$ROOT" dpkg -s wakegov | grep -qxF "Version: $VERSION+next" || return 1
	[ "$(in_root "$ROOT" systemctl is-enabled wakegovd.service)" = disabled ] || return 1
	[ "$(tail -n 1 "$ROOT/usr/share/wakegov/wakegov.conf")" = "# next" ] || return 1
	[ "$(cat "$ROOT/$dropin")" = $'[Service]\nNice=-1' ] || return 1
	rm -r "${ROOT:?}/${dropin%/*}"
	[ "$(cat "$ROOT/etc/wakegov/wakegov.conf")" = "nonsense = yes" ]
}

removes() {
	in_root "$ROOT" apt-get -qq -y remove wakegov || return 1
	[ ! -e "$ROOT/usr/sbin/wakegovd" ] && [ -e "$ROOT/etc/wakegov/wakegov.conf" ]
}

purges() {
	mkdir -p "$ROOT/run/wakegov" "$ROOT/var/lib/wakegov"
	in_root "$ROOT" apt-get -qq -y purge wakegov wakegov-sim 'wakegov.*-dbgsym' || return 1
	[ "$(cat "$ROOT/etc/wakegov/wakegov.conf")" = "nonsense = yes" ] || return 1
	rm -r "$ROOT/etc/wakegov"
	list_files | diff "$WORK/before" -
}

# The lab's root is this machine's, which has the libraries of its own release only.
under_systemd() {
	if [ "$(. /etc/os-release && echo "$VERSION_CODENAME")" = "$SUITE" ]; then
		"$LAB" setup >&2 || return 1
		"$LAB" run --init systemd --packages ansible-core --timeout 2500 -- /usr/bin/python3 "$GUEST/test_package.py" ||
			echo "not ok - under systemd it passes whole"
	else
		echo "ok - under systemd # SKIP the lab runs packages of this machine's release only"
	fi
}
