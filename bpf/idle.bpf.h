/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Idle latency: emits a record when a task begins to run that asks for shorter exits from idle than
 * the daemon holds, and keeps the shortest that was asked for since the daemon last read it. While
 * no task has an idle latency, this is not called.
 */

#include "maps.bpf.h"

static __noinline void check_idle_latency(__u32 pid)
{
	__u32 *us = bpf_map_lookup_elem(&idle_latencies, &pid);

	if (!us)
		return;
	/* An update that another CPU's overwrites is repeated when the task runs again. */
	if (*us < idle_asked_us)
		idle_asked_us = *us;
	if (*us < idle_held_us && emit(WAKEGOV_RECORD_IDLE_LATENCY, bpf_get_smp_processor_id(), 0))
		idle_held_us = *us;
}
