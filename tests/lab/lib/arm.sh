# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lab run --arch arm64: the timed machine with CPUs of unlike capacity. Its kernels are Debian's for arm64,
# its root is of unpacked packages, and what runs there is built by a cross compiler.
#
# The CPUs are those of --clusters, each cluster a domain whose frequency is set by registers as
# mediatek-cpufreq-hw knows them. By default they are those of a Rockchip RK3399: Linux's rk3399.dtsi gives its
# little CPUs 485 of the big ones' 1024 at one frequency, and the same share of instructions goes by here.

# shellcheck disable=SC2034 # for run.sh
ARM_CLUSTERS=4x1400x485,2x1800x1024
ARM_GUEST_MODULES=(mediatek-cpufreq-hw cpufreq_userspace cpufreq_powersave configfs null_blk)
# On this machine
ARM_PACKAGES=(gcc-aarch64-linux-gnu device-tree-compiler meson clang-14 bpftool libbpf-dev)
# In the guest's root: what its tests run, and what wakegov is built against
ARM_ROOT_PACKAGES=(
	bash busybox-static coreutils fio gawk grep jq kmod linux-cpupower linux-perf mount procps python3 sed util-linux
	libbpf-dev libc6-dev libcmocka-dev libcpupower-dev libelf-dev libgcc-12-dev libinih-dev libjansson-dev
	libncurses-dev libsystemd-dev liburing-dev libzstd-dev zlib1g-dev
)
# What of wakegov --build makes: the unit tests of the guest's architecture run nowhere.
# shellcheck disable=SC2034 # for run.sh
ARM_TARGETS=(wakegovd wakegovctl tests/lab/{freqload,actuator-conformance,chainload})
# The registers of the first domain, as in machine/arm64/; each has a page.
ARM_REGISTERS=$((0xb000000))
# How long a change of frequency takes, as the registers say it, in us
ARM_LATENCY=10

arm_root_folder() {
	echo "arm64/root-$(printf '%s\n' "${ARM_ROOT_PACKAGES[@]}" | sha256sum | cut -c 1-16)"
}

# Downloads these packages of bookworm, and unpacks them into $work/tree.
arm_download_root() {
	local work=$1 deb name

	fetch_debs "$work" "${ARM_ROOT_PACKAGES[@]}" || return 1
	rm -rf "$work/tree"
	for name in bin sbin lib; do
		mkdir -p "$work/tree/usr/$name" || return 1
		ln -s "usr/$name" "$work/tree/$name"
	done
	for deb in "$work"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar x -C "$work/tree" --keep-directory-symlink || return 1
	done
	mkdir -p "$work/tree"/{proc,sys,dev,run,tmp,root,etc}
	# What their scripts would have done.
	ln -sf gawk "$work/tree/usr/bin/awk"
	ln -sf bash "$work/tree/usr/bin/sh"
	rm -rf "$work/debs"
}

arm_cross_file() {
	cat <<-EOF
	[binaries]
	c = 'aarch64-linux-gnu-gcc'
	ar = 'aarch64-linux-gnu-ar'
	strip = 'aarch64-linux-gnu-strip'
	pkgconfig = 'pkg-config'
	[host_machine]
	system = 'linux'
	cpu_family = 'aarch64'
	cpu = 'aarch64'
	endian = 'little'
	[properties]
	sys_root = '$1'
	pkg_config_libdir = ['$1/usr/lib/aarch64-linux-gnu/pkgconfig', '$1/usr/share/pkgconfig']
	[built-in options]
	c_args = ['--sysroot=$1']
	c_link_args = ['--sysroot=$1', '-Wl,-rpath-link=$1/usr/lib/aarch64-linux-gnu']
	EOF
}

arm_fetch_root() {
	local work=$1

	say "fetching the packages of bookworm for arm64 into $work"
	fetch_write_sources bookworm "$work/sources.list"
	fetch_retry arm_download_root "$work" || die "could not fetch the packages for arm64"
	arm_cross_file "$work/bookworm" >"$work/cross.ini"
	fetch_keep "$work" bookworm
}

# All that the cache lacks.
arm_fetch() {
	local what

	arm_use
	for what in "$(machine_folder)" emulator "$(arm_root_folder)" arm64/sid; do
		fetch_current "$what" >/dev/null
	done
}

