# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the VM boots from: the ACPI table and an initramfs per kernel, kept in the cache.

# Needed to reach the root file system, and what the guest is to find loaded.
IMAGE_ROOT_MODULES=(virtio_pci 9pnet_virtio 9p overlay)
IMAGE_BUSYBOX=/bin/busybox
IMAGE_GUEST_MODULES=(acpi-cpufreq cpufreq_userspace cpufreq_powersave configfs null_blk)

# image_acpi_cpu CPU DOMAIN DOMAIN_CPUS MAX_MHZ: how a CPU asks for a frequency.
image_acpi_cpu() {
	printf '  Scope (\\_SB.CPUS.C%03X) {\n' "$1"
	case $RUN_DRIVER in
	amd*) image_acpi_cppc ;;
	*) image_acpi_pstates "$2" "$4" ;;
	esac
	printf '    Name (_PSD, Package(){ Package(){5,0,%d,0xFC,%d} })\n' "$2" "$3"
	[ -z "$RUN_IDLE_STATES" ] || image_acpi_idle
	echo '  }'
}

# image_acpi_pstates DOMAIN MAX_MHZ: it asks for a P-state by a byte to port 0x5f0, where QEMU's
# isa-debugcon listens (0x402 is the firmware's), or by PERF_CTL. The byte is the domain, times 32, and
# the frequency in 100 MHz; PERF_CTL has that ratio in bits 8 to 15.
image_acpi_pstates() {
	local register="SystemIO,8,0,0x5f0" factor=1 offset=$(($1 % 8 * 32)) latency_us=10

	[ "$RUN_DRIVER" = acpi ] || register=FFixedHW,64,0,0x199 factor=256 offset=0
	((RUN_TRANSITION < 10000)) || latency_us=$((RUN_TRANSITION / 1000))
	printf '    Name (_PCT, Package(){ ResourceTemplate(){Register(%s)}, ResourceTemplate(){Register(%s)} })\n' \
		"$register" "$register"
	awk -v max="$2" -v factor="$factor" -v offset="$offset" -v latency="$latency_us" '
		!/^#/ && $1 <= max {
			value = $1 / 100 * factor + offset
			list = list sprintf("%sPackage(){%d,%d,%d,10,0x%x,0x%x}", list ? ", " : "",
				$1, $3 + $4, latency, value, value)
		}
		END { print "    Name (_PSS, Package(){ " list " })" }' "$LAB_DIR/opps"
	printf '    Name (_PPC, 0)\n'
}

# CPPC, version 3, as AMD's firmware has it: the MSRs by their bits, and the lowest and the nominal
# frequency in MHz. A register that is not there is one of no bits.
image_acpi_cppc() {
	local none="ResourceTemplate () {Register (SystemMemory, 0, 0, 0, 0)}"

	cat <<-EOF
	    Name (_CPC, Package () { 23, 3,
	      ResourceTemplate () {Register (FFixedHW, 8, 24, 0xC00102B0, 4)}, // highest performance
	      ResourceTemplate () {Register (FFixedHW, 8, 16, 0xC00102B0, 4)}, // nominal
	      ResourceTemplate () {Register (FFixedHW, 8, 8, 0xC00102B0, 4)},  // lowest non-linear
	      ResourceTemplate () {Register (FFixedHW, 8, 0, 0xC00102B0, 4)},  // lowest
	      ResourceTemplate () {Register (FFixedHW, 8, 0, 0xC00102B2, 4)},  // guaranteed
	      ResourceTemplate () {Register (FFixedHW, 8, 16, 0xC00102B3, 4)}, // desired
	      ResourceTemplate () {Register (FFixedHW, 8, 8, 0xC00102B3, 4)},  // minimum
	      ResourceTemplate () {Register (FFixedHW, 8, 0, 0xC00102B3, 4)},  // maximum
	      $none, // tolerance
	      $none, // time window
	      $none, // wraparound
	      ResourceTemplate () {Register (FFixedHW, 64, 0, 0xE7, 4)},       // reference counter
	      ResourceTemplate () {Register (FFixedHW, 64, 0, 0xE8, 4)},       // delivered counter
	      ResourceTemplate () {Register (FFixedHW, 2, 0, 0xC00102B4, 4)},  // limited
	      ResourceTemplate () {Register (FFixedHW, 1, 0, 0xC00102B1, 4)},  // enable
	      $none, // autonomous selection
	      $none, // its time window
	      ResourceTemplate () {Register (FFixedHW, 8, 24, 0xC00102B3, 4)}, // energy preference
	      $none, // reference performance
	      400, 1000 })
	EOF
}

# The idle states of a CPU: to be halted, and those that it enters by reading the ports behind 0x5f0.
image_acpi_idle() {
	awk -F : -v port=$((0x5f0)) '{
		list = "Package(){ResourceTemplate(){Register(FFixedHW,0,0,0)}, 1, 1, 100}"
		for (i = 1; i < NF; i += 2)
			list = list sprintf(", Package(){ResourceTemplate(){Register(SystemIO,8,0,0x%x)}, 2, %d, %d}",
				port + (i + 1) / 2, $i, $(i + 1))
		printf "    Name (_CST, Package(){%d, %s})\n", (NF + 2) / 2, list
	}' <<<"$RUN_IDLE_STATES"
}

