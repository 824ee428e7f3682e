// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads once at the start, from sysfs and libcpupower, the domains with their frequencies, the
 * caches, and the CPUs without a tick. Leaves out a domain that cannot be read.
 */
#include "actuator/discovery.h"

#include <cpufreq.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actuator/control.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"

/* CPUFREQ_ETERNAL of older kernels: the driver does not know. */
#define LATENCY_UNKNOWN UINT32_MAX

#define STEP_KHZ	100000

#define CPU_DIRECTORY	"/sys/devices/system/cpu/cpu%u"
#define LIST_SIZE	4096 /* a page: the kernel's limit for a list of CPU ranges */
#define INDEXES_MAX	8

struct khz_list {
	size_t n;
	uint32_t khz[LIST_SIZE / 2];
};

/* Appends the frequencies that fit a uint32_t and are not 0. */
static void append(struct khz_list *list, const struct cpufreq_available_frequencies *at)
{
	for (; at && list->n < ARRAY_SIZE(list->khz); at = at->next)
		if (at->frequency > 0 && at->frequency <= UINT32_MAX)
			list->khz[list->n++] = (uint32_t)at->frequency;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

/* If there are more frequencies than places, takes evenly spaced ones, both ends included. */
static void set_opps(struct topology_domain *domain, struct khz_list *list)
{
	size_t n_unique = 0, n;

	qsort(list->khz, list->n, sizeof(*list->khz), compare_u32);
	for (size_t i = 0; i < list->n; i++)
		if (n_unique == 0 || list->khz[n_unique - 1] != list->khz[i])
			list->khz[n_unique++] = list->khz[i];
	n = n_unique < DOMAIN_OPPS_MAX ? n_unique : DOMAIN_OPPS_MAX;
	for (size_t i = 0; i < n; i++)
		domain->opp_khz[i] = list->khz[n > 1 ? i * (n_unique - 1) / (n - 1) : 0];
	domain->n_opps = (uint32_t)n;
}

static int set_opp_steps(struct topology_domain *domain)
{
	unsigned long min_khz = 0, max_khz = 0, step_khz = STEP_KHZ;

	if (cpufreq_get_hardware_limits(domain->first_cpu, &min_khz, &max_khz) != 0 ||
	    min_khz == 0 || min_khz > max_khz || max_khz > UINT32_MAX)
		return -ENODATA;

	while ((max_khz - min_khz) / step_khz + 2 > DOMAIN_OPPS_MAX)
		step_khz += STEP_KHZ;

	domain->n_opps = 0;
	for (unsigned long khz = min_khz; khz < max_khz; khz += step_khz)
		domain->opp_khz[domain->n_opps++] = (uint32_t)khz;
	domain->opp_khz[domain->n_opps++] = (uint32_t)max_khz;
	return 0;
}

int cpufreq_discover_opps(struct topology_domain *domain)
{
	uint32_t policy = domain->first_cpu;
	struct cpufreq_available_frequencies *first = cpufreq_get_available_frequencies(policy);
	struct khz_list list = { 0 };
	double boost = 0;

	append(&list, first);
	cpufreq_put_available_frequencies(first);
	if (!list.n)
		return set_opp_steps(domain);
	/* Newer kernels have a boost switch per domain, older ones one for the machine. */
	if (!sysfs_read_number(&boost, CONTROL_DIRECTORY "/policy%u/boost", policy))
		sysfs_read_number(&boost, CONTROL_DIRECTORY "/boost");
	if (boost == 1) {
		first = cpufreq_get_boost_frequencies(policy);
		append(&list, first);
		cpufreq_put_boost_frequencies(first);
	}
	set_opps(domain, &list);
	return 0;
}

/*
 * Assigns the related CPUs, offline ones included, to the next domain. Returns their number; 0:
 * some are beyond the topology's CPUs, or all belong to another domain.
 */
static int claim_cpus(struct topology *topology, uint32_t policy)
{
	struct cpufreq_affected_cpus *first = cpufreq_get_related_cpus(policy);
	bool fits = true;
	int claimed = 0;

	for (const struct cpufreq_affected_cpus *at = first; at; at = at->next)
		fits &= at->cpu < TOPOLOGY_CPUS_MAX;
	for (const struct cpufreq_affected_cpus *at = fits ? first : NULL; at; at = at->next) {
		if (topology->cpu_domain[at->cpu] != TOPOLOGY_NO_DOMAIN)
			continue;
		topology->cpu_domain[at->cpu] = (uint16_t)topology->n_domains;
		if (at->cpu >= topology->n_cpus)
			topology->n_cpus = at->cpu + 1;
		claimed++;
	}
	cpufreq_put_related_cpus(first);
	return claimed;
}

uint32_t cpufreq_discover_capacity(uint32_t policy)
{
	char online[LIST_SIZE];
	uint32_t cpu = policy;
	double capacity;

	/* An offline CPU has no such file. */
	if (control_read_file(policy, "affected_cpus", online, sizeof(online)) > 0)
		cpu = strtoul(online, NULL, 10);
	if (!sysfs_read_number(&capacity, CPU_DIRECTORY "/cpu_capacity", cpu) || capacity < 1 ||
	    capacity > TOPOLOGY_CAPACITY_MAX)
		return 0;
	return (uint32_t)capacity;
}

bool cpufreq_find_fault(uint32_t policy, char ret_why[static CPUFREQ_FAULT_SIZE])
{
	static const char *const needed[] = { "scaling_governor", "scaling_min_freq",
					      "scaling_max_freq", "scaling_cur_freq",
					      "cpuinfo_max_freq" };
	char value[CONTROL_VALUE_SIZE];
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(needed) && r != -EBUSY; i++) {
		r = control_read_file(policy, needed[i], value, sizeof(value));
		if (r >= 0 || r == -EAGAIN || r == -EBUSY)
			continue;
		snprintf(ret_why, CPUFREQ_FAULT_SIZE, "its %s cannot be read (%s)", needed[i],
			 strerror(-r));
		return true;
	}
	return false;
}

