/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Idle latency: a task that a rule or class gives one, or for whose I/O it pays
 * (core/idle_trials.c), limits how deeply the CPUs where it runs may sleep
 * (actuator/power_controls.h), for as long as it keeps running there. The kernel side tells
 * when such a task begins to run on a CPU without that limit. What ran on the limited CPUs is
 * looked at from time to time, and the limit becomes that of the tasks that ran since, or none.
 */

#include "daemon/manager.h"
#include "shared/cpu_mask.h"

int idle_latency_start(struct manager *manager);
/* Restores the limit that each CPU had before. */
void idle_latency_end(struct manager *manager);

/* The policy has changed; reports of its tasks follow. */
void idle_latency_set_policy(struct manager *manager);
/* The policy was read again: CPUs that were left to another program are limited again. */
void idle_latency_retry(struct manager *manager);
/* Takes a task whose rules are up to date. */
void idle_latency_take_task(struct manager *manager, uint32_t pid);
void idle_latency_end_task(struct manager *manager, uint32_t pid);
/* Call it after a round: finds the tasks whose I/O boost asks for an idle latency now. */
void idle_latency_take_boosts(struct manager *manager, uint64_t now_ns);
/* TRACER_IDLE_LATENCY */
void idle_latency_take_event(struct manager *manager, uint32_t cpu, uint64_t now_ns);

/* Makes the look that is due; idle_latency_next_ns() says when that is. */
void idle_latency_look(struct manager *manager, uint64_t now_ns);
uint64_t idle_latency_next_ns(const struct manager *manager);

#define IDLE_LATENCY_ANY_RULE (-1)

/* The CPUs that are limited now to what the rule allows; those left to another program. */
void idle_latency_cpus(const struct manager *manager, int rule, struct cpu_mask *ret);
void idle_latency_given_up(const struct manager *manager, struct cpu_mask *ret);
uint32_t idle_latency_count(const struct manager *manager); /* of CPUs that are limited */
/* The reason why an idle latency has no effect here, as a clause; NULL: it may have one. */
const char *idle_latency_why_not(const struct manager *manager);
