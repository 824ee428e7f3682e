/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The last-level caches, among which tasks are placed. If all CPUs share one, the clusters below it
 * that have more than one core take their place.
 */

#include <stdint.h>

#include "core/placement.h"
#include "core/topology.h"
#include "shared/cpu_mask.h"

struct caches {
	uint32_t n; /* with fewer than 2, no task is placed */
	struct cpu_mask cpus[PLACEMENT_CACHES_MAX];
	uint8_t of_cpu[TOPOLOGY_CPUS_MAX]; /* CACHES_NONE: the CPU has no cache in the table */
};

#define CACHES_NONE UINT8_MAX

/* Finds the caches of the online CPUs below n_cpus. */
void caches_discover(uint32_t n_cpus, struct caches *ret);

/* The cache of any CPU number, or PLACEMENT_NO_CACHE. */
static inline uint32_t caches_of_cpu(const struct caches *caches, uint32_t cpu)
{
	if (cpu >= TOPOLOGY_CPUS_MAX || caches->of_cpu[cpu] == CACHES_NONE)
		return PLACEMENT_NO_CACHE;
	return caches->of_cpu[cpu];
}
