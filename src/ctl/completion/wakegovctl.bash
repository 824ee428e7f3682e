# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What can come next is up to wakegovctl itself.
_wakegovctl() {
	local IFS=$'\n' found

	found=$(wakegovctl complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
	mapfile -t COMPREPLY < <(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _wakegovctl wakegovctl
