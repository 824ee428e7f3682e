/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The overrides that are for a task or for the tasks of a rule: a table of fixed size, which
 * becomes rules at the end of the policy in force (core/settings.h), so that everything that holds
 * of rules holds of them.
 */

#include "core/settings.h"

#define TASK_OVERRIDES_MAX 32

enum task_override_end {
	TASK_OVERRIDE_HOLDS,
	TASK_OVERRIDE_TASK_GONE,
	TASK_OVERRIDE_RULE_GONE,
	TASK_OVERRIDE_NO_ROOM, /* the policy has too many rules beside it */
};

struct task_override {
	struct policy_override target;
	struct policy_properties properties;
	char comm[16];	 /* of the task, as it was at first */
	uint32_t uid;	 /* who asked for it */
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	enum task_override_end ended;
};

struct task_overrides {
	struct task_override entries[TASK_OVERRIDES_MAX]; /* by id, ascending */
	uint32_t n;
};

/* Adds one whose id is above all others'. False when the table is full. */
bool task_overrides_add(struct task_overrides *overrides, const struct task_override *override);

/* NULL when none has the id. Borrowed until the table changes. */
struct task_override *task_overrides_find(struct task_overrides *overrides, uint32_t id);
void task_overrides_remove(struct task_overrides *overrides, struct task_override *override);

/* How many there may be beside the rules of the policy. */
uint32_t task_overrides_room(const struct policy *policy);

/* Notes which of them can hold no longer under this policy, whose own overrides do not matter. */
void task_overrides_check(struct task_overrides *overrides, const struct policy *policy);

/* Makes those that hold the policy's overrides, in the place of those that it has. */
void task_overrides_fill(const struct task_overrides *overrides, struct policy *policy);

/* The task has ended, or with another start_ns another task has its number: ends those for it. */
void task_overrides_end_task(struct task_overrides *overrides, uint32_t pid, uint64_t start_ns);

/* When the first of them ends: 0 when one has already, UINT64_MAX when there is none. */
uint64_t task_overrides_next_ns(const struct task_overrides *overrides);
