# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The demo in the lab's virtual machine. For sourcing, after demo.sh.

# shellcheck disable=SC2034 # for demo_prepare
DEMO_PACKAGES_LAB=("${LAB_PACKAGES[@]}")
# See tests/lab/guest/table.
LAB_LOADS=psync,paced
LAB_GOVERNORS=(performance powersave schedutil wakegov)

# The VM with its output in $DEMO/out. For demo_run, which makes a process of it.
lab_boot() {
	trap 'kill -TERM "$TABLE_PID"; wait "$TABLE_PID"; exit 143' TERM
	table_vm "$DEMO/out" --timeout 1500 --ports "$DEMO/ports" -- \
		tests/lab/guest/demo 1 "$DEMO_SECONDS" "$LAB_LOADS" "${LAB_GOVERNORS[@]}"
}

lab_notes() {
	echo "Kernel $(jq -r -s '.[0].kernel' "$DEMO/runs"), emulated, in one boot; $DEMO_SECONDS s each," \
		"$((5 * DEMO_SECONDS)) s of those that the device paces." \
		"Each CPU's time goes by its frequency, an instruction takes 4 cycles: compare governors," \
		"not absolute figures. ratio: to performance's; mean MHz: of the load's domain."
}

demo_in_lab() {
	local status=0

	export WAKEGOV_BUILD=$BUILD
	demo_step "Boot the lab: a stock kernel, four CPUs, two domains (400-1800 and 400-1400 MHz)"
	demo_step "Run: $DEMO_SECONDS s of psync, $((5 * DEMO_SECONDS)) s of paced, under each of ${LAB_GOVERNORS[*]}; then the story"
	demo_run lab_boot 2> >(demo_progress) || status=$?
	[ "$status" = 0 ] || demo_run_failed "$status"
	jq -c 'select(.governor)' "$DEMO/out" >"$DEMO/runs"
	jq -c 'select(.story)' "$DEMO/out" >"$DEMO/story.json"
	lab_notes >"$DEMO/notes"
	ports_states >"$DEMO/states"
	# shellcheck disable=SC2034 # for demo_show
	DEMO_TITLE="wakegovd in the lab, kernel $(jq -r -s '.[0].kernel' "$DEMO/runs")"
	# shellcheck disable=SC2034 # for demo_show
	DEMO_LOADS=("psync=Reads that a faster clock speeds up"
		"paced=Reads that the device paces")
	rm -f "$DEMO/out"
}
