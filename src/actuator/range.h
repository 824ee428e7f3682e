/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * scaling_min_freq and scaling_max_freq as a lever. Both are requests of the user that the kernel
 * merges with others' (thermal limits, the firmware's), and reading gives the merged value, from a
 * work queue a moment after the write. So a maximum below ours is another limiter's and a maximum
 * above ours is another writer's; the same holds for a minimum, turned around. Where the watch has
 * seen another program close the file, every value that is not ours is that program's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/control.h"
#include "shared/cleanup.h"

struct actuator_domain;

/* So many writes may pass before the kernel gets round to the first. */
#define RANGE_WAS 4

struct range_limit {
	int fd;		    /* open for writing; −1: not taken */
	uint32_t saved_khz; /* before us, or set by somebody while we held it there */
	uint32_t put_khz;   /* what we wrote last */
	/* what stood there before, the latest first: it can be read until put_khz was */
	uint32_t was_khz[RANGE_WAS];
	bool suspect; /* somebody wrote it, and what is read may still be ours: range_settle() */
};

struct range {
	struct range_limit min, max;
	uint64_t settles_ns; /* while a limit is suspect: when the kernel has applied every write */
};

/* Nothing taken. */
static inline void range_init(struct range *range)
{
	*range = (struct range){ .min.fd = -1, .max.fd = -1 };
}

static inline bool range_is_taken(const struct range *range)
{
	return range->max.fd >= 0;
}

/*
 * Opens both files and saves what they hold. Returns 0; -EBUSY when the domain is offline;
 * -EOPNOTSUPP where there are no such files; or another negative errno with domain->why filled.
 * Nothing is changed by it.
 */
int range_take(struct actuator_domain *domain);

/* Closes both files. What they hold is restore_domain()'s concern. */
static inline void range_let_go(struct range *range)
{
	close_fdp(&range->min.fd);
	close_fdp(&range->max.fd);
	range_init(range);
}

/*
 * Asks for [min_khz, max_khz] within the saved values; the maximum wins where they contradict. The
 * file that makes room is written first, so that the two never cross. Returns 1 when something was
 * written, 0 when it stood there already, or a negative errno: then one of the two may be as asked.
 * `again` writes even so.
 */
int range_put(struct actuator_domain *domain, uint32_t min_khz, uint32_t max_khz, bool again);

/* Ours, and perhaps out of date. */
static inline bool range_limit_was(const struct range_limit *limit, uint32_t khz)
{
	for (size_t i = 0; i < RANGE_WAS; i++)
		if (limit->was_khz[i] == khz)
			return true;
	return false;
}

static inline bool range_is_suspect(const struct range *range)
{
	return range->min.suspect || range->max.suspect;
}

/* Takes what is ours off limits that were just read: what is left are the others' limits. */
static inline void range_strip(const struct range *range, uint32_t *min_khz, uint32_t *max_khz)
{
	if (*max_khz >= range->max.put_khz || range_limit_was(&range->max, *max_khz))
		*max_khz = range->max.saved_khz;
	if (*min_khz <= range->min.put_khz || range_limit_was(&range->min, *min_khz))
		*min_khz = range->min.saved_khz;
}

/*
 * Looks whether the limits are still ours; `touched` as in struct actuator_domain. A limit that
 * somebody set where we held none becomes its saved value. One that somebody set in the place of
 * ours is theirs, and the domain with it: the rest of the saved values are put back. Returns
 * ACTUATOR_DONE, ACTUATOR_TAKEN_OVER, ACTUATOR_OFFLINE or a negative errno.
 */
int range_verify(struct actuator_domain *domain, unsigned int touched);

/*
 * The last look at suspect limits, once the kernel has applied both writes: what stood there before
 * ours and is read then was written by the other program. Returns ACTUATOR_UNVERIFIED before that
 * time; else what range_verify() does, and no limit is suspect afterwards.
 */
int range_settle(struct actuator_domain *domain);

/*
 * The apply step of a backend that holds the domain between two limits: takes the files where they
 * are not taken yet, and writes them as range_put() does. Returns what struct backend's apply does.
 */
int range_apply(struct actuator_domain *domain, uint32_t target_khz, uint32_t min_khz,
		uint32_t max_khz);
