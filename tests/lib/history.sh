# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What earlier runs of tests/run took and found, kept on this machine, outside of the checkout. For sourcing.
#
# Tab-separated, a line for each suite of a run: the run, its commit, "suite", the name, seconds of a CPU, seconds
# of this machine, tests that passed, that failed, that passed when run again; and a line for each test
# that did not just pass: run, commit, "test", "failed" or "again", its name.

HISTORY=${WAKEGOV_TEST_HISTORY:-$HOME/.cache/wakegov-tests/history.tsv}
HISTORY_RUNS=20

history_begin() {
	local commit

	commit=$(git -C "$REPO" rev-parse --short HEAD)
	[ -z "$(git -C "$REPO" status --porcelain --untracked-files=no)" ] || commit+=+
	HISTORY_RUN="$(date -u +%Y-%m-%dT%H:%M:%SZ)"$'\t'$commit HISTORY_LINES=()
}

history_note_suite() {
	HISTORY_LINES+=("$(printf '%s\tsuite' "$HISTORY_RUN" && printf '\t%s' "$@")")
}

history_note_line() {
	case $1 in
	"not ok "*) HISTORY_LINES+=("$HISTORY_RUN"$'\ttest\tfailed\t'"${1#*- }") ;;
	"# passed when run again: "*) HISTORY_LINES+=("$HISTORY_RUN"$'\ttest\tagain\t'"${1#*again: }") ;;
	esac
}

# Keeps this run, and prints which tests did not just pass in the last HISTORY_RUNS runs, and how often.
history_end() {
	mkdir -p "$(dirname "$HISTORY")"
	printf '%s\n' "${HISTORY_LINES[@]}" >>"$HISTORY"
	awk -F '\t' -v most=$HISTORY_RUNS '
		!($1 in seen) { seen[$1] = ++runs }
		$3 == "test" { n++; run[n] = seen[$1]; how[n] = $4; name[n] = $5; commit[n] = $2 }
		END {
			for (i = 1; i <= n; i++)
				if (run[i] > runs - most) {
					count[name[i], how[i]]++
					last[name[i]] = commit[i]
				}
			for (test in last)
				printf "# %d failed, %d passed when run again, last at %s: %s\n",
					count[test, "failed"], count[test, "again"], last[test], test | "sort -k2nr"
			close("sort -k2nr")
			printf "# in the last %d runs kept in %s\n", runs < most ? runs : most, FILENAME
		}' "$HISTORY"
}
