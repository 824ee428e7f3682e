/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Tasks with an idle latency, and whether they work: bpf/idle.bpf.h. POLICY_IDLE_LATENCY_NONE
 * stands for no limit.
 */

#include "tracer/tracer.h"

/* Sets one task's. While no task has one, switches skip the check. */
void tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us);
/* Removes those of all tasks. */
void tracer_clear_idle_latencies(struct tracer *tracer);

/* Sets the held latency; WAKEGOV_RECORD_IDLE_LATENCY is emitted once for a task with less. */
void tracer_set_held_idle_latency(struct tracer *tracer, uint32_t us);
/* The lowest of the tasks that run now or have run since the last call. */
uint32_t tracer_pop_idle_latency(struct tracer *tracer);
