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

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "actuator/control.h"
#include "shared/cleanup.h"

struct actuator_domain;
struct actuator_request;

/*
 * schedutil.c: what schedutil needs before a limit of a domain is widened, and to take one up at
 * once.
 *
 * A limit that is narrowed moves the domain at once where the driver cannot switch from within the
 * scheduler (sugov_limits()). What schedutil asked for last stays as it was until it is called
 * again, which takes a task that runs in the domain, and it asks the driver for nothing that equals
 * it (sugov_update_next_freq()). So a maximum that comes and goes while a domain is idle would
 * leave it there for as long as the load needs what it needed before. A thread that visits the
 * domain while the limit holds prevents that.
 */

/* A visit of one domain; zeroed: none. */
struct schedutil_visit {
	pthread_t thread;
	uint64_t until_ns; /* when it is over at the latest; 0: none has begun */
};

/* Zeroed: it has no thread. It must stay where it is until schedutil_caller_end(). */
struct schedutil_caller {
	pthread_t thread;
	sem_t calls;
	int cpu; /* where the thread may run; -1: anywhere */
	bool exists;
};

bool schedutil_governs(uint32_t policy);

/*
 * Begins a visit of policyN, or looks at one that has begun, without waiting. Returns whether the
 * limit may be widened: the visit is over, or none is needed: under another governor, and where
 * all CPUs are isolated. It takes 2 ms, and 10 ms at most where the CPUs are busy.
 */
bool schedutil_visit(struct schedutil_visit *visit, uint32_t policy);

/* Waits for its end. Of several that began together, only the first takes time. */
void schedutil_visit_wait(struct schedutil_visit *visit);

/* Forgets a visit, whether it is over or not. */
void schedutil_visit_drop(struct schedutil_visit *visit);

/*
 * Has schedutil look at the limits of a domain on this CPU of it. For a task that runs there, or
 * that was on its way there when the limit was written, it would not before the next tick.
 * schedutil is called whenever a real-time task comes or goes: these are of a thread, which the
 * first call starts, and which does nothing else. Without the right to start it nothing happens.
 */
void schedutil_call(struct schedutil_caller *caller, int cpu);

/* Ends the thread, if there is one. */
void schedutil_caller_end(struct schedutil_caller *caller);

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
