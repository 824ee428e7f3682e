/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks of a group are spread over the last-level caches when they are forked (placement =
 * fork-spread), since the kernel looks for an idle CPU in one cache only (select_idle_sibling()): a
 * task may wait there while another cache has idle CPUs. This decides in which caches the tasks are
 * kept. It is a preference only: a cache is released as soon as a task of the group had to wait
 * while no CPU of it has been idle for PLACEMENT_FULL_NS, and all are when tasks wait twice as long
 * after a wake-up (p99) as without. A cache is tried again after a back-off that doubles, once its
 * CPUs were idle for a quarter of the last window, for tasks that are forked then. No group gets a
 * cache more often than once a second.
 *
 * A placement that has lasted is tested by an experiment (core/experiment.h): its tasks are
 * released for every other window, as boosts are given in every other one there. What they get done
 * is compared, per time in which they ran or waited to run. Where the release pays, they stay
 * released. Where the experiment cannot tell, they stay placed, as was asked for.
 *
 * No clock and no files: the same looks give the same answers. It is not part of the engine or of
 * recordings, as it decides nothing about frequencies.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment.h"
#include "wakegov/latency.h"

#define PLACEMENT_CACHES_MAX 64
#define PLACEMENT_GROUPS_MAX 64
#define PLACEMENT_NO_CACHE   UINT32_MAX

#define PLACEMENT_FULL_NS    5000000ULL
/* The length of a window, and the least time between two caches of one group. */
#define PLACEMENT_LOOK_NS 1000000000ULL

enum placement_why {
	PLACEMENT_BEGINS,
	PLACEMENT_HOLDS,
	PLACEMENT_FULL,	    /* released: a cache had no idle CPU */
	PLACEMENT_SLOWER,   /* … tasks waited longer after wake-ups */
	PLACEMENT_OFFLINE,  /* … all CPUs of the cache are offline */
	PLACEMENT_COMPARES, /* … for a window of the experiment */
	PLACEMENT_LOSES,    /* … by its answer: tasks get more done without */
};

/* Counters of a group, which only grow. */
struct placement_counts {
	uint64_t run_ns;
	uint64_t wait_ns; /* its tasks were runnable and did not run */
	uint64_t work;	  /* what they got done: reads and writes, or bursts without any */
	uint32_t latencies[WAKEGOV_LATENCIES]; /* from a wake-up to the first run */
};

struct placement_machine {
	uint32_t n_caches;
	struct placement_cache {
		uint32_t n_cpus;  /* online */
		uint64_t busy_ns; /* summed busy time of its CPUs; only grows */
	} caches[PLACEMENT_CACHES_MAX];
};

struct placement {
	enum placement_why why;
	uint64_t held;	/* caches, as bits, to which tasks are kept */
	uint64_t aside; /* … to which the experiment does not keep them now */

	uint64_t window_ns; /* start of the window; 0: no look yet */
	uint64_t mark_work; /* counters at that time */
	uint64_t mark_busy_ns[PLACEMENT_CACHES_MAX];
	/* Waits are measured over as many windows as needed. */
	uint64_t waits_ns; /* start of the measurement … */
	uint32_t mark_latencies[WAKEGOV_LATENCIES];
	bool changed; /* … `held` changed meanwhile: the measurement is void */

	struct experiment experiment;
	struct experiment_tally tally;

	uint64_t held_since_ns;
	uint64_t retry_ns; /* no cache is taken before */
	uint64_t back_off_ns;
	uint32_t p99[2]; /* buckets of latency.h without and with a cache; 0: not known */
};

/* The seed is that of the order in which the experiment compares. */
void placement_init(struct placement *placement, uint64_t seed);

/*
 * Looks at the group: at its start, at placement_next_ns(), and when CPUs come or go. Returns
 * whether `held` changed.
 */
bool placement_look(struct placement *placement, const struct placement_machine *machine,
		    const struct placement_counts *counts, uint64_t now_ns);

/* The next look; one that is earlier changes nothing. */
uint64_t placement_next_ns(const struct placement *placement);

/*
 * Whether the placement was compared. Then *ret has by how much more the tasks get done without.
 */
bool placement_tested(const struct placement *placement, struct experiment_estimate *ret);

/* A task of the group had to wait in that cache, which is full. Returns as placement_look(). */
bool placement_full(struct placement *placement, uint32_t cache, uint64_t now_ns);

/* Whether tasks are kept to the cache. Accepts any number. */
static inline bool placement_holds(const struct placement *placement, uint32_t cache)
{
	return cache < PLACEMENT_CACHES_MAX && placement->held >> cache & 1;
}

/*
 * The 99th percentile of the time from a wake-up until the task runs, with or without a cache; 0:
 * not known.
 */
uint64_t placement_p99_ns(const struct placement *placement, bool with);

/* A static string: "released: no CPU of the cache was idle". */
const char *placement_why_text(enum placement_why why);
