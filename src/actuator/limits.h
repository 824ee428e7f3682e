/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Drives a domain by scaling_min_freq and scaling_max_freq: for the backend `limits`, for the
 * domain's own limits under setspeed and uclamp, and for floors under uclamp. Both are user
 * requests, which the kernel merges with other limits (thermal, firmware, turbo switched off). The
 * files show the merged values, which a work queue updates a moment after a write. Saving,
 * restoring and the detection of other writers use the requests (domain->read_limits): a thermal
 * limit saved as the user's would never end.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "actuator/control.h"
#include "shared/cleanup.h"

/*
 * schedutil.c: what schedutil needs before a limit is widened, and how it applies a limit at once.
 *
 * If the driver cannot switch from within the scheduler, narrowing a limit moves the domain at once
 * (sugov_limits()). schedutil's last request stays until schedutil is called again, by a task that
 * runs in the domain, and schedutil never repeats an equal request to the driver
 * (sugov_update_next_freq()). So a maximum that comes and goes while a domain is idle would leave
 * the domain there for as long as the load's need stays the same. A real-time thread that visits
 * the domain while the limit holds prevents that.
 */

/* A visit of one domain; all zero: none. */
struct schedutil_visit {
	pthread_t thread;
	uint64_t until_ns; /* its latest end; 0: none has begun */
};

/* All zero: no thread. It must stay at its address until schedutil_caller_end(). */
struct schedutil_caller {
	pthread_t thread;
	sem_t calls;
	int cpu; /* where the thread may run; -1: anywhere */
	bool exists;
	bool lowers; /* written by the thread: it asks for no frequency itself */
};

/*
 * Begins a visit of policyN, or checks one that has begun, without waiting. Returns whether the
 * limit may be widened: the visit is over or not needed, as under another governor, or with
 * isolated CPUs only. A visit takes 2 ms, or 10 ms at most on busy CPUs.
 */
bool schedutil_visit(struct schedutil_visit *visit, uint32_t policy);

/* Waits for its end. After several began together, only the first wait takes time. */
void schedutil_visit_wait(struct schedutil_visit *visit);

/* Forgets a visit, whether it is over or not. */
void schedutil_visit_drop(struct schedutil_visit *visit);

/*
 * Makes schedutil check the limits on this CPU of a domain. For a task that runs there, or was
 * about to when the limit was written, it would do so only at the next tick. The kernel calls
 * schedutil when a real-time task wakes up or sleeps: the first call starts a thread that does
 * nothing else. Without permission to start it, nothing happens.
 */
void schedutil_call(struct schedutil_caller *caller, int cpu);

/*
 * The same where the last call was, in policyN, on which no task runs now: an idle CPU would keep
 * its frequency until one does. Nothing happens before the first call, or under another governor.
 */
void schedutil_call_idle(struct schedutil_caller *caller, uint32_t policy);

/* Ends the thread, if there is one. */
void schedutil_caller_end(struct schedutil_caller *caller);

struct actuator_domain;
struct actuator_request;

/* How many of our writes may pass before the kernel has applied the first. */
#define RANGE_WAS 4

struct range_limit {
	int fd;		    /* open for writing; −1: not opened */
	uint32_t saved_khz; /* request before us, or by another program while we held none */
	uint32_t put_khz;   /* our last write */
	/* the values before put_khz, latest first: files may show them until put_khz is applied */
	uint32_t was_khz[RANGE_WAS];
};

struct range {
	struct range_limit min, max;
	bool is_acquired;	  /* both are saved, and may be written */
	uint32_t default_min_khz; /* the driver's, unless a program requests one; 0: its lowest */
	uint32_t own_min_khz, own_max_khz; /* the domain's own limits, from the last request */
	uint64_t governor;		   /* its address at the last verify; 0: unknown */
	struct schedutil_visit visit;	   /* before a limit is widened */
	struct schedutil_caller caller;	   /* after a write that is wanted at once */
};

static inline void range_init(struct range *range)
{
	*range = (struct range){ .min.fd = -1, .max.fd = -1, .own_max_khz = UINT32_MAX };
}

/*
 * Opens both files, and changes nothing. Returns 0; -EOPNOTSUPP without such files; or another
 * negative errno with domain->why filled.
 */
int range_open(struct actuator_domain *domain);

/* The same, and saves the requests. -EBUSY when the domain is offline. */
int range_acquire(struct actuator_domain *domain);

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

/* Whether the value is our last write, or a former one. */
static inline bool range_limit_was(const struct range_limit *limit, uint32_t khz)
{
	for (size_t i = 0; i < RANGE_WAS; i++)
		if (limit->was_khz[i] == khz)
			return true;
	return false;
}

/* The others' minimum. */
static inline uint32_t range_others_min_khz(const struct range *range)
{
	return range->min.saved_khz ? range->min.saved_khz : range->default_min_khz;
}

/*
 * Checks that the limits are still ours. A limit that another program set while we held none
 * becomes the saved value, and so does a maximum that the kernel set when turbo was switched. A
 * program that replaces our limit takes over the domain, and the other saved values are restored.
 * Returns ACTUATOR_DONE, ACTUATOR_TAKEN_OVER, ACTUATOR_OFFLINE or a negative errno.
 */
int range_verify(struct actuator_domain *domain);

/*
 * The apply step of a backend that holds the domain between two limits: opens the files if need be,
 * and writes as range_write(). Returns what struct backend's apply does.
 */
int range_apply(struct actuator_domain *domain, const struct actuator_request *request,
		uint32_t min_khz, uint32_t max_khz);
