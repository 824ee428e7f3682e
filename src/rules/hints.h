/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Hints: the class that a program gave a process or a thread. A table of fixed size, by thread id:
 * each task has at most one of its own, which its children may inherit.
 *
 * Each class with a hint becomes a rule behind those of the policy, so that a hint only gives what
 * no rule of the administrator does.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/facts.h"
#include "core/settings.h"

#define HINTS_MAX 16384

struct hint {
	uint64_t id;	/* unique; 0: none */
	uint32_t pid;	/* a process with all its threads, or … */
	bool is_thread; /* … one thread */
	bool children;	/* its children inherit the hint */
	bool any_user;	/* … also when their user changes, as for a setuid program */
	bool held;	/* it ends with its client, not with its tasks */
	uint32_t uid;	/* effective user of the task when the hint was given */
	uint32_t by_uid;
	uint64_t start_ns; /* start of the task, since boot */
	uint64_t since_ns; /* since boot: children that started before do not inherit it */
	uint64_t end_ns;   /* CLOCK_MONOTONIC; UINT64_MAX: no end */
	uint32_t n_tasks;  /* number of threads with the hint now; rules.c counts them */
	char class[POLICY_NAME_SIZE];
	char comm[TASK_COMM_SIZE]; /* name of the task at that time */
};

struct hints {
	struct pid_index *index;
	struct hint *entries;
	uint64_t given;	  /* number of hints ever given */
	uint64_t refused; /* threads whose hint found no place: rules.c counts them */
	bool has_unused;  /* set when the last task of a hint exits; the caller clears it */
};

/* NULL without memory. Unused entries take none. */
struct hints *hints_new(void);
struct hints *hints_free(struct hints *hints);

/*
 * Adds a hint for a task without one, and sets its id. NULL when the table is full. Borrowed until
 * it is removed.
 */
struct hint *hints_add(struct hints *hints, const struct hint *hint);
void hints_remove(struct hints *hints, struct hint *hint);

/* The task's own hint; NULL: it has none. Borrowed. */
struct hint *hints_find(const struct hints *hints, uint32_t pid);
/* The hint, or NULL when it has ended. Borrowed. */
struct hint *hints_find_id(const struct hints *hints, uint64_t id);
/* Walks them: NULL gives the first, NULL is returned after the last. */
struct hint *hints_next(const struct hints *hints, const struct hint *after);

uint32_t hints_count(const struct hints *hints);
/* The number of hints that the user gave. */
uint32_t hints_count_of(const struct hints *hints, uint32_t uid);

/*
 * The hint of a task: its own, its process's, or `inherited`, the id of its parent's or its former
 * one (0: none). NULL: none. Borrowed.
 */
struct hint *hints_of(const struct hints *hints, const struct task_facts *facts,
		      uint64_t inherited);

/* The rule of the class, as an index; -1: none. */
int hints_rule(const struct policy *policy, const char *class);

/*
 * Replaces the rules of hinted classes, which follow those of the policy. Leaves out classes that
 * do not exist or find no room. Returns whether the rules changed.
 */
bool hints_fill(const struct hints *hints, struct policy *policy);