# From here on the lab is of this architecture.
arm_use() {
	packages_install "${ARM_PACKAGES[@]}" || die "could not install the packages: see above"
	machine_use_arm64
	# shellcheck disable=SC2034 # for image.sh
	IMAGE_GUEST_MODULES=("${ARM_GUEST_MODULES[@]}")
}

# Sets RUN_ROOT to the guest's root.
arm_find_root() {
	local work

	work=$(arm_root_folder)
	RUN_ROOT=$LAB_CACHE/$work/$(fetch_current "$work") || return 1
	# shellcheck disable=SC2034 # for image.sh
	IMAGE_BUSYBOX=$RUN_ROOT/bin/busybox
}

# What the CPUs of each cluster draw in uW at each of its OPPs, as the device takes it:
# MHz/uW:MHz/uW,… A CPU of less capacity draws less by the square of it, as rk3399.dtsi has it: the
# dynamic power coefficients there are 100 and 436.
arm_opps() {
	local part sep=""

	for part in ${RUN_DOMAINS//,/ }; do
		printf '%s' "$sep"
		awk -v cluster="$part" '
			BEGIN { split(cluster, fields, "x") }
			!/^#/ && $1 <= fields[2] {
				printf "%s%d/%d", sep, $1, 1000 * $3 * (fields[3] / 1024) ^ 2
				sep = ":"
			}' "$LAB_DIR/opps"
		sep=,
	done
}

# To be put behind QEMU's own tree in source form, which has the CPUs all in one cluster.
arm_tree_source() {
	local part cpu=0 domain=0 i pages="" map=""

	for part in ${RUN_DOMAINS//,/ }; do
		pages+=$(printf '%s<0 0x%x 0 0x1000>' "${pages:+, }" $((ARM_REGISTERS + 0x1000 * domain)))
		map+="cluster$domain {"
		for ((i = 0; i < ${part%%x*}; i++, cpu++)); do
			printf 'c%d: &{/cpus/cpu@%d} { capacity-dmips-mhz = <%d>; performance-domains = <&clocks %d>; };\n' \
				"$cpu" "$cpu" "${part##*x}" "$domain"
			map+="core$i { cpu = <&c$cpu>; };"
		done
		map+="};"
		domain=$((domain + 1))
	done
	cat <<-EOF
	&{/cpus} { /delete-node/ cpu-map; };
	&{/cpus} { cpu-map { $map }; };
	&{/} {
		clocks: performance-controller@$(printf %x "$ARM_REGISTERS") {
			compatible = "mediatek,cpufreq-hw";
			reg = $pages;
			#performance-domain-cells = <1>;
		};
	};
	EOF
}

# Adds the device tree to RUN_QEMU, whose options are otherwise complete.
arm_add_tree() {
	local tree=$1/tree

	{
		"${RUN_QEMU[@]}" -machine "dumpdtb=$tree.own" && dtc -q -I dtb -O dts -o "$tree.dts" "$tree.own" &&
			arm_tree_source >>"$tree.dts" && dtc -q -I dts -O dtb -o "$tree" "$tree.dts"
	} >"$tree.log" 2>&1
	[ -s "$tree" ] || die "no device tree: $(cat "$tree.log")"
	RUN_QEMU+=(-dtb "$tree")
}

# Fills RUN_QEMU with the whole command line of the VM.
arm_qemu_command() {
	local dir=$1 initramfs=$2

	RUN_QEMU=(
		"${EMULATOR[@]}" -nodefaults -no-user-config -display none -no-reboot
		-M "virt,gic-version=3" -cpu cortex-a76 -accel "tcg,thread=single" -m 2048 -smp "$RUN_CPUS"
		-kernel "$LAB_RELEASE_DIR/vmlinuz" -initrd "$initramfs"
		-append "console=ttyAMA0 loglevel=5 panic=-1 oops=panic softlockup_panic=1 mitigations=off$RUN_APPEND"
		-serial "file:$RUN_CONSOLE"
		-global "cpufreq-hw.opps=$(arm_opps)"
		-global "cpufreq-hw.latency=$((RUN_TRANSITION < 10000 ? ARM_LATENCY : RUN_TRANSITION / 1000))"
	)
	run_qemu_folder hostroot /,readonly=on,multidevs=remap
	run_qemu_folder lab "$dir/share"
	machine_options
	arm_add_tree "$dir"
}
