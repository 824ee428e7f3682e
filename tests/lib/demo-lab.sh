# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The demo in the lab's virtual machine. For sourcing, after demo.sh.

# shellcheck disable=SC2034 # for demo_prepare
DEMO_PACKAGES_LAB=("${LAB_PACKAGES[@]}")

# The VM with its output in $DEMO/out. For demo_run, which makes a process of it.
lab_boot() {
	local governors

	IFS=, read -ra governors <<<"$TABLE_GOVERNORS"
	trap 'kill -TERM "$TABLE_PID"; wait "$TABLE_PID"; exit 143' TERM
	table_vm "$DEMO/out" --timeout 1500 --ports "$DEMO/ports" -- \
		tests/lab/guest/demo "$DEMO_ROUNDS" "$DEMO_SECONDS" psync "${governors[@]}"
}

lab_notes() {
	local kernel

	kernel=$(jq -r -s '.[0].kernel' "$DEMO/runs")
	# shellcheck disable=SC2034 # for table_notes
	TABLE_RUNS=$DEMO_ROUNDS TABLE_TIME=$DEMO_SECONDS
	# One paragraph, to be folded as wide as what stands around it.
	table_notes "$kernel" | paste -sd ' '
}

demo_in_lab() {
	local status=0

	export WAKEGOV_BUILD=$BUILD
	demo_step "Boot the lab: a stock kernel, four CPUs, two domains (400-1800 and 400-1400 MHz)"
	demo_step "Run: $DEMO_ROUNDS x $DEMO_SECONDS s for each of $TABLE_GOVERNORS; then the story"
	demo_run lab_boot 2> >(demo_progress) || status=$?
	[ "$status" = 0 ] || demo_run_failed "$status"
	jq -c 'select(.governor)' "$DEMO/out" >"$DEMO/runs"
	jq -c 'select(.story)' "$DEMO/out" >"$DEMO/story.json"
	lab_notes >"$DEMO/notes"
	ports_states >"$DEMO/states"
	# shellcheck disable=SC2034 # for demo_show and table_plot
	TABLE_NAME=io-boost DEMO_LOAD="One task that reads, computes and reads again" \
		DEMO_TITLE="wakegovd in the lab, kernel $(jq -r -s '.[0].kernel' "$DEMO/runs")"
	rm -f "$DEMO/out"
}
