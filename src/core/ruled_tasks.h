/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The tasks that match rules: a table of its own, since most of them do no I/O that is followed. */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

struct ruled_task {
	uint32_t pid; /* thread id */
	uint32_t tgid;
	char comm[TASK_COMM_SIZE];
	uint64_t matched; /* bit i: rules[i] of the policy; never 0 */
};

struct ruled_tasks;

/* NULL without memory. size > 0. */
struct ruled_tasks *ruled_tasks_new(uint32_t size);
struct ruled_tasks *ruled_tasks_free(struct ruled_tasks *tasks);

/* NULL when pid matches no rule. Borrowed until ruled_tasks_remove(). */
struct ruled_task *ruled_tasks_find(const struct ruled_tasks *tasks, uint32_t pid);
/* A new, zeroed entry for a pid that is not there; NULL, and counted, when the table is full. */
struct ruled_task *ruled_tasks_add(struct ruled_tasks *tasks, uint32_t pid);
void ruled_tasks_remove(struct ruled_tasks *tasks, struct ruled_task *task);

/* Walks the tasks: NULL gives the first, NULL is returned after the last. */
struct ruled_task *ruled_tasks_next(const struct ruled_tasks *tasks,
				    const struct ruled_task *after);

uint32_t ruled_tasks_count(const struct ruled_tasks *tasks);
uint32_t ruled_tasks_size(const struct ruled_tasks *tasks);
uint64_t ruled_tasks_refused(const struct ruled_tasks *tasks);

/* For core/engine_state.h: where a task is, and what puts it there in another table of that size.
 */
uint32_t ruled_tasks_place(const struct ruled_tasks *tasks, const struct ruled_task *task);
/* False where the place or the pid is none, or is taken. */
bool ruled_tasks_restore(struct ruled_tasks *tasks, uint32_t place, const struct ruled_task *task);
void ruled_tasks_restore_refused(struct ruled_tasks *tasks, uint64_t refused);