/* Leaves out a domain that cannot be read, such as an offline one. */
static void add_domain(struct topology *topology, uint32_t policy, cpufreq_left_out_t left_out,
		       void *userdata)
{
	struct topology_domain *domain = &topology->domains[topology->n_domains];
	unsigned long latency_ns = cpufreq_get_transition_latency(policy);
	char governor[CONTROL_VALUE_SIZE];

	*domain = (struct topology_domain){
		.first_cpu = policy,
		.capacity = cpufreq_discover_capacity(policy) ?: TOPOLOGY_CAPACITY_MAX,
		.transition_latency_ns = latency_ns >= LATENCY_UNKNOWN ? 0 : latency_ns,
	};
	snprintf(domain->name, sizeof(domain->name), "policy%u", policy);
	if (cpufreq_discover_opps(domain) == 0)
		topology->n_domains += claim_cpus(topology, policy) > 0;
	else if (left_out && control_read_file(policy, "scaling_governor", governor,
					       sizeof(governor)) != -EBUSY)
		left_out(userdata, domain->name);
}

int cpufreq_discover(struct topology **ret, cpufreq_left_out_t left_out, void *userdata)
{
	struct topology *topology =
		calloc(1, sizeof(*topology) + TOPOLOGY_DOMAINS_MAX * sizeof(topology->domains[0]));
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	char path[CONTROL_PATH_SIZE];

	if (!topology)
		return -ENOMEM;
	topology->n_cpus = n_cpus > 0 ? (uint32_t)n_cpus : 1;
	if (topology->n_cpus > TOPOLOGY_CPUS_MAX)
		topology->n_cpus = TOPOLOGY_CPUS_MAX;
	for (size_t cpu = 0; cpu < TOPOLOGY_CPUS_MAX; cpu++)
		topology->cpu_domain[cpu] = TOPOLOGY_NO_DOMAIN;

	for (uint32_t policy = 0; policy < TOPOLOGY_CPUS_MAX; policy++) {
		snprintf(path, sizeof(path), CONTROL_DIRECTORY "/policy%u", policy);
		if (access(path, F_OK) == 0)
			add_domain(topology, policy, left_out, userdata);
	}
	*ret = topology;
	return 0;
}

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

