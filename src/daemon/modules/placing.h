/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Placement (core/placement.h). A group has the tasks that one rule places and that have the same
 * hint or, without a hint, are in the same cgroup.
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
	uint32_t n_cpus[PLACEMENT_CACHES_MAX]; /* online, by cache */
	uint64_t online;		       /* caches, as bits, that have any */
	struct affinities *affinities;
	struct pid_index *index;
	struct placed_task *tasks;
	struct placed_group groups[PLACEMENT_GROUPS_MAX];
	bool refused;	      /* the kernel refused, which was logged */
	bool handed_back;     /* so no task is kept now */
	uint64_t stranded_ns; /* when engine_find_stranded() last found none */
};

extern const struct module placing_module;

/* The reason why no task can be placed here, as a clause; NULL: tasks can be placed. */
const char *placing_why_not(const struct placing *placing);

/* Whether tasks of the group are kept to a cache now. */
static inline bool placing_holds(const struct placing *placing, const struct placed_group *group)
{
	return group->placement.held && !placing->handed_back;
}

/* Why they are, or are not, as a clause. */
const char *placing_group_why(const struct placing *placing, const struct placed_group *group);
