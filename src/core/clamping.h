/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamps: by the classes of tasks (clamping.c), and by what chains and tasks with I/O need
 * (clamping_needs.c).
 */

#include "core/engine_state.h"

/* clamping.c: the clamp classes of tasks, and the clamps of each. */
void clamping_set_policy(struct engine *engine);
void clamping_rule_task(struct engine *engine, struct task *task);
void clamping_apply_run(struct engine *engine, const struct input_class_run *input);
void clamping_apply_bursts(struct engine *engine, const struct input_bursts *input);
void clamping_apply_own(struct engine *engine, const struct input_own_clamps *input);
void clamping_apply_co_runner(struct engine *engine, const struct input_co_runner *input);
void clamping_apply_waited(struct engine *engine, const struct input_waited *input);
/* The most that rules allow a task, or one without rules (NULL), in work that is waited for. */
uint32_t clamping_most_waiting(const struct engine *engine, const struct task *task,
			       const struct topology_domain *info);
/* Counts the domains that are driven by clamps, after a change. */
void clamping_count_domains(struct engine *engine);
/* The task's own cap in a domain, and the rule that gave it (-1), or CLAMP_CAP_NONE. */
uint32_t clamping_own_cap(const struct engine *engine, uint32_t pid, uint32_t domain,
			  int32_t *ret_rule);
/* clamping_needs.c: applies the start, the boost and the end of tasks' I/O to their clamps. */
void clamping_follow_io(struct engine *engine);
/* The chains of the domain's CPUs: those that fit no little CPU ask for a big one. */
void clamping_follow_chains(struct engine *engine, uint32_t domain, uint64_t now_ns);
void clamping_end_io(struct engine *engine, uint32_t pid);

/*
 * What the domain needs without boosts, where a maximum clamp can hold its tasks
 * to that; 0: none can.
 */
uint32_t engine_need_khz(const struct engine *engine, const struct domain *domain);
