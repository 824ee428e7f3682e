/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks with something about their clamps: a class, capped tasks beside which they run, I/O
 * that is boosted. A table of fixed size, found by thread id; whatever changed waits in a queue
 * until it is taken.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/clamp.h"
#include "core/input.h"

struct clamped_task {
	uint32_t pid; /* thread id */
	char comm[TASK_COMM_SIZE];
	uint32_t class; /* of its own: core/clamp_class.h */
	uint32_t told_class;
	uint32_t own;		  /* what it asks for itself: wakegov/own.h */
	uint32_t co_runner_class; /* of the capped tasks that it runs beside while it is short; 0:
				   none */
	uint32_t boost_cap;	  /* of its I/O; 0: none */
	bool does_io;		  /* at a rate at which it is followed */
	uint32_t given_min_cap;
	uint32_t given_max_cap;
	bool waits_for_class; /* in the queues */
	bool waits_for_clamp;
	uint32_t next_class; /* place + 1; 0 ends */
	uint32_t next_clamp;
};

struct clamped_tasks;

/* NULL without memory. size > 0. */
struct clamped_tasks *clamped_tasks_new(uint32_t size);
struct clamped_tasks *clamped_tasks_free(struct clamped_tasks *tasks);

/* NULL when there is nothing about it. Borrowed until clamped_tasks_settle(). */
struct clamped_task *clamped_tasks_find(const struct clamped_tasks *tasks, uint32_t pid);
/* The task's entry, a new one if need be; NULL, and counted, when the table is full. */
struct clamped_task *clamped_tasks_take(struct clamped_tasks *tasks, uint32_t pid);
/* Walks them: NULL gives the first, NULL is returned after the last. */
struct clamped_task *clamped_tasks_next(const struct clamped_tasks *tasks,
					const struct clamped_task *after);
uint32_t clamped_tasks_count(const struct clamped_tasks *tasks);
uint64_t clamped_tasks_refused(const struct clamped_tasks *tasks);

/* Its class, or what its clamps follow from, may have changed: it waits to be taken. */
void clamped_tasks_queue_class(struct clamped_tasks *tasks, struct clamped_task *task);
void clamped_tasks_queue_clamp(struct clamped_tasks *tasks, struct clamped_task *task);
/* The task that waited longest, which does no more; NULL: none does. */
struct clamped_task *clamped_tasks_pop_class(struct clamped_tasks *tasks);
struct clamped_task *clamped_tasks_pop_clamp(struct clamped_tasks *tasks);
bool clamped_tasks_has_class(const struct clamped_tasks *tasks);
bool clamped_tasks_has_clamp(const struct clamped_tasks *tasks);

/* Forgets the task if nothing is left about it. */
void clamped_tasks_settle(struct clamped_tasks *tasks, struct clamped_task *task);

/* For core/engine_state.h: where a task is, and what puts it there in another table of that size.
 */
uint32_t clamped_tasks_place(const struct clamped_tasks *tasks, const struct clamped_task *task);
/* Those that wait do so in the order of their places. False where the place or pid is taken. */
bool clamped_tasks_restore(struct clamped_tasks *tasks, uint32_t place,
			   const struct clamped_task *task);
void clamped_tasks_restore_refused(struct clamped_tasks *tasks, uint64_t refused);