bool topology_read_cpus(uint32_t cpu, const char *of, struct cpu_mask *ret)
{
	char list[LIST_SIZE];

	return sysfs_read_line(list, sizeof(list), CPU_DIRECTORY "/topology/%s_cpus_list", cpu,
			       of) &&
	       cpu_mask_parse_list(list, ret);
}

/* A cluster that is one core's threads does not count. */
static bool read_cluster(uint32_t cpu, struct cpu_mask *ret)
{
	struct cpu_mask core;

	return topology_read_cpus(cpu, "cluster", ret) && topology_read_cpus(cpu, "core", &core) &&
	       !cpu_mask_equals(ret, &core);
}

/* Adds no cache for a CPU that already belongs to one. */
static void discover(uint32_t n_cpus, bool (*read)(uint32_t cpu, struct cpu_mask *ret),
		     struct caches *ret)
{
	struct cpu_mask cpus;

	ret->n = 0;
	memset(ret->of_cpu, CACHES_NONE, sizeof(ret->of_cpu));
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		if (!read(cpu, &cpus) || ret->of_cpu[cpu] != CACHES_NONE ||
		    ret->n == PLACEMENT_CACHES_MAX)
			continue;
		ret->cpus[ret->n] = cpus;
		for (uint32_t i = 0; i < TOPOLOGY_CPUS_MAX; i++)
			if (cpu_mask_has(&cpus, i))
				ret->of_cpu[i] = ret->n;
		ret->n++;
	}
}

void caches_discover(uint32_t n_cpus, struct caches *ret)
{
	discover(n_cpus, read_last_level, ret);
	if (ret->n < 2)
		discover(n_cpus, read_cluster, ret);
}

bool sched_ext_has_all(const char *sys, char ret[static SCHED_EXT_NAME_SIZE])
{
	double all = 0;

	ret[0] = '\0';
	return sysfs_read_number(&all, "%s/kernel/sched_ext/switch_all", sys) && all &&
	       sysfs_read_line(ret, SCHED_EXT_NAME_SIZE, "%s/kernel/sched_ext/root/ops", sys);
}

bool amd_pstate_is_guided(void)
{
	char mode[CONTROL_VALUE_SIZE];

	return sysfs_read_line(mode, sizeof(mode), "/sys/devices/system/cpu/amd_pstate/status") &&
	       !strcmp(mode, "guided");
}

/* With such timers the resolution is a nanosecond; without, a tick. */
bool tick_is_seen(void)
{
	struct timespec resolution;

	return clock_getres(CLOCK_MONOTONIC, &resolution) < 0 || resolution.tv_nsec == 1;
}

bool tickless_has(uint32_t policy, uint32_t *ret_cpu)
{
	char list[LIST_SIZE], cpus[LIST_SIZE], *at = cpus, *end;
	struct cpu_mask tickless;

	/* Without nohz_full= the kernel prints "(null)", which is no list. */
	if (!sysfs_read_line(list, sizeof(list), "/sys/devices/system/cpu/nohz_full") ||
	    !cpu_mask_parse_list(list, &tickless) ||
	    control_read_file(policy, "related_cpus", cpus, sizeof(cpus)) < 0)
		return false;
	for (uint32_t cpu = strtoul(at, &end, 10); end != at; cpu = strtoul(at, &end, 10)) {
		at = end;
		if (!cpu_mask_has(&tickless, cpu))
			continue;
		if (ret_cpu)
			*ret_cpu = cpu;
		return true;
	}
	return false;
}
