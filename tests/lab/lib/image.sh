# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the VM boots from: the ACPI table and an initramfs per kernel, kept in the cache.

# Needed to reach the root file system, and what the guest is to find loaded.
IMAGE_ROOT_MODULES=(virtio_pci 9pnet_virtio 9p overlay)
IMAGE_GUEST_MODULES=(acpi-cpufreq cpufreq_userspace cpufreq_powersave configfs null_blk)

# Prints the path of the compiled table, compiling it when the source is newer than the cache.
image_acpi_table() {
	local source=$LAB_DIR/ssdt.dsl key table log

	key=$(sha256sum "$source" | cut -c 1-16)
	table=$LAB_CACHE/ssdt-$key.aml
	if [ ! -s "$table" ]; then
		mkdir -p "$LAB_CACHE"
		log=$(iasl -p "$LAB_CACHE/ssdt-$key-$$" "$source" 2>&1) || die "iasl: $log"
		mv "$LAB_CACHE/ssdt-$key-$$.aml" "$table"
	fi
	echo "$table"
}

# image_add_modules TREE RELEASE LIST MODULE…: copies modules and what they need, unpacked, and
# writes their names in loading order to LIST.
image_add_modules() {
	local tree=$1 release=$2 list=$3 verb file module needed=""

	shift 3
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
	cp /bin/busybox "$tree/bin/busybox"
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

	key=$(cat "$LAB_DIR/lib/image.sh" "$LAB_DIR/guest/init" /bin/busybox "$LAB_RELEASE_DIR/vmlinuz" |
		sha256sum | cut -c 1-16)
	image=$LAB_RELEASE_DIR/initramfs-$key.gz
	[ -s "$image" ] || image_build_initramfs "$release" "$image"
	echo "$image"
}
