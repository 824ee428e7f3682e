// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/caches.h"

#include <stdio.h>
#include <string.h>

#include "shared/sysfs.h"

#define CPU_DIRECTORY "/sys/devices/system/cpu/cpu%u"
#define LIST_SIZE     4096 /* a page: the kernel's limit for a list of CPU ranges */
#define INDEXES_MAX   8

/* The CPUs of the highest-level cache that holds data. */
static bool read_last_level(uint32_t cpu, struct cpu_mask *ret)
{
	double level, highest = 0;
	char text[LIST_SIZE];

	for (uint32_t i = 0; i < INDEXES_MAX; i++) {
		if (!sysfs_read_number(&level, CPU_DIRECTORY "/cache/index%u/level", cpu, i))
			break;
		if (level > highest &&
		    sysfs_read_line(text, sizeof(text),
				    CPU_DIRECTORY "/cache/index%u/shared_cpu_list", cpu, i) &&
		    cpu_mask_parse_list(text, ret))
			highest = level;
	}
	return highest > 1;
}

/* A cluster of one core's threads does not count. */
static bool read_cluster(uint32_t cpu, struct cpu_mask *ret)
{
	char cluster[LIST_SIZE], core[LIST_SIZE];

	return sysfs_read_line(cluster, sizeof(cluster),
			       CPU_DIRECTORY "/topology/cluster_cpus_list", cpu) &&
	       sysfs_read_line(core, sizeof(core), CPU_DIRECTORY "/topology/core_cpus_list", cpu) &&
	       strcmp(cluster, core) != 0 && cpu_mask_parse_list(cluster, ret);
}

/* Adds no cache for a CPU that already belongs to one. */
static void take(struct caches *caches, uint32_t cpu, const struct cpu_mask *cpus)
{
	if (caches->of_cpu[cpu] != CACHES_NONE || caches->n == PLACEMENT_CACHES_MAX)
		return;
	caches->cpus[caches->n] = *cpus;
	for (uint32_t i = 0; i < TOPOLOGY_CPUS_MAX; i++)
		if (cpu_mask_has(cpus, i))
			caches->of_cpu[i] = caches->n;
	caches->n++;
}

static void discover(uint32_t n_cpus, bool (*read)(uint32_t cpu, struct cpu_mask *ret),
		     struct caches *ret)
{
	struct cpu_mask cpus;

	ret->n = 0;
	memset(ret->of_cpu, CACHES_NONE, sizeof(ret->of_cpu));
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		if (read(cpu, &cpus))
			take(ret, cpu, &cpus);
}

void caches_discover(uint32_t n_cpus, struct caches *ret)
{
	discover(n_cpus, read_last_level, ret);
	if (ret->n < 2)
		discover(n_cpus, read_cluster, ret);
}
