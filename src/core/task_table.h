/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks that the core knows, found by thread id: a record for each that has rules or clamps,
 * and an entry in another array for each that does I/O.
 *
 * Sizes are fixed: when the table is full a new task is refused and counted, and replaces no other.
 * A new task gets the lowest free place, so the order of walks follows from the taken places alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/io_boost.h"

/* Work that a record waits for, as bits of struct task.waits. */
enum task_wait {
	TASK_WAIT_CLASS, /* its clamp class may have changed */
	TASK_WAIT_CLAMP, /* its clamps may have changed */
	TASK_WAITS,
};

struct task {
	uint32_t pid; /* thread id; 0: the place is free */
	uint32_t tgid;
	char comm[TASK_COMM_SIZE]; /* as last reported with its rules */
	uint64_t matched;	   /* bit i: rules[i] of the policy */
	/* Its clamps: core/clamping.c. */
	uint32_t class; /* core/clamp_class.h */
	uint32_t sent_class;
	uint32_t own;		  /* own clamps: wakegov_own() */
	uint32_t co_runner_class; /* class of the capped tasks whose co-runner it is as a
				     short-running task; 0: none */
	uint32_t boost_cap;	  /* boost of its I/O; 0: none */
	uint32_t chain_cap;	  /* of a chain that asks for a big CPU; 0: none */
	uint32_t need_cap;	  /* its maximum, as its I/O gains nothing from more; 0: none */
	uint32_t given_min_cap;
	uint32_t given_max_cap;
	bool waited;  /* its pieces are waited for, and it keeps a minimum between them */
	bool does_io; /* does I/O at a rate at which it is followed */
	bool clamped; /* has, or had, a reason for clamps */
	uint8_t waits;
};

/*
 * A task that moves to and fro between two domains holds its boost in both, so that the frequencies
 * do not follow its moves.
 */
struct task_flip {
	uint64_t until_ns; /* a move back before then is one to and fro; the end of the hold */
	uint32_t khz;	   /* OPP that it asks for in the other domain */
	uint16_t domain;   /* the other one */
	bool holds;	   /* its boost there */
};

/* The I/O of a task. Names are of the last sample; with another program it is another task. */
struct io_task {
	uint32_t pid; /* 0: the place is free */
	uint32_t tgid;
	uint32_t handle; /* the tracer's name for it */
	uint16_t cpu;
	bool released; /* the handle was given back: the entry is kept, but the task is not followed
			*/
	bool served;   /* a kernel thread has worked for it */
	char comm[TASK_COMM_SIZE];
	struct io_boost io_boost;
	struct task_flip flip;
};

struct task_table;

/* The size of a table for max_ios tasks with I/O and max_ruled with rules or clamps, both > 0. */
size_t task_table_bytes(uint32_t max_ios, uint32_t max_ruled);
/* table is zeroed memory of that size. */
void task_table_init(struct task_table *table, uint32_t max_ios, uint32_t max_ruled);

/* The record of pid or NULL. Borrowed until task_settle(). */
struct task *task_find(const struct task_table *table, uint32_t pid);
/* Walks the records: NULL gives the first, NULL is returned after the last. */
struct task *task_next(const struct task_table *table, const struct task *after);
uint32_t task_place(const struct task_table *table, const struct task *task);

/* Gives pid's record, a new one if need be, these rules. NULL, and counted: the table is full. */
struct task *task_rule(struct task_table *table, uint32_t pid, uint64_t matched);
/* Marks pid's record, a new one if need be, as clamped. NULL, and counted: the table is full. */
struct task *task_clamp(struct task_table *table, uint32_t pid);
/* Clears marks that no longer apply, and drops the record of a task without any. */
void task_settle(struct task_table *table, struct task *task);
/* The number of records with rules or clamps, and the most there may be. */
uint32_t task_count(const struct task_table *table);
uint32_t task_count_max(const struct task_table *table);

void task_queue(struct task_table *table, struct task *task, enum task_wait wait);
bool task_any_waits(const struct task_table *table, enum task_wait wait);
/* Pops the first waiting record and clears its wait; NULL: none. */
struct task *task_pop_waiting(struct task_table *table, enum task_wait wait);

/* The entry or NULL. Borrowed until io_task_remove(). */
struct io_task *io_task_find(const struct task_table *table, uint32_t pid);
/* Adds a zeroed entry for a pid that has none; NULL, and counted, when there is no room. */
struct io_task *io_task_add(struct task_table *table, uint32_t pid);
void io_task_remove(struct task_table *table, struct io_task *task);
/* The task at a place, or NULL. */
struct io_task *io_task_at(const struct task_table *table, uint32_t place);
uint32_t io_task_place(const struct task_table *table, const struct io_task *task);
struct io_task *io_task_next(const struct task_table *table, const struct io_task *after);
uint32_t io_task_count(const struct task_table *table);
uint32_t io_task_size(const struct task_table *table);
uint64_t io_task_refused(const struct task_table *table);

/*
 * Call these after the memory of another table of the same sizes was copied into this one. The
 * first counts the tasks; the second, when each entry has been checked, computes everything that
 * follows from them. Each returns false for a state that no table can have.
 */
bool task_table_recount(struct task_table *table, uint32_t max_ios, uint32_t max_ruled);
bool task_table_relink(struct task_table *table);
