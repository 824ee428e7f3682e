/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Idle latency: emits a record when a task begins to run on a CPU that may sleep more deeply than
 * the task allows, and keeps for the daemon which of such tasks ran there. While no rule or class
 * with an idle latency has a task, this is not called.
 */

#include "maps.bpf.h"

static __noinline void note_idle_latency(struct wakegov_cpu *cpu, __u32 pid)
{
	__u32 *us = bpf_map_lookup_elem(&idle_latencies, &pid);

	if (!cpu || !us)
		return;
	if (*us < cpu->idle_seen_us) {
		cpu->idle_seen_us = *us;
		cpu->idle_seen_pid = pid;
	}
	if (*us < cpu->idle_limit_us &&
	    emit(WAKEGOV_RECORD_IDLE_LATENCY, bpf_get_smp_processor_id(), 0))
		cpu->idle_limit_us = *us;
}
