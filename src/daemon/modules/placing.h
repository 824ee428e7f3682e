/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Placement: sorts the tasks of rules and classes with a placement into groups, spreads the tasks
 * of each over the last-level caches, passes what the kernel side counts of them to
 * core/placement.h, and sets the tasks' affinities. A group has the tasks that one rule places and
 * that have the same hint or, without a hint, are in the same cgroup.
 */

#include "actuator/affinities.h"
#include "actuator/discovery.h"
#include "core/pid_index.h"
#include "core/placement.h"
#include "daemon/module.h"

struct placed_group {
	uint64_t key; /* number of the hint or the cgroup; 0: free */
	char rule[POLICY_NAME_SIZE];
	uint32_t n_tasks;
	uint32_t n_in[PLACEMENT_CACHES_MAX]; /* number of tasks by their cache */
	struct placement placement;
	uint64_t next_ns; /* next look; UINT64_MAX: when one of its tasks wakes up */
	uint64_t seen;	  /* run time at the last look, to find idle groups */
};

struct placed_task {
	uint32_t pid;
	uint32_t group;
	uint32_t cache; /* to which it was spread, until that is released */
};

struct placing {
	struct core *core;
	bool wanted; /* a rule or class places tasks */
	struct caches caches;
	struct placement_machine machine;
	struct affinities *affinities;
	struct pid_index *index;
	struct placed_task *tasks;
	struct placed_group groups[PLACEMENT_GROUPS_MAX];
	bool refused;	  /* the kernel refused, which was logged */
	uint64_t next_ns; /* of all groups */
};

extern const struct module placing_module;

/* The reason why no task can be placed here, as a clause; NULL: tasks can be placed. */
const char *placing_why_not(const struct placing *placing);
