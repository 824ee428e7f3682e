# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
_wakegovd() {
	local word=${COMP_WORDS[COMP_CWORD]}
	local options="--config --check-config --show-config --restore --observe --run-dir --state-dir --debug
		--version --help --usage"

	[[ $word == -* ]] || return
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
}
# What is no option is a file or a directory.
complete -o default -F _wakegovd wakegovd
