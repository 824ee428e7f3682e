/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks with something about their clamps: a set, capped tasks beside which they run, I/O that
 * is boosted or not worth a boost. A table of fixed size, found by thread id; whatever changed
 * waits in a queue until it is taken.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/clamp.h"
#include "core/input.h"

struct clamped {
	uint32_t pid; /* thread id */
	char comm[TASK_COMM_SIZE];
	uint32_t set; /* of its own rules: core/clamp_set.h */
	uint32_t told_set;
	uint32_t
		beside_set; /* of the capped tasks that it runs beside while it is short; 0: none */
	uint32_t boost_cap; /* of its I/O; 0: none */
	uint32_t need_cap;  /* of I/O that gains nothing; CLAMP_MAX_NONE: it is not so */
	uint64_t need_ns;   /* when that last changed */
	uint32_t given_min_cap;
	uint32_t given_max_cap;
	bool waits_for_set; /* in the queues */
	bool waits_for_clamp;
	uint32_t next_set; /* place + 1; 0 ends */
	uint32_t next_clamp;
};

struct clamps;

/* NULL without memory. size > 0. */
struct clamps *clamps_new(uint32_t size);
struct clamps *clamps_free(struct clamps *clamps);

/* NULL when there is nothing about it. Borrowed until clamps_settle(). */
struct clamped *clamps_find(const struct clamps *clamps, uint32_t pid);
/* The task's entry, a new one if need be; NULL, and counted, when the table is full. */
struct clamped *clamps_take(struct clamps *clamps, uint32_t pid);
/* Walks them: NULL gives the first, NULL is returned after the last. */
struct clamped *clamps_next(const struct clamps *clamps, const struct clamped *after);
uint32_t clamps_count(const struct clamps *clamps);
uint64_t clamps_refused(const struct clamps *clamps);

/* Its set, or what its clamps follow from, may have changed: it waits to be taken. */
void clamps_queue_set(struct clamps *clamps, struct clamped *task);
void clamps_queue_clamp(struct clamps *clamps, struct clamped *task);
/* The task that waited longest, which does no more; NULL: none does. */
struct clamped *clamps_pop_set(struct clamps *clamps);
struct clamped *clamps_pop_clamp(struct clamps *clamps);

/* Forgets the task if nothing is left about it. */
void clamps_settle(struct clamps *clamps, struct clamped *task);
