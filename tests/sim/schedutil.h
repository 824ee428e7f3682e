/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * schedutil, and what was proposed for it: the same evaluation with another boost.
 *
 *	f = f_ref · 1.25 · max(need, boost) / capacity	→ next OPP at or above
 *
 * f_ref is the highest frequency where utilisation is frequency-invariant, else the present one.
 * Evaluated on wake-ups from I/O, on ticks, and where a period of utilisation ends; at most one
 * change per rate limit.
 */

#include "sim/governor.h"
#include "sim/pelt.h"

struct schedutil;

/* A boost: what it learns at each evaluation, and what it asks for. */
struct schedutil_boost {
	/* Before the rate limit; thread is the one woken from an I/O wait, or NULL. */
	void (*on_update)(struct schedutil *su, struct sim *sim, uint32_t cpu,
			  const struct sim_thread *thread);
	/* After the rate limit; capacity 0…1024 that the CPU is to have at least. */
	uint32_t (*cap)(struct schedutil *su, struct sim *sim, uint32_t cpu);
	/* The thread leaves its run queue. May be NULL. */
	void (*on_sleep)(struct schedutil *su, struct sim *sim, const struct sim_thread *thread);
};

struct schedutil_cpu {
	uint32_t boost; /* of mainline, 0…1024 */
	bool pending;
	uint64_t updated_ns;
	uint32_t held_cap; /* of the others */
	uint64_t held_until_ns;
};

struct schedutil_domain {
	uint32_t khz;
	uint64_t changed_ns;
	bool limit_changed;
};

/* A task in the 2024 proposal. */
struct schedutil_task {
	uint32_t level;
	uint32_t n; /* I/O waits in the interval */
	uint32_t threshold;
	uint64_t interval_start_ns; /* 0: none */
	uint64_t timeout_ns;
};

struct schedutil {
	const struct schedutil_boost *boost;
	bool invariant;
	struct pelt pelt;
	struct schedutil_cpu cpus[PLATFORM_CPUS_MAX];
	struct schedutil_domain domains[PLATFORM_DOMAINS_MAX];
	struct schedutil_task *tasks;
	const struct sim_thread *waking; /* the one that is about to be queued, or NULL */
};

extern const struct schedutil_boost schedutil_mainline_boost;
extern const struct schedutil_boost schedutil_boost_v1, schedutil_boost_v2, schedutil_boost_all;

/* The proposal's rules: the interval of a task is over, and it goes to sleep. */
void schedutil_task_end_interval(struct schedutil_task *task, bool is_v2);
void schedutil_task_sleep(struct schedutil_task *task, bool in_iowait, uint64_t now_ns, bool is_v2);

extern const struct sim_governor sim_governor_schedutil;
extern const struct sim_governor sim_governor_schedutil_no_boost;
extern const struct sim_governor sim_governor_schedutil_raw;
extern const struct sim_governor sim_governor_proposal_v1;
extern const struct sim_governor sim_governor_proposal_v2;
extern const struct sim_governor sim_governor_boost_all;
