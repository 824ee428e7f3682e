/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What schedutil needs before a limit is widened, and how it applies a limit at once.
 *
 * If the driver cannot switch from within the scheduler, narrowing a limit moves the domain at once
 * (sugov_limits()). schedutil's last request stays until schedutil is called again, by a task that
 * runs in the domain, and schedutil never repeats an equal request to the driver
 * (sugov_update_next_freq()). So a maximum that comes and goes while a domain is idle would leave
 * the domain there for as long as the load's need stays the same. A real-time thread that visits
 * the domain while the limit holds prevents that.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

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
 * its frequency until one does. Nothing happens before the first call, under another governor, nor
 * if the kernel has no clamps: there a real-time task has the highest frequency.
 */
void schedutil_call_idle(struct schedutil_caller *caller, uint32_t policy);

/* Ends the thread, if there is one. */
void schedutil_caller_end(struct schedutil_caller *caller);
