/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Restricts tasks to some CPUs of their own affinity and cpuset, and restores the affinity. When
 * another program sets the affinity in the meantime, the task keeps that one and is left alone. Two
 * other causes change a mask: a cpuset gets narrower, or the kernel resets an affinity none of
 * whose CPUs is online.
 *
 * A task that could run on its whole cpuset gets back "every CPU", so that it follows a cpuset that
 * grows. Children inherit the affinity of their parents; affinities_forked() records the parents'
 * own affinity for them.
 *
 * A task is identified by its pid and start time. Each write to a task is preceded by a line in the
 * log DIRECTORY/affinities (actuator/task_log.h), with the masks as lists.
 */

#include <stdint.h>

#include "actuator/task_log.h"
#include "shared/cpu_mask.h"

#define AFFINITIES_MAX 16384 /* tasks; more are not restricted, and counted as refused */

enum affinities_outcome {
	AFFINITIES_DONE,
	AFFINITIES_UNCHANGED,  /* nothing to write */
	AFFINITIES_GONE,       /* the task has exited */
	AFFINITIES_TAKEN_OVER, /* another program set its affinity */
	AFFINITIES_OUTSIDE,    /* the task may run on none of these CPUs; it has its own affinity */
};

struct affinities {
	struct task_log log;
	uint32_t n_present; /* CPUs of the machine */
	uint64_t refused;   /* writes that the kernel refused; tasks without room in the table */
	uint64_t foreign;   /* tasks whose affinity another program set while they were kept */
};

/* directory is borrowed and must exist. Returns NULL without memory. */
struct affinities *affinities_new(const char *directory);
/* Restores no affinity: task_log_release() does. */
struct affinities *affinities_free(struct affinities *affinities);

/*
 * Restricts the task to these CPUs. Returns an outcome, or a negative errno with the affinity
 * unchanged.
 */
int affinities_keep(struct affinities *affinities, uint32_t pid, const struct cpu_mask *cpus);
/* Restores the task's own affinity. Returns an outcome or a negative errno. */
int affinities_release_task(struct affinities *affinities, uint32_t pid);

/*
 * Call this after parent forked child. A child that inherited an affinity that we wrote gets an
 * entry with its parent's own affinity; the caller decides whether to keep the child. Returns
 * whether the child has an affinity that we wrote.
 */
bool affinities_forked(struct affinities *affinities, uint32_t parent, uint32_t child);
/* Whether the table has an entry: the task is kept, was kept, or its parent was when it forked. */
bool affinities_knows(const struct affinities *affinities, uint32_t pid);
/* Drops the entry: the task has exited, or is to be treated as new. */
void affinities_forget(struct affinities *affinities, uint32_t pid);

/* An entry of the table, and a line of its log. */
struct affinity {
	struct logged_task task;
	struct cpu_mask own; /* the task's own */
	struct cpu_mask put; /* as we wrote it */
	struct cpu_mask was; /* our write before that, or the same */
	bool foreign;	     /* another program set the affinity while the task was kept */
};

/* The log, for task_log_restore(). */
extern const struct task_log_kind affinities_log;
