/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A group: tasks that do their I/O on one device, in domains of one kind, with a similar
 * prediction. One experiment finds out whether a boost pays for them, by their own I/Os. Tasks
 * whose waits have no block requests are a group per process, without a prediction.
 *
 * What was found out stays with the group when its tasks end, for those that come after them.
 */

#include "core/experiment.h"
#include "core/io_boost.h"

#define IO_GROUPS_MAX 64

struct io_group {
	bool used;
	bool moved_limits;    /* limits came to bound a level of it in the pair under way */
	uint32_t device;      /* or IO_BOOST_NO_DEVICE */
	uint32_t tgid;	      /* whose waits they are; 0: it has a device */
	uint32_t kind;	      /* the first domain of those that are like the domains of its tasks */
	uint32_t ratio;	      /* ρ of its tasks' mean, held; 0: not known */
	uint32_t depth_milli; /* of its first task: a reader and a queue are not alike */
	uint32_t found_ratio; /* the ρ that the gain found speaks of; 0: there is none */
	uint32_t n_tasks;
	uint32_t n_asked; /* tasks on its device when there was an answer; 0: not known */
	uint64_t seen_ns; /* when it last had a task */
	uint64_t due_ns;  /* while it has no tasks: when its experiment was to go on */
	struct experiment_tally tally;
	struct experiment experiment;
};

/* The ρ to act upon: as predicted, or as found where the two are apart by more than twice. */
static inline uint32_t io_group_ratio(const struct io_group *group)
{
	uint64_t found = group->found_ratio, predicted = group->ratio;

	return found && (found > 2 * predicted || predicted > 2 * found) ? found : predicted;
}

static inline bool io_are_alike(uint32_t a, uint32_t b)
{
	return a <= 2ULL * b && b <= 2ULL * a;
}
