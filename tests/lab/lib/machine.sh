# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The timed machine: QEMU of trixie, built with the patches in machine/, so that each CPU's time
# goes by its own frequency. See machine/README.md.
#
# $LAB_CACHE/machine/<key>/, and machine-arm64/<key>/, has what fetch.sh has of a kernel: one <version>/,
# and `current`. The key stands for the patches and for how QEMU is built. Those of machine/arm64/ are for
# aarch64 alone, on top of the first eight, so that a patch of one machine builds nothing of the other anew.

MACHINE_MESON=1.7.2
# What QEMU is built against, besides the C library; unpacked, not installed. Of them, what this Debian has.
MACHINE_DEV_PACKAGES=(
	libglib2.0-dev libglib2.0-0 libpcre2-dev libpcre2-8-0 zlib1g-dev zlib1g libffi-dev libffi8
	libmount-dev libmount1 libblkid-dev libblkid1 libselinux1-dev libselinux1 libsepol-dev libsepol2
	libgio-2.0-dev libglib2.0-0t64 libsysprof-capture-4-dev
)
MACHINE_FEATURES=(
	--target-list=x86_64-softmmu --with-devices-x86_64=lab
	--without-default-features --without-default-devices
	--enable-tcg --enable-virtfs --enable-attr --disable-kvm --disable-docs --disable-tools
	--disable-guest-agent --disable-werror --disable-fdt --disable-download --disable-install-blobs
)
MACHINE_DEVICES=(Q35 VIRTIO_PCI VIRTIO_9P VIRTIO_NET ISA_DEBUG HPET PCIE_PORT)
MACHINE_QEMU=qemu-system-x86_64
MACHINE_PATCHES=("$LAB_DIR"/machine/*.patch)

# From here on what is built, or found, is the machine of --arch arm64. Without debugging information it
# is built in less time.
machine_use_arm64() {
	MACHINE_DEV_PACKAGES+=(libfdt-dev libfdt1)
	MACHINE_FEATURES=(
		--target-list=aarch64-softmmu --with-devices-aarch64=lab "${MACHINE_FEATURES[@]:2}"
		--enable-fdt=system --disable-debug-info
	)
	MACHINE_DEVICES=(ARM_VIRT VIRTIO_PCI VIRTIO_9P)
	MACHINE_QEMU=qemu-system-aarch64
	MACHINE_PATCHES=("$LAB_DIR"/machine/000[1-8]-*.patch "$LAB_DIR"/machine/arm64/*.patch)
}

# The folder of the cache for the machine of this architecture.
machine_folder() {
	case $MACHINE_QEMU in
	*-aarch64) echo "machine-arm64/$(machine_key)" ;;
	*) echo "machine/$(machine_key)" ;;
	esac
}

# Of what decides what the build makes: how this file says it, and its comments, are not part of it.
machine_key() {
	{
		printf '%s\n' "$MACHINE_MESON" "${MACHINE_FEATURES[@]}" "${MACHINE_DEVICES[@]}"
		cat "${MACHINE_PATCHES[@]}"
	} | sha256sum | cut -c 1-16
}

# Downloads QEMU's source, and unpacks it into $work/source.
machine_fetch_source() {
	local work=$1 apt_options

	fetch_options "$work"
	rm -rf "$work/debs" "$work/source"
	fetch_make_folders "$work" || return 1
	mkdir "$work/source" || return 1
	apt-get "${apt_options[@]}" -qq update >&2 || return 1
	(cd "$work/debs" && apt-get "${apt_options[@]}" -qq source --download-only qemu >&2) || return 1
	tar x --no-same-owner --strip-components=1 -C "$work/source" \
		-f "$(echo "$work"/debs/qemu_*.orig.tar.xz)"
}

# Headers and libraries of this machine's own release, into $work/dev.
machine_fetch_dev() {
	local work=$1 deb link

	rm -rf "${work:?}/debs" "${work:?}/dev"
	mkdir -p "$work/debs" "$work/dev" || return 1
	apt-get -qq update >&2 || return 1
	(cd "$work/debs" && apt-cache show "${MACHINE_DEV_PACKAGES[@]}" 2>/dev/null | sed -n 's/^Package: //p' |
		sort -u | xargs apt-get -oAPT::Sandbox::User=root -qq download >&2) || return 1
	for deb in "$work"/debs/*.deb; do
		dpkg -x "$deb" "$work/dev" || return 1
	done
	# Where /usr is not merged, a link such as libz.so leads out of the tree.
	[ ! -d "$work/dev/lib" ] || cp -a "$work/dev/lib/." "$work/dev/usr/lib/"
	find "$work/dev/usr/lib/x86_64-linux-gnu" -maxdepth 1 -lname '/lib/*' | while read -r link; do
		ln -sf "$(basename "$(readlink "$link")")" "$link"
	done
}

# QEMU's build wants a newer meson than this machine's release has.
machine_fetch_meson() {
	rm -rf "$1/venv"
	python3 -m venv "$1/venv" >&2 || return 1
	"$1/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
		"meson==$MACHINE_MESON" pycotap==1.3.1 tomli==2.5.0 distlib==0.4.4 >&2
}

machine_patch() {
	local source=$1/source patch

	for patch in "${MACHINE_PATCHES[@]}"; do
		patch --quiet -d "$source" -p1 <"$patch" >&2 ||
			die "$(basename "$patch") does not fit QEMU $(cat "$source/VERSION")"
	done
	printf 'CONFIG_%s=y\n' "${MACHINE_DEVICES[@]}" \
		>"$source/configs/devices/${MACHINE_QEMU##*-}-softmmu/lab.mak"
	# Debian's source lacks the firmware, which comes with the stock QEMU.
	sed -i 's/unpack_edk2_blobs = bzip2.found()/unpack_edk2_blobs = false/' "$source/meson.build"
}

# Says how far ninja is, each tenth.
machine_progress() {
	awk -F '[][/]' -v what="$1" '
		/^\[[0-9]+\/[0-9]+\]/ && int(10 * $2 / $3) > tenth {
			tenth = int(10 * $2 / $3)
			printf "lab: building %s: %d %%\n", what, 10 * tenth >"/dev/stderr"
			fflush("/dev/stderr")
		}'
}

machine_compile() {
	local work=$1

	rm -rf "$work/build"
	mkdir "$work/build"
	cd "$work/build" || return 1
	export PKG_CONFIG_SYSROOT_DIR=$work/dev
	export PKG_CONFIG_PATH=$work/dev/usr/lib/x86_64-linux-gnu/pkgconfig:$work/dev/usr/share/pkgconfig
	"$work/source/configure" --python="$work/venv/bin/python" "${MACHINE_FEATURES[@]}" \
		--extra-cflags="-I$work/dev/usr/include" \
		--extra-ldflags="-L$work/dev/usr/lib/x86_64-linux-gnu" >"$work/log" 2>&1 || return 1
	ninja "$MACHINE_QEMU" 2>&1 | tee -a "$work/log" |
		machine_progress "QEMU $(cat "$work/source/VERSION")"
}

# Everything anew, so that a build that was cut off leaves nothing behind.
machine_fetch() {
	local work=$1 version

	say "building the timed machine in $work: some minutes, once"
	fetch_write_sources trixie "$work/sources.list"
	sed -i 's/^deb/deb-src/' "$work/sources.list"
	fetch_retry machine_fetch_source "$work" || die "could not fetch QEMU's source"
	fetch_retry machine_fetch_dev "$work" || die "could not fetch what QEMU is built against"
	fetch_retry machine_fetch_meson "$work" || die "could not fetch meson $MACHINE_MESON"
	machine_patch "$work"
	(machine_compile "$work") || die "could not build QEMU: $(tail -n 20 "$work/log")"
	version=$(cat "$work/source/VERSION")
	rm -rf "$work/tree"
	mkdir "$work/tree"
	strip -o "$work/tree/$MACHINE_QEMU" "$work/build/$MACHINE_QEMU"
	fetch_keep "$work" "$version"
	rm -rf "${work:?}"/{source,build,dev,venv,debs,lists,apt,log}
}

# Puts the timed machine into EMULATOR, which has stock QEMU's firmware and libraries, building it
# when the cache has none. Fails where it cannot be built.
machine_find() {
	local work version

	work=$(machine_folder)
	version=$(fetch_current "$work") || return 1
	# shellcheck disable=SC2034 # for run.sh
	EMULATOR[3]=$LAB_CACHE/$work/$version/$MACHINE_QEMU
}

# What a miss waits, in ns, and the cache of each CPU, in KiB: see machine/README.md.
MACHINE_STALLS=stall=100,cache=256

# With --stalls and --llcs: the cache that a group of CPUs shares, in KiB, and what its lines and those
# of another group wait, in ns.
MACHINE_SHARED_KIB=4096 MACHINE_SHARED_NS=17:80

# For each 100 MHz from the highest OPP down, MHZ:DYNAMIC:LEAKAGE in mW by the two formulas of the table: the
# voltage between two OPPs lies on the line between theirs.
machine_energy() {
	awk -v leakage="$RUN_LEAKAGE" '!/^#/ {
		for (mhz = n++ ? last - 100 : $1; mhz >= $1; mhz -= 100) {
			volt = ($2 + (mhz > $1 ? (last_mv - $2) * (mhz - $1) / (last - $1) : 0)) / 1000
			printf "%s%d:%.0f:%.0f", sep, mhz, 1000 * volt ^ 2 * mhz / 1000, leakage * volt ^ 2
			sep = ":"
		}
		last = $1; last_mv = $2
	}' "$1"
}

# Adds to RUN_QEMU what makes CPUs go by their frequency: 4 cycles an instruction. The seed is the
# machine's only chance: it moves the kernel in memory, and so everything that follows. What the CPUs
# draw is of ../opps, and of --energy: the time to leave each deeper idle state, in us, and the part of its
# leakage, in mW/V², that a CPU keeps there, in percent; what the package draws more while one is not in the last, in mW.
machine_options() {
	local icount="shift=0,sleep=off,cpi=4,domains=${RUN_DOMAINS//,/:}"

	icount+=",transition=$RUN_TRANSITION${RUN_TURBO:+,turbo=${RUN_TURBO//,/:}}"
	icount+=${RUN_STALLS:+,$MACHINE_STALLS}${RUN_IDLE_STATES:+,idle=$RUN_IDLE_STATES,uncore=$RUN_UNCORE}
	[[ -z $RUN_STALLS || $RUN_LLCS == 1 ]] ||
		icount+=,shared=$MACHINE_SHARED_KIB:$((RUN_CPUS / RUN_LLCS)):$MACHINE_SHARED_NS
	[ "$RUN_THREADS" = 1 ] || icount+=,threads=$RUN_THREADS
	icount+=",energy=$(machine_energy "$LAB_DIR/opps")"
	RUN_QEMU+=(
		-icount "$icount" -seed "$RUN_SEED" -rtc "base=2030-01-01,clock=vm"
		-global virtio-9p-pci.ioeventfd=off
	)
}

# What the CPUs offer beyond the stock lab's, for RUN_DRIVER to bind.
machine_cpu() {
	case $RUN_DRIVER in
	msr | pstate | pstate-active) echo ,x-pstates=on ;;
	hwp | hwp-passive) echo ,x-pstates=on,x-hwp=on ;;
	amd | amd-*)
		echo -n ,x-pstates=on,x-cppc=on
		# By these leaves the kernel finds the threads of AMD's CPUs.
		[ "$RUN_THREADS" = 1 ] || echo ,topoext=on,xlevel=0x8000001e
		;;
	esac
}

# CPUs see each other's clocks at most a quantum apart, which the kernel is not to take for a fault.
machine_append() {
	echo -n " tsc=reliable"
	case $RUN_DRIVER in
	msr) echo " intel_pstate=disable" ;;
	pstate-active | hwp) echo " intel_pstate=active" ;;
	pstate | hwp-passive) echo " intel_pstate=passive" ;;
	amd) echo " amd_pstate=active" ;;
	amd-*) echo " amd_pstate=${RUN_DRIVER#amd-}" ;;
	esac
}
