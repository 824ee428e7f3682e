/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Idle latency: emits a record when a task runs whose idle latency is below the one that the daemon
 * holds, and keeps the lowest since the daemon last read it. Not called while no task has an idle
 * latency.
 */

#include "maps.bpf.h"

static __noinline void check_idle_latency(__u32 pid)
{
	__u32 *us = bpf_map_lookup_elem(&idle_latencies, &pid);

	if (!us)
		return;
	/* If another CPU overwrites this, the task's next run repeats it. */
	if (*us < idle_asked_us)
		idle_asked_us = *us;
	if (*us < idle_held_us && emit(WAKEGOV_RECORD_IDLE_LATENCY, bpf_get_smp_processor_id(), 0))
		idle_held_us = *us;
}
