/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The overrides of tasks and of rules: a table of fixed size, whose entries become rules at the end
 * of the policy in force (core/settings.h), so that they behave as rules do.
 */

#include "core/settings.h"

#define TASK_OVERRIDES_MAX 32

enum task_override_end {
	TASK_OVERRIDE_HOLDS,
	TASK_OVERRIDE_TASK_GONE,
	TASK_OVERRIDE_RULE_GONE,
	TASK_OVERRIDE_NO_ROOM, /* the policy's rules leave no room for it */
};

struct task_override {
	struct policy_override target;
	struct policy_properties properties;
	char comm[16];	 /* name of the task at first */
	uint32_t uid;	 /* user who asked for it */
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	enum task_override_end ended;
};

struct task_overrides {
	struct task_override entries[TASK_OVERRIDES_MAX]; /* by id, ascending */
	uint32_t n;
};

/* Adds one whose id is above all others. Returns false when the table is full. */
bool task_overrides_add(struct task_overrides *overrides, const struct task_override *override);

/* The override or NULL. Borrowed until the table changes. */
struct task_override *task_overrides_find(struct task_overrides *overrides, uint32_t id);
void task_overrides_remove(struct task_overrides *overrides, struct task_override *override);

/* The number of overrides that fit beside the rules of the policy. */
uint32_t task_overrides_room(const struct policy *policy);

/* Marks the overrides that end under this policy; its own overrides do not matter. */
void task_overrides_check(struct task_overrides *overrides, const struct policy *policy);

/* Replaces the policy's overrides by those in the table that have not ended. */
void task_overrides_fill(const struct task_overrides *overrides, struct policy *policy);

/*
 * Ends the overrides of a task that has ended; another start_ns means that another task has its
 * pid.
 */
void task_overrides_end_task(struct task_overrides *overrides, uint32_t pid, uint64_t start_ns);

/* When the first override ends: 0 when one has already, UINT64_MAX when there is none. */
uint64_t task_overrides_next_ns(const struct task_overrides *overrides);
