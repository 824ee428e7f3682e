# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lab ports: what the bytes on the P-state port mean, by the table that the VM booted with.

# Prints "BYTE DOMAIN MHZ" (BYTE in hex) for each P-state of ssdt.dsl.
ports_states() {
	awk -F '[{},() ]+' '
		/_PSS/ { n = 0 }
		/Package\(\)\{[0-9]+,/ {
			line = $0
			while (match(line, /Package\(\)\{[0-9]+,[^}]*\}/)) {
				split(substr(line, RSTART, RLENGTH), field, /[{},]/)
				mhz[n] = field[2]; byte[n++] = tolower(substr(field[6], 3))
				line = substr(line, RSTART + RLENGTH)
			}
		}
		/_PSD/ { match($0, /\{5,0,[0-9]+/); domain = substr($0, RSTART + 5, RLENGTH - 5)
			for (i = 0; i < n; i++) print byte[i], domain, mhz[i] }
	' "$LAB_DIR/ssdt.dsl" | sort -u
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
