/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What schedutil needs before a limit of a domain is widened, and to take one up at
 * once.
 *
 * A limit that is narrowed moves the domain at once where the driver cannot switch from within the
 * scheduler (sugov_limits()). What schedutil asked for last stays as it was until it is called
 * again, which takes a task that runs in the domain, and it asks the driver for nothing that equals
 * it (sugov_update_next_freq()). So a maximum that comes and goes while a domain is idle would
 * leave it there for as long as the load needs what it needed before. A real-time thread that
 * visits the domain while the limit holds prevents that.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

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

/*
 * Visits it once more, without waiting: after a limit was widened where a scheduler of sched_ext
 * has all tasks, as none of these calls schedutil.
 */
void schedutil_visit_again(uint32_t policy);

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
