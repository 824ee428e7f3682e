/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Drives a domain by scaling_min_freq and scaling_max_freq: for the backend `limits`, for the
 * domain's own limits under setspeed and uclamp, and for floors under uclamp. Both are user
 * requests, which the kernel merges with those of others (thermal limits, firmware, turbo switched
 * off). Reading the files gives the merged values, from a work queue a moment after a write. What
 * was before us, what is restored, and whether another program has written, goes by the requests
 * (domain->read_limits): a thermal limit saved as the user's would never end.
 */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/control.h"
#include "actuator/schedutil.h"
#include "shared/cleanup.h"

struct actuator_domain;
struct actuator_request;

/* Number of our writes that may pass before the kernel has applied the first. */
#define RANGE_WAS 4

struct range_limit {
	int fd;		    /* open for writing; −1: not opened */
	uint32_t saved_khz; /* request before us, or by another program while we held none there */
	uint32_t put_khz;   /* our last write */
	/* the values before put_khz, latest first: reading may give them until it is applied */
	uint32_t was_khz[RANGE_WAS];
};

struct range {
	struct range_limit min, max;
	bool is_taken;		  /* both are saved, and may be written */
	uint32_t default_min_khz; /* the driver's while no program requests one; 0: its lowest */
	uint32_t own_min_khz, own_max_khz; /* the domain's own limits, of the last request */
	uint64_t governor; /* its address when they were last verified; 0: it is not known */
	struct schedutil_visit visit;	/* before they are widened */
	struct schedutil_caller caller; /* after a write that is wanted at once */
};

static inline void range_init(struct range *range)
{
	*range = (struct range){ .min.fd = -1, .max.fd = -1, .own_max_khz = UINT32_MAX };
}

static inline bool range_is_taken(const struct range *range)
{
	return range->is_taken;
}

/*
 * Opens both files, and changes nothing. Returns 0; -EOPNOTSUPP without such files; or another
 * negative errno with domain->why filled.
 */
int range_open(struct actuator_domain *domain);

/* The same, and saves the requests. -EBUSY when the domain is offline. */
int range_take(struct actuator_domain *domain);

/* Closes both files; restore_domain() restores their values. */
static inline void range_close(struct range *range)
{
	schedutil_visit_drop(&range->visit);
	close_fdp(&range->min.fd);
	close_fdp(&range->max.fd);
	schedutil_caller_end(&range->caller);
	range_init(range);
}

/*
 * Writes [min_khz, max_khz] within the saved values; the maximum wins where they cross. The file
 * that makes room is written first, so that the two never cross. Returns 1 when something was
 * written, 0 when both were in force, or a negative errno with one of the two perhaps written.
 * `again` writes in any case.
 */
int range_write(struct actuator_domain *domain, uint32_t min_khz, uint32_t max_khz, bool again);

/* Whether the value is one that we wrote, perhaps an earlier one. */
static inline bool range_limit_was(const struct range_limit *limit, uint32_t khz)
{
	for (size_t i = 0; i < RANGE_WAS; i++)
		if (limit->was_khz[i] == khz)
			return true;
	return false;
}

/* The minimum without ours. */
static inline uint32_t range_others_min_khz(const struct range *range)
{
	return range->min.saved_khz ? range->min.saved_khz : range->default_min_khz;
}

/*
 * Checks that the limits are still ours. A limit that another program set where we held none
 * becomes the saved value, and so does a maximum that the kernel set as turbo was switched. One set
 * in the place of ours means that the program takes over the domain, and the other saved values are
 * restored. Returns ACTUATOR_DONE, ACTUATOR_TAKEN_OVER, ACTUATOR_OFFLINE or a negative errno.
 */
int range_verify(struct actuator_domain *domain);

/*
 * The apply step of a backend that holds the domain between two limits: opens the files if need be,
 * and writes as range_write(). Returns what struct backend's apply does.
 */
int range_apply(struct actuator_domain *domain, const struct actuator_request *request,
		uint32_t min_khz, uint32_t max_khz);
