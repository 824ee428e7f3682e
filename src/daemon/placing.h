/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Placement: from the tasks of rules and classes with one to groups, to what core/placement.h makes
 * of what the kernel side counts of them, to the tasks' affinities. A group is the tasks that a
 * rule places and that have one hint, or where it is no hint's are in one cgroup.
 */

#include "actuator/affinities.h"
#include "core/placement.h"
#include "daemon/state.h"

struct placed_group {
	uint64_t key; /* the hint's or the cgroup's number; 0: there is no such group */
	char rule[POLICY_NAME_SIZE];
	uint32_t n_tasks;
	uint32_t n_in[PLACEMENT_CACHES_MAX]; /* of them, those whose own cache that is */
	struct placement placement;
	uint64_t next_ns; /* of its next look; UINT64_MAX: when one of its tasks wakes up */
	uint64_t seen;	  /* of its wake-ups and run times, as of the last one */
};

int placing_start(struct manager *manager);
/* Puts back what every task had. */
void placing_end(struct manager *manager);

/* Another policy holds; its tasks are told of after that. */
void placing_set_policy(struct manager *manager);
/* The task is there, and what rules it matches is up to date. tgid and parent may be 0. */
void placing_take_task(struct manager *manager, uint32_t pid, uint32_t tgid, uint32_t parent);
void placing_end_task(struct manager *manager, uint32_t pid);
/* TRACER_PLACED_CHILD, TRACER_FULL_CACHE and TRACER_GROUP_WAKES. */
void placing_take_event(struct manager *manager, const struct tracer_event *event);
/* CPUs came or went. */
void placing_mind_cpus(struct manager *manager);

/* The looks that are due. */
void placing_look(struct manager *manager, uint64_t now_ns);
uint64_t placing_next_ns(const struct manager *manager);

/* The group at or behind *place that the rule is for; *place is the next one. NULL: none is left.
 */
const struct placed_group *placing_next_group(const struct manager *manager, const char *rule,
					      uint32_t *place);
/* The CPUs of the cache to which a wake-affine group is kept, or was last. */
const struct cpu_mask *placing_cpus_of(const struct manager *manager,
				       const struct placed_group *group);
/* Why no task can be placed here: a clause; NULL: they can. */
const char *placing_why_not(const struct manager *manager);
void placing_count(const struct manager *manager, struct affinities_counts *ret);
/* How many groups are kept to a cache now, or are not: let go, or not yet placed. */
uint32_t placing_count_groups(const struct manager *manager, bool placed);
