/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Placement: sorts the tasks of rules and classes with a placement into groups, passes what the
 * kernel side counts of them to core/placement.h, and sets the tasks' affinities. A group has the
 * tasks that one rule places and that have the same hint or, without a hint, are in the same
 * cgroup.
 */

#include "actuator/affinities.h"
#include "core/placement.h"
#include "daemon/state.h"

struct placed_group {
	uint64_t key; /* number of the hint or the cgroup; 0: free */
	char rule[POLICY_NAME_SIZE];
	uint32_t n_tasks;
	uint32_t n_in[PLACEMENT_CACHES_MAX]; /* number of tasks by their cache */
	struct placement placement;
	uint64_t next_ns; /* next look; UINT64_MAX: when one of its tasks wakes up */
	uint64_t seen;	  /* wake-ups and run times at the last look, to find idle groups */
};

int placing_start(struct manager *manager);
/* Restores the affinity of every task. */
void placing_end(struct manager *manager);

/* The policy has changed; reports of its tasks follow. */
void placing_set_policy(struct manager *manager);
/* Takes a task whose rules are up to date. tgid and parent may be 0. */
void placing_take_task(struct manager *manager, uint32_t pid, uint32_t tgid, uint32_t parent);
void placing_end_task(struct manager *manager, uint32_t pid);
/* TRACER_PLACED_CHILD, TRACER_FULL_CACHE and TRACER_GROUP_WAKES. */
void placing_take_event(struct manager *manager, const struct tracer_event *event);
/* CPUs came or went. */
void placing_mind_cpus(struct manager *manager);

/* Makes the looks that are due. */
void placing_look(struct manager *manager, uint64_t now_ns);
uint64_t placing_next_ns(const struct manager *manager);

/* The next group of the rule at or behind *place, which is set behind it. NULL: no more. */
const struct placed_group *placing_next_group(const struct manager *manager, const char *rule,
					      uint32_t *place);
/* The CPUs of the present or last cache of a wake-affine group. */
const struct cpu_mask *placing_cpus_of(const struct manager *manager,
				       const struct placed_group *group);
/* The reason why no task can be placed here, as a clause; NULL: tasks can be placed. */
const char *placing_why_not(const struct manager *manager);
void placing_count(const struct manager *manager, struct affinities_counts *ret);
/* The number of groups that are kept to a cache now (placed), or are not. */
uint32_t placing_count_groups(const struct manager *manager, bool placed);