# A power line and a battery, for the modules ac and battery: the line is online but while the scratch
# register of COM1 holds 0xba, and the battery discharges while that holds 0xba or 0xbb.
image_acpi_line() {
	cat <<-'EOF'
	  Scope (\_SB) {
	    Device (ADP1) {
	      Name (_HID, "ACPI0003")
	      OperationRegion (SCRT, SystemIO, 0x3FF, 1)
	      Field (SCRT, ByteAcc, NoLock, Preserve) { BATT, 8 }
	      Method (_PSR) { If (LEqual (BATT, 0xBA)) { Return (0) } Return (1) }
	    }
	    Device (BAT0) {
	      Name (_HID, "PNP0C0A")
	      OperationRegion (SCRT, SystemIO, 0x3FF, 1)
	      Field (SCRT, ByteAcc, NoLock, Preserve) { BATT, 8 }
	      Method (_STA) { Return (0x1F) }
	      Name (_BIF, Package () { 0, 40000, 40000, 1, 12000, 4000, 2000, 100, 100, "B", "1", "LION", "lab" })
	      Name (DOWN, Package () { 1, 5000, 20000, 12000 })
	      Name (UP, Package () { 2, 5000, 20000, 12000 })
	      Method (_BST) { If (LEqual (And (BATT, 0xFE), 0xBA)) { Return (DOWN) } Return (UP) }
	    }
	  }
	EOF
}

# The table in ACPI's source language, for the CPUs and domains of this run.
image_acpi_source() {
	local cpu=0 domain=0 part count i

	echo 'DefinitionBlock ("ssdt.aml", "SSDT", 1, "WAKGOV", "CPUFREQ", 1)'
	echo '{'
	for ((i = 0; i < RUN_CPUS; i++)); do
		printf '  External (\\_SB.CPUS.C%03X, DeviceObj)\n' "$i"
	done
	for part in ${RUN_DOMAINS//,/ }; do
		count=${part%x*}
		for ((i = 0; i < count; i++)); do
			image_acpi_cpu "$cpu" "$domain" "$count" "${part#*x}"
			cpu=$((cpu + 1))
		done
		domain=$((domain + 1))
	done
	image_acpi_line
	echo '}'
}

# Prints the path of the compiled table, compiling it when the cache has none.
image_acpi_table() {
	local source key table log

	source=$(image_acpi_source)
	key=$(sha256sum <<<"$source" | cut -c 1-16)
	table=$LAB_CACHE/ssdt-$key.aml
	if [ ! -s "$table" ]; then
		mkdir -p "$LAB_CACHE"
		echo "$source" >"$LAB_CACHE/ssdt-$key-$$.dsl"
		log=$(iasl -p "$LAB_CACHE/ssdt-$key-$$" "$LAB_CACHE/ssdt-$key-$$.dsl" 2>&1) ||
			die "iasl: $log"
		rm "$LAB_CACHE/ssdt-$key-$$.dsl"
		mv "$LAB_CACHE/ssdt-$key-$$.aml" "$table"
	fi
	echo "$table"
}

# image_add_modules TREE RELEASE LIST MODULE…: copies modules and what they need, unpacked, and
# writes their names in loading order to LIST.
image_add_modules() {
	local tree=$1 release=$2 list=$3 verb file module needed=""

	shift 3
	: >"$tree/modules/$list"
	for module in "$@"; do
		needed+=$(modprobe -d "$LAB_RELEASE_DIR/usr" -S "$release" --show-depends "$module")$'\n' ||
			die "kernel $release has no module $module"
	done
	while read -r verb file _; do
		# "builtin NAME" needs nothing.
		[ "$verb" = insmod ] || continue
		case $file in
		*.xz) xz -dc "$file" >"$tree/modules/$(basename "$file" .xz)" ;;
		*) cp "$file" "$tree/modules/" ;;
		esac
		basename "$file" .xz >>"$tree/modules/$list"
	done < <(printf '%s' "$needed" | awk '!seen[$0]++')
}

image_build_initramfs() {
	local release=$1 image=$2 tree

	tree=$(mktemp -d "$LAB_CACHE/initramfs.XXXXXX")
	mkdir -p "$tree"/{bin,modules,proc,sys,dev,host,lab,over,root}
	cp "$IMAGE_BUSYBOX" "$tree/bin/busybox"
	ln -s busybox "$tree/bin/sh"
	install -m 755 "$LAB_DIR/guest/init" "$tree/init"
	image_add_modules "$tree" "$release" root.list "${IMAGE_ROOT_MODULES[@]}"
	image_add_modules "$tree" "$release" guest.list "${IMAGE_GUEST_MODULES[@]}"
	(cd "$tree" && find . -print0 | cpio --null -o -H newc --quiet | gzip -1) >"$image.$$"
	rm -rf "$tree"
	mv "$image.$$" "$image"
}

# Prints the path of the initramfs for RELEASE; LAB_RELEASE_DIR is the unpacked kernel.
image_initramfs() {
	local release=$1 key image

	key=$({
		printf '%s\n' "${IMAGE_GUEST_MODULES[@]}"
		cat "$LAB_DIR/lib/image.sh" "$LAB_DIR/guest/init" "$IMAGE_BUSYBOX" "$LAB_RELEASE_DIR/vmlinuz"
	} | sha256sum | cut -c 1-16)
	image=$LAB_RELEASE_DIR/initramfs-$key.gz
	[ -s "$image" ] || image_build_initramfs "$release" "$image"
	echo "$image"
}
