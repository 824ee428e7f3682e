/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Idle latency: a task that a rule or class gives one, or for whose I/O it pays
 * (core/idle_trials.c), limits how deeply the CPUs where it runs may sleep
 * (actuator/power_controls.h), for as long as it keeps running there. The kernel side tells
 * when such a task begins to run on a CPU without that limit. What ran on the limited CPUs is
 * looked at from time to time, and the limit becomes that of the tasks that ran since, or none.
 */

#include "daemon/module.h"
#include "shared/cpu_mask.h"

struct limited_cpu {
	uint32_t us;   /* POLICY_IDLE_LATENCY_NONE: it is not */
	bool given_up; /* another program changed it, or it cannot be written */
};

struct limiting_task {
	uint32_t pid;
	uint32_t us;
};

struct idle_latency {
	struct core *core;
	bool wanted;  /* a rule gives one, or the I/O boost asks for one */
	bool missing; /* this kernel has no such file */
	bool warned;  /* the warning that it has no effect here was given */
	bool failed;  /* a warning said that a write failed */
	struct pid_index *index;
	struct limiting_task *tasks; /* by place in the index */
	struct limited_cpu *cpus;
	uint32_t n_limited;
	uint32_t boost_changes; /* of engine_idle_changes(), that are seen */
	uint64_t next_ns;
	uint64_t gap_ns;
};

extern const struct module idle_latency_module;

#define IDLE_LATENCY_ANY_RULE (-1)

/* The CPUs that are limited now to what the rule allows; those left to another program. */
void idle_latency_cpus(const struct idle_latency *idle, int rule, struct cpu_mask *ret);
void idle_latency_given_up(const struct idle_latency *idle, struct cpu_mask *ret);
/* The reason why an idle latency has no effect here, as a clause; NULL: it may have one. */
const char *idle_latency_why_not(const struct idle_latency *idle);
