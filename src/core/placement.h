/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Whether the tasks of a group are kept to a last-level cache, and to which. A preference, no more:
 * a cache is let go as soon as a task of the group has to wait while none of its CPUs has been idle
 * for PLACEMENT_FULL_NS, or when tasks wait longer after a wake-up (p99) than without. It is tried
 * again after a back-off that doubles, and only if the group fits there by what its tasks and
 * others have used in the last window. No group gets a cache more often than once a second.
 *
 * No clock, no files: the same looks give the same answers. It is not part of the engine, and
 * recordings do not have it: it decides nothing about frequencies.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wakegov/latency.h"

#define PLACEMENT_CACHES_MAX 64
#define PLACEMENT_GROUPS_MAX 64
#define PLACEMENT_NO_CACHE   UINT32_MAX

#define PLACEMENT_FULL_NS    5000000ULL
/* Of a window, and the least time between two caches of one group. */
#define PLACEMENT_LOOK_NS 1000000000ULL

enum placement_kind {
	PLACEMENT_NONE,
	PLACEMENT_WAKE_AFFINE, /* all tasks of the group in one cache */
	PLACEMENT_WAKE_HOLD,   /* each in the cache where it is */
	PLACEMENT_FORK_AFFINE, /* each in the cache where it was forked */
	PLACEMENT_FORK_SPREAD, /* as many in each cache for its CPUs, from their beginning on */
};

enum placement_why {
	PLACEMENT_BEGINS,
	PLACEMENT_HOLDS,
	PLACEMENT_MEASURES, /* not yet placed: how long its tasks wait without is measured first */
	PLACEMENT_FULL,	    /* let go: a cache had no idle CPU */
	PLACEMENT_SLOWER,   /* … tasks waited longer after wake-ups */
	PLACEMENT_OFFLINE,  /* … all CPUs of the cache are offline */
	PLACEMENT_NO_ROOM,  /* the group does not fit */
};

/* Of a group; all of it but the first grows. */
struct placement_counts {
	uint32_t max_runnable; /* tasks that wanted to run at the same time, since the last look */
	uint64_t wakeups;      /* of one of its tasks by another … */
	uint64_t inside;       /* … in the waker's cache */
	uint64_t run_ns[PLACEMENT_CACHES_MAX];
	uint32_t latencies[WAKEGOV_LATENCIES]; /* from a wake-up to the first run */
};

struct placement_machine {
	uint32_t n_caches;
	struct placement_cache {
		uint32_t n_cpus;  /* online */
		uint32_t n_idle;  /* now */
		uint64_t busy_ns; /* of its CPUs, in all; it grows */
	} caches[PLACEMENT_CACHES_MAX];
};

struct placement {
	enum placement_kind kind;
	enum placement_why why;
	uint64_t held;	    /* caches, as bits, to which tasks are kept now */
	uint32_t preferred; /* of wake-affine: the one that is held, or was last */

	uint64_t window_ns;	      /* the window began; 0: there was no look yet */
	struct placement_counts mark; /* as of then */
	uint64_t mark_busy_ns[PLACEMENT_CACHES_MAX];
	uint32_t max_runnable; /* in it */
	/* How long tasks wait is taken over as many windows as it needs. */
	uint64_t waits_ns; /* since then … */
	uint32_t mark_latencies[WAKEGOV_LATENCIES];
	bool changed; /* … what is held changed: it says nothing */

	uint64_t held_since_ns;
	uint64_t retry_ns; /* nothing is held anew before */
	uint64_t back_off_ns;
	uint32_t p99[2]; /* as buckets of latency.h: without and with; 0: not known */
	uint32_t rises;	 /* windows in a row in which it was above what it is without */
	bool has_inside;
	uint32_t inside_permille; /* of the wake-ups in the last window that had any */
};

void placement_init(struct placement *placement, enum placement_kind kind);

/*
 * A look at the group: at its beginning, once PLACEMENT_LOOK_NS has
 * passed, and when CPUs came or went. Returns whether what is held changed.
 */
bool placement_look(struct placement *placement, const struct placement_machine *machine,
		    const struct placement_counts *counts, uint64_t now_ns);

/* A task of the group has to wait in that cache, which is full. Returns as placement_look(). */
bool placement_full(struct placement *placement, uint32_t cache, uint64_t now_ns);

/* Whether tasks are kept to the cache; any number is one here. */
static inline bool placement_holds(const struct placement *placement, uint32_t cache)
{
	return cache < PLACEMENT_CACHES_MAX && placement->held >> cache & 1;
}

/* How long 99 of 100 wake-ups take at most until the task runs, without and with; 0: not known. */
uint64_t placement_p99_ns(const struct placement *placement, bool with);

/* Static strings: "wake-affine", and "the cache had no idle CPU". NULL past the last. */
const char *placement_kind_name(uint32_t kind);
const char *placement_why_text(enum placement_why why);
