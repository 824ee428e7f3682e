# SPDX-License-Identifier: GPL-2.0-only
# nix-build -E '(import <nixpkgs> { }).callPackage ./conf/nix { }'. It evaluates; it has not been built, as no nixpkgs
# could be had where it was written.
{ lib, stdenv, meson, ninja, pkg-config, clang, bpftools, python3, cpupower ? linuxPackages.cpupower, linuxPackages
, libbpf, systemd, inih, jansson, ncurses, zstd }:

stdenv.mkDerivation {
  pname = "wakegov";
  version = "0.3.0";
  src = ../..;

  nativeBuildInputs = [ meson ninja pkg-config clang bpftools python3 ];
  buildInputs = [ cpupower libbpf systemd inih jansson ncurses zstd python3 ];
  # BPF has no such registers and no stack protector.
  hardeningDisable = [ "zerocallusedregs" "stackprotector" ];
  mesonFlags = [ "--sysconfdir=/etc" ];

  meta = {
    description = "CPU frequency governor daemon that knows tasks";
    license = lib.licenses.gpl2Only;
    mainProgram = "wakegovctl";
    platforms = [ "x86_64-linux" "aarch64-linux" "riscv64-linux" ];
  };
}
