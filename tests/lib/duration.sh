# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash

# Prints the seconds of a time such as 90s, 5m or 1h; fails for anything else.
duration_seconds() {
	[[ $1 =~ ^([0-9]+)([smh])$ ]] || return 1
	case ${BASH_REMATCH[2]} in
	s) echo "${BASH_REMATCH[1]}" ;;
	m) echo $((BASH_REMATCH[1] * 60)) ;;
	h) echo $((BASH_REMATCH[1] * 3600)) ;;
	esac
}
