/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which tasks ask how deeply the CPUs where they run may sleep, and where they run: bpf/idle.bpf.h.
 * POLICY_IDLE_LATENCY_NONE stands for no limit.
 */

#include "tracer/tracer.h"

/* Whether any task has an idle latency; without one, switches are not looked at for it. */
void tracer_follow_idle_latencies(struct tracer *tracer, bool follow);
/* That of one task. Returns 0 or a negative errno. */
int tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us);

/* What the CPU is limited to: WAKEGOV_RECORD_IDLE_LATENCY tells of tasks that ask for less, once.
 */
void tracer_set_idle_limit(struct tracer *tracer, uint32_t cpu, uint32_t us);
/* The least that is asked for by the tasks that ran there since the last call, and whose it is. */
uint32_t tracer_pop_idle_latency(struct tracer *tracer, uint32_t cpu, uint32_t *ret_pid);
