/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The last-level caches of the machine, among which tasks are placed; where all CPUs share one, the
 * clusters below it that have CPUs of more than one core.
 */

#include <stdint.h>

#include "core/placement.h"
#include "core/topology.h"
#include "shared/cpu_mask.h"

struct caches {
	uint32_t n; /* below 2 there is nothing to place */
	struct cpu_mask cpus[PLACEMENT_CACHES_MAX];
	uint8_t of_cpu[TOPOLOGY_CPUS_MAX]; /* CACHES_NONE: it has none that is followed */
};

#define CACHES_NONE UINT8_MAX

/* Those of the CPUs that are online, of n_cpus. */
void caches_discover(uint32_t n_cpus, struct caches *ret);

/* The cache of a CPU, any number; PLACEMENT_NO_CACHE. */
static inline uint32_t caches_of_cpu(const struct caches *caches, uint32_t cpu)
{
	if (cpu >= TOPOLOGY_CPUS_MAX || caches->of_cpu[cpu] == CACHES_NONE)
		return PLACEMENT_NO_CACHE;
	return caches->of_cpu[cpu];
}
