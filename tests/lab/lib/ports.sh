# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lab ports: what the bytes on the P-state port mean. See image_acpi_table.

# Prints "BYTE DOMAIN MHZ" (BYTE in hex) for each P-state of each domain that there can be.
ports_states() {
	awk '!/^#/ { for (d = 0; d < 8; d++) printf "%02x %d %d\n", d * 32 + $1 / 100, d, $1 }' \
		"$LAB_DIR/opps" | sort
}

# One line per change: how many times the same byte came in a row (the driver writes one per CPU).
ports_main() {
	[ $# -eq 1 ] || die_usage "lab ports: expected one FILE"
	[ -r "$1" ] || die "can't read $1"
	od -An -v -w1 -tx1 "$1" | uniq -c | awk '
		NR == FNR { domain[$1] = $2; mhz[$1] = $3; next }
		$2 in domain { printf "domain %s %5d MHz  x%d\n", domain[$2], mhz[$2], $1; next }
		{ printf "unknown byte 0x%s  x%d\n", $2, $1; bad = 1 }
		END { exit bad }
	' <(ports_states) -
}
