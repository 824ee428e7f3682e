/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * schedutil, with its io-wait boost and without.
 *
 *	f = f_ref · 1.25 · max(need, boost) / capacity	→ next OPP at or above
 *
 * f_ref is the highest frequency where utilisation is frequency-invariant, else the present one.
 * Evaluated on wake-ups from I/O, on ticks, and where a period of utilisation ends; at most one
 * change per rate limit.
 */

#include "sim/governor.h"
#include "sim/pelt.h"

struct schedutil_cpu {
	uint32_t boost; /* 0…1024 */
	bool pending;
	uint64_t updated_ns;
};

struct schedutil_domain {
	uint32_t khz;
	uint64_t changed_ns;
	bool limit_changed;
};

struct schedutil {
	bool boosts;
	bool invariant;
	struct pelt pelt;
	struct schedutil_cpu cpus[PLATFORM_CPUS_MAX];
	struct schedutil_domain domains[PLATFORM_DOMAINS_MAX];
};

/* Before the rate limit; thread is the one woken from an I/O wait, or NULL. */
void schedutil_boost_update(struct schedutil *su, const struct sim *sim, uint32_t cpu,
			    const struct sim_thread *thread);
/* After the rate limit; capacity 0…1024 that the CPU is to have at least. */
uint32_t schedutil_boost_cap(struct schedutil *su, const struct sim *sim, uint32_t cpu);

extern const struct sim_governor sim_governor_schedutil;
extern const struct sim_governor sim_governor_schedutil_no_boost;
extern const struct sim_governor sim_governor_schedutil_raw;
