# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Linux 6.1 with uclamp, which Debian's kernels have only since 7.0: schedutil clamped otherwise before
# Linux 6.8. Built from Debian's sources, with kernel.config and nothing besides: no modules.

KERNEL_SOURCE=linux-source-6.1
KERNEL_PACKAGES=(gcc make flex bison bc libelf-dev libssl-dev dwarves xz-utils)

kernel_make() {
	make -s -C "$1/tree" "${@:2}" >&2
}

kernel_configure() {
	local work=$1

	kernel_make "$work" tinyconfig || return 1
	(cd "$work/tree" && scripts/kconfig/merge_config.sh -m .config "$LAB_DIR/kernel.config") >/dev/null || return 1
	kernel_make "$work" olddefconfig || return 1
	# An option that depends on another one is left out without a word.
	! grep -vxFf "$work/tree/.config" "$LAB_DIR/kernel.config" | grep '^CONFIG' >&2
}

# The tree becomes what fetch_install() makes of Debian's packages.
kernel_install() {
	local work=$1 release

	release=$(make -s -C "$work/tree" kernelrelease) || return 1
	rm -rf "$work/built"
	mkdir -p "$work/built/usr" || return 1
	kernel_make "$work" modules_install INSTALL_MOD_PATH="$work/built/usr" || return 1
	rm -f "$work/built/usr/lib/modules/$release/"{build,source}
	cp "$work/tree/arch/x86/boot/bzImage" "$work/built/vmlinuz" || return 1
	rm -rf "$work/tree"
	mv "$work/built" "$work/tree"
	fetch_keep "$work" "$release"
}

kernel_build() {
	local work=$1

	say "building a kernel with uclamp from $KERNEL_SOURCE: some minutes"
	packages_install "${KERNEL_PACKAGES[@]}" || die "could not install the packages: see above"
	fetch_retry fetch_linux_source "$work" "$KERNEL_SOURCE" 1 || die "could not fetch $KERNEL_SOURCE"
	kernel_configure "$work" || die "$KERNEL_SOURCE does not have these options of kernel.config"
	kernel_make "$work" -j "$(nproc)" bzImage modules || die "the kernel's build failed"
	kernel_install "$work" || die "the kernel could not be installed into $work"
}
