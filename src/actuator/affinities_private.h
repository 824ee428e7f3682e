/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What affinities.c (the table) and affinities_restore.c share. */

#include "actuator/affinities.h"
#include "actuator/restore_tasks.h"

/* An entry of the table, and a line of its log. */
struct affinity {
	struct logged_task task;
	struct cpu_mask own; /* the task's own */
	struct cpu_mask put; /* as we wrote it */
	bool foreign;	     /* another program set the affinity while the task was kept */
};

extern const struct task_log_kind affinities_log;
extern const struct restore_tasks_kind affinities_kind;

/* Whether `now` is the mask that we wrote, or what cpuset and online CPUs have made of it. */
bool affinity_is_ours(const struct affinity *affinity, const struct cpu_mask *now);

/* Restores the task's own affinity if it still has the one that we wrote. */
void affinity_restore(struct restore_tasks *run, const struct affinity *affinity);
