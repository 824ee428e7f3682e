/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the machine has: cpufreq domains, caches, and CPUs without the scheduler's tick. */

#include <stdbool.h>
#include <stdint.h>

#include "core/placement.h"
#include "core/topology.h"
#include "shared/cpu_mask.h"

#define CPUFREQ_NO_FREQUENCIES \
	"its driver names no frequencies (cpuinfo_min_freq, cpuinfo_max_freq)"

/* An online domain whose driver names no frequencies. */
typedef void (*cpufreq_left_out_t)(void *userdata, const char *name);

/*
 * Finds the cpufreq domains through libcpupower. Fills a topology that the caller frees with
 * free(). Domains are in ascending order of policyN. A domain is left out if it is wholly offline,
 * or if its driver names neither a table nor limits. A driver without a table gets OPPs in steps of
 * 100 MHz between its limits, or larger steps if those do not fit. From a table with more than
 * DOMAIN_OPPS_MAX frequencies that many are taken evenly, both ends included. Without cpufreq
 * n_domains is 0, which is no error. CPUs from TOPOLOGY_CPUS_MAX on, and domains with such a CPU,
 * are left out. Returns 0 or a negative errno. left_out may be NULL.
 */
int cpufreq_discover(struct topology **ret, cpufreq_left_out_t left_out, void *userdata);

#define CPUFREQ_FAULT_SIZE 128

/*
 * Whether an online domain can only be observed, as it lacks a file or has an unreadable one, and
 * which.
 */
bool cpufreq_find_fault(uint32_t policy, char ret_why[static CPUFREQ_FAULT_SIZE]);

/*
 * The present capacity of policyN's CPUs, read from an online one: 1…TOPOLOGY_CAPACITY_MAX; 0: the
 * kernel does not say, or all are offline.
 */
uint32_t cpufreq_discover_capacity(uint32_t policy);

/*
 * Fills opp_khz and n_opps of the domain whose first_cpu is set: the driver's table, boost
 * frequencies included where boost is on, else steps of 100 MHz between the hardware's limits.
 * Returns 0, or -ENODATA when the driver names neither.
 */
int cpufreq_discover_opps(struct topology_domain *domain);

/* The online CPUs of a CPU's "core" or "cluster". Returns false where the kernel does not say. */
bool topology_read_cpus(uint32_t cpu, const char *of, struct cpu_mask *ret);

/*
 * The last-level caches, among which tasks are placed. If all CPUs share one, the clusters below it
 * that have more than one core take their place.
 */
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

#define SCHED_EXT_NAME_SIZE 64

/*
 * Whether a scheduler of sched_ext has all tasks (switch_all), with its name; else ret is "". Such
 * a scheduler ignores clamps, and may or may not ask schedutil for frequencies. While all tasks
 * belong to it, nothing else in the kernel calls schedutil (sched/ext.c). sys is /sys.
 */
bool sched_ext_has_all(const char *sys, char ret[static SCHED_EXT_NAME_SIZE]);

/* Whether amd-pstate's mode lets a CPU run faster than schedutil chooses: clamps cap nothing. */
bool amd_pstate_is_guided(void);

/*
 * Whether wakegov sees the scheduler's tick: it is a high-resolution timer, unless the kernel was
 * started with highres=off or has no clock for it. See tickless_has().
 */
bool tick_is_seen(void);

/*
 * Whether policyN has a CPU without the tick (nohz_full=); *ret_cpu (may be NULL) is the first of
 * them. A task alone on such a CPU causes neither ticks nor switches. wakegov cannot see its load,
 * and would leave the CPU at the frequency from before the task began.
 */
bool tickless_has(uint32_t policy, uint32_t *ret_cpu);
