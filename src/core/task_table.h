/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks that the core knows: a table of fixed size, found by thread id. Full means full: the
 * newcomer is refused and counted, nobody is thrown out.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/io_boost.h"

/*
 * A task that moves to and fro holds its boost in the domain that it came from as well, so that
 * neither goes up and down with it.
 */
struct task_flip {
	uint64_t moved_ns; /* its last move to another domain */
	uint64_t until_ns; /* held in both until then */
	uint32_t domain;   /* the other one */
	uint32_t khz;	   /* what it asks for there */
};

struct task {
	uint32_t pid; /* thread id */
	uint32_t tgid;
	uint32_t handle; /* the tracer's name for it */
	bool released;	 /* the handle was given back: it is remembered, and no longer followed */
	uint32_t cpu;
	char comm[TASK_COMM_SIZE];
	struct io_boost io_boost;
	struct task_flip flip;
};

struct task_table;

/* NULL without memory. size > 0. */
struct task_table *task_table_new(uint32_t size);
struct task_table *task_table_free(struct task_table *table);

/* NULL when pid is not there. Borrowed until task_table_remove(). */
struct task *task_table_find(const struct task_table *table, uint32_t pid);
/* A new, zeroed entry for a pid that is not there; NULL, and counted, when the table is full. */
struct task *task_table_add(struct task_table *table, uint32_t pid);
void task_table_remove(struct task_table *table, struct task *task);

/* The task at a place; NULL where there is none. */
struct task *task_table_at(const struct task_table *table, uint32_t place);

/* Walks the tasks: NULL gives the first, NULL is returned after the last. */
struct task *task_table_next(const struct task_table *table, const struct task *after);

uint32_t task_table_count(const struct task_table *table);
uint32_t task_table_size(const struct task_table *table);
uint64_t task_table_refused(const struct task_table *table);

/* For core/engine_state.h: where a task is, and what puts it there in another table of that size.
 */
uint32_t task_table_place(const struct task_table *table, const struct task *task);
/* False where the place or the pid is none, or is taken. */
bool task_table_restore(struct task_table *table, uint32_t place, const struct task *task);
void task_table_restore_refused(struct task_table *table, uint64_t refused);
