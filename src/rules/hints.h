/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Hints: which process or thread somebody said to be of which class. A table of fixed size, by
 * thread id: each has one of its own at most, and what it starts may have it as well.
 *
 * Each class that is hinted is a rule behind those of the policy, so that a hint gives what no rule
 * of the administrator does.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/settings.h"
#include "tracer/facts.h"

#define HINTS_MAX 16384

struct hint {
	uint64_t id;	/* never another one's; 0: none */
	uint32_t pid;	/* of a process with all its threads, or … */
	bool is_thread; /* … of one of them */
	bool children;	/* what it starts has it as well */
	bool any_user;	/* … and it stays when its user changes, as for a setuid program */
	bool held;	/* it ends with a client, not with its tasks */
	uint32_t uid;	/* the task's effective one, when it was given */
	uint32_t by_uid;
	uint64_t start_ns; /* the task's, since boot */
	uint64_t since_ns; /* since boot: what began before does not have it from its parent */
	uint64_t end_ns;   /* CLOCK_MONOTONIC; UINT64_MAX: it has none */
	uint32_t n_tasks;  /* threads that have it now: rules.c counts */
	char class[POLICY_NAME_SIZE];
	char comm[TASK_COMM_SIZE]; /* of the task, as it was then */
};

struct hints;

/* NULL without memory. What is not used takes none. */
struct hints *hints_new(void);
struct hints *hints_free(struct hints *hints);

/*
 * Adds one, whose id is given here, for a task that has none. NULL when the table is full.
 * Borrowed until it is removed.
 */
struct hint *hints_add(struct hints *hints, const struct hint *hint);
void hints_remove(struct hints *hints, struct hint *hint);

/* The task's own hint; NULL: it has none. Borrowed. */
struct hint *hints_find(const struct hints *hints, uint32_t pid);
/* NULL when it is over. Borrowed. */
struct hint *hints_find_id(const struct hints *hints, uint64_t id);
/* Walks them: NULL gives the first, NULL is returned after the last. */
struct hint *hints_next(const struct hints *hints, const struct hint *after);

/* Whether the last task of one has gone since that was forgotten. */
void hints_note_unused(struct hints *hints);
void hints_forget_unused(struct hints *hints);
bool hints_has_unused(const struct hints *hints);

uint32_t hints_count(const struct hints *hints);
/* Those that the user gave. */
uint32_t hints_count_of(const struct hints *hints, uint32_t uid);

/*
 * The hint that a task has by itself, or as a thread of its process; inherited is the one that its
 * parent has, or that it had itself, 0 for none. NULL: none. Borrowed.
 */
struct hint *hints_of(const struct hints *hints, const struct task_facts *facts,
		      uint64_t inherited);

/* The rule that stands for the class, as an index; -1: none does. */
int hints_rule(const struct policy *policy, const char *class);

/*
 * Puts a rule for each class that is hinted behind those of the policy, in place of those that are
 * there. Those for which there is no class or no room are left out. Returns whether they are others
 * than before.
 */
bool hints_fill(const struct hints *hints, struct policy *policy);
