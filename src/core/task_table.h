/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks that the core was told of: one record each, found by thread id. What is known of the
 * I/O of those that do some lies in a smaller array beside the records.
 *
 * Sizes are fixed. Full means full: a newcomer is refused and counted, and replaces no other. A
 * newcomer gets the lowest free place, so a walk follows from who is where and from nothing else.
 * The table is one block of memory without pointers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/io_boost.h"

/* What a record waits for, as bits of struct task.waits. */
enum task_wait {
	TASK_WAIT_CLASS, /* its clamp class may have changed */
	TASK_WAIT_CLAMP, /* so may what its clamps follow from */
	TASK_WAITS,
};

struct task {
	uint32_t pid; /* thread id; 0: the place is free */
	uint32_t tgid;
	char comm[TASK_COMM_SIZE]; /* as last told with its rules */
	uint64_t matched;	   /* bit i: rules[i] of the policy */
	uint32_t io;		   /* place + 1 of its I/O; 0: it is not followed */
	/* Its clamps: core/clamping.c. */
	uint32_t class; /* core/clamp_class.h */
	uint32_t told_class;
	uint32_t own;		  /* what it asks for itself: wakegov/own.h */
	uint32_t co_runner_class; /* of the capped tasks beside which it runs for short; 0: none */
	uint32_t boost_cap;	  /* of its I/O; 0: none */
	uint32_t given_min_cap;
	uint32_t given_max_cap;
	bool does_io; /* at a rate at which it is followed */
	bool clamped; /* something about its clamps is or was of interest */
	uint8_t waits;
};

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

/* The I/O of a task. Its names are those of its last sample: another program is another task. */
struct io_task {
	uint32_t pid; /* 0: the place is free */
	uint32_t tgid;
	uint32_t handle; /* the tracer's name for it */
	uint32_t cpu;
	char comm[TASK_COMM_SIZE];
	struct io_boost io_boost;
	struct task_flip flip;
	bool released; /* the handle was given back: it is remembered, and no longer followed */
};

struct task_table;

/* For so many tasks that do I/O, and so many with rules or clamps. Both > 0. */
size_t task_table_bytes(uint32_t max_ios, uint32_t max_ruled);
/* table is zeroed memory of that size. */
void task_table_init(struct task_table *table, uint32_t max_ios, uint32_t max_ruled);
/* The same on the heap; NULL without memory. */
struct task_table *task_table_new(uint32_t max_ios, uint32_t max_ruled);
struct task_table *task_table_free(struct task_table *table);

/* NULL when nothing is known of pid. Borrowed until it is settled. */
struct task *task_find(const struct task_table *table, uint32_t pid);
/* Walks the records: NULL gives the first, NULL is returned after the last. */
struct task *task_next(const struct task_table *table, const struct task *after);
uint32_t task_place(const struct task_table *table, const struct task *task);

/* The record of pid, a new one if need be, with these rules. NULL, and counted: the table is full.
 */
struct task *task_rule(struct task_table *table, uint32_t pid, uint64_t matched);
/* The record of pid, a new one if need be, marked as clamped. NULL, and counted, likewise. */
struct task *task_clamp(struct task_table *table, uint32_t pid);
/* Takes the marks off that say nothing any more, and forgets a task of which nothing is left. */
void task_settle(struct task_table *table, struct task *task);
/* Records with rules or clamps, and how many found no room. */
uint32_t task_count(const struct task_table *table);
uint32_t task_count_max(const struct task_table *table);
uint64_t task_refused(const struct task_table *table);

void task_queue(struct task_table *table, struct task *task, enum task_wait wait);
bool task_any_waits(const struct task_table *table, enum task_wait wait);
/* The first that waits, which does no more; NULL: none does. */
struct task *task_take_waiting(struct task_table *table, enum task_wait wait);

/* NULL when its I/O is not followed. Borrowed until io_task_remove(). */
struct io_task *io_task_find(const struct task_table *table, uint32_t pid);
/* A new, zeroed entry for a pid that has none; NULL, and counted, when there is no room. */
struct io_task *io_task_add(struct task_table *table, uint32_t pid);
void io_task_remove(struct task_table *table, struct io_task *task);
/* The task at a place; NULL where there is none. */
struct io_task *io_task_at(const struct task_table *table, uint32_t place);
uint32_t io_task_place(const struct task_table *table, const struct io_task *task);
struct io_task *io_task_next(const struct task_table *table, const struct io_task *after);
uint32_t io_task_count(const struct task_table *table);
uint32_t io_task_size(const struct task_table *table);
uint64_t io_task_refused(const struct task_table *table);

/*
 * After the memory of another table of the same sizes was copied into it: the first counts who is
 * there, the second finds out anew what follows from that, once each entry is known to be sound.
 * Each is false when no table can have had them.
 */
bool task_table_recount(struct task_table *table, uint32_t max_ios, uint32_t max_ruled);
bool task_table_relink(struct task_table *table);
