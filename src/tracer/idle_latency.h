/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks that ask for short exits from idle, and whether they work: bpf/idle.bpf.h.
 * POLICY_IDLE_LATENCY_NONE stands for no limit.
 */

#include "tracer/tracer.h"

/* Of one task. While no task has one, switches are not looked at for it. */
void tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us);
/* Of no task any more. */
void tracer_clear_idle_latencies(struct tracer *tracer);

/* What is held: WAKEGOV_RECORD_IDLE_LATENCY is emitted once for a task that asks for less. */
void tracer_set_held_idle_latency(struct tracer *tracer, uint32_t us);
/* The shortest one of the tasks that run now or began to run since the last call. */
uint32_t tracer_pop_idle_latency(struct tracer *tracer);
