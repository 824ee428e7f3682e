/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The overrides that are for a task or for the tasks of a rule: a table of fixed size, which
 * becomes rules at the end of the policy in force (core/settings.h), so that everything that holds
 * of rules holds of them.
 */

#include "core/settings.h"

#define LEASES_MAX 32

enum lease_end {
	LEASE_HOLDS,
	LEASE_TASK_GONE,
	LEASE_RULE_GONE,
	LEASE_NO_ROOM, /* the policy has too many rules beside it */
};

struct lease {
	struct policy_lease target;
	struct policy_properties properties;
	char comm[16];	 /* of the task, as it was at first */
	uint32_t uid;	 /* who asked for it */
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	enum lease_end ended;
};

struct leases {
	struct lease entries[LEASES_MAX]; /* by id, ascending */
	uint32_t n;
};

/* Adds one whose id is above all others'. False when the table is full. */
bool leases_add(struct leases *leases, const struct lease *lease);

/* NULL when none has the id. Borrowed until the table changes. */
struct lease *leases_find(struct leases *leases, uint32_t id);
void leases_remove(struct leases *leases, struct lease *lease);

/* How many there may be beside the rules of the policy. */
uint32_t leases_room(const struct policy *policy);

/* Notes which of them can hold no longer under this policy, whose own leases do not matter. */
void leases_check(struct leases *leases, const struct policy *policy);

/* Makes those that hold the policy's leases, in the place of those that it has. */
void leases_fill(const struct leases *leases, struct policy *policy);

/* The task has ended, or with another start_ns another task has its number: ends those for it. */
void leases_end_task(struct leases *leases, uint32_t pid, uint64_t start_ns);

/* When the first of them ends: 0 when one has already, UINT64_MAX when there is none. */
uint64_t leases_next_ns(const struct leases *leases);
