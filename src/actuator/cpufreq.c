// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/cpufreq.h"

#include <cpufreq.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/control.h"
#include "core/topology.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"

/* CPUFREQ_ETERNAL of older kernels: the driver does not know. */
#define LATENCY_UNKNOWN UINT32_MAX

#define STEP_KHZ	100000

struct khz_list {
	size_t n;
	uint32_t *khz;
};

/* Appends the frequencies that fit a uint32_t and are not 0. */
static int append(struct khz_list *list, const struct cpufreq_available_frequencies *first)
{
	size_t n = list->n;
	uint32_t *grown;

	for (const struct cpufreq_available_frequencies *at = first; at; at = at->next)
		n++;
	grown = realloc(list->khz, (n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;

	list->khz = grown;
	for (const struct cpufreq_available_frequencies *at = first; at; at = at->next)
		if (at->frequency > 0 && at->frequency <= UINT32_MAX)
			list->khz[list->n++] = (uint32_t)at->frequency;
	return 0;
}

/* Newer kernels have a boost switch per domain, older ones one for the machine. */
static bool boost_is_on(uint32_t policy)
{
	double on;

	return (sysfs_read_number(&on, CONTROL_DIRECTORY "/policy%u/boost", policy) ||
		sysfs_read_number(&on, CONTROL_DIRECTORY "/boost")) &&
	       on == 1;
}

static int collect(uint32_t policy, struct khz_list *list)
{
	struct cpufreq_available_frequencies *first = cpufreq_get_available_frequencies(policy);
	int r = append(list, first);

	cpufreq_put_available_frequencies(first);
	if (r < 0 || list->n == 0 || !boost_is_on(policy))
		return r;

	first = cpufreq_get_boost_frequencies(policy);
	r = append(list, first);
	cpufreq_put_boost_frequencies(first);
	return r;
}

static int compare_khz(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

static void sort_unique(struct khz_list *list)
{
	size_t n = 0;

	qsort(list->khz, list->n, sizeof(*list->khz), compare_khz);
	for (size_t i = 0; i < list->n; i++)
		if (n == 0 || list->khz[n - 1] != list->khz[i])
			list->khz[n++] = list->khz[i];
	list->n = n;
}

static void take_table(struct topology_domain *domain, struct khz_list *list)
{
	size_t n;

	sort_unique(list);
	n = list->n < DOMAIN_OPPS_MAX ? list->n : DOMAIN_OPPS_MAX;
	for (size_t i = 0; i < n; i++) {
		size_t from = n > 1 ? i * (list->n - 1) / (n - 1) : 0;

		domain->opp_khz[i] = list->khz[from];
	}
	domain->n_opps = (uint32_t)n;
}

static int take_steps(struct topology_domain *domain)
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

/*
 * Fills opp_khz and n_opps of the domain whose first_cpu is set: the driver's table, boost
 * frequencies included where boost is on, else steps of 100 MHz between the hardware's limits.
 * Returns 0, -ENODATA when the driver names neither, or -ENOMEM.
 */
static int discover_frequencies(struct topology_domain *domain)
{
	struct khz_list list = { 0 };
	int r = collect(domain->first_cpu, &list);

	if (r == 0 && list.n > 0)
		take_table(domain, &list);
	else if (r == 0)
		r = take_steps(domain);
	free(list.khz);
	return r;
}

static int compare_policies(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

/*
 * Fills in the N of each policyN, ascending. Returns their number, -E2BIG or another negative
 * errno.
 */
static int list_policies(uint32_t policies[TOPOLOGY_DOMAINS_MAX])
{
	_cleanup_closedir_ DIR *directory = opendir(CONTROL_DIRECTORY);
	struct dirent *entry;
	int n = 0;

	if (!directory)
		return errno == ENOENT ? 0 : -errno;

	while ((entry = readdir(directory))) {
		uint32_t policy;
		int end = 0;

		if (sscanf(entry->d_name, "policy%9u%n", &policy, &end) != 1 || entry->d_name[end])
			continue;
		if (policy >= TOPOLOGY_CPUS_MAX || n == TOPOLOGY_DOMAINS_MAX)
			return -E2BIG;
		policies[n++] = policy;
	}
	qsort(policies, (size_t)n, sizeof(*policies), compare_policies);
	return n;
}

static uint32_t read_capacity(uint32_t cpu)
{
	double capacity;

	if (!sysfs_read_number(&capacity, "/sys/devices/system/cpu/cpu%u/cpu_capacity", cpu) ||
	    capacity < 1 || capacity > TOPOLOGY_CAPACITY_MAX)
		return TOPOLOGY_CAPACITY_MAX;
	return (uint32_t)capacity;
}

static int fill_domain(struct topology_domain *domain, uint32_t policy)
{
	unsigned long latency_ns = cpufreq_get_transition_latency(policy);

	*domain = (struct topology_domain){
		.first_cpu = policy,
		.capacity = read_capacity(policy),
		.transition_latency_ns = latency_ns >= LATENCY_UNKNOWN ? 0 : latency_ns,
	};
	snprintf(domain->name, sizeof(domain->name), "policy%u", policy);
	return discover_frequencies(domain);
}

/* Assigns the CPUs of a list to the next domain. Returns their number or -E2BIG. */
static int claim_cpus(struct topology *topology, const struct cpufreq_affected_cpus *first)
{
	int claimed = 0;

	for (const struct cpufreq_affected_cpus *at = first; at; at = at->next) {
		if (at->cpu >= TOPOLOGY_CPUS_MAX)
			return -E2BIG;
		if (topology->cpu_domain[at->cpu] != TOPOLOGY_NO_DOMAIN)
			continue;
		topology->cpu_domain[at->cpu] = (uint16_t)topology->n_domains;
		if (at->cpu >= topology->n_cpus)
			topology->n_cpus = at->cpu + 1;
		claimed++;
	}
	return claimed;
}

/* related_cpus includes offline CPUs. */
static int claim_related(struct topology *topology, uint32_t policy)
{
	struct cpufreq_affected_cpus *first = cpufreq_get_related_cpus(policy);
	int claimed = claim_cpus(topology, first);

	cpufreq_put_related_cpus(first);
	return claimed;
}

/* Leaves out a domain that cannot be read, such as an offline one. */
static int add_domain(struct topology *topology, uint32_t policy)
{
	int r = fill_domain(&topology->domains[topology->n_domains], policy);

	if (r < 0)
		return r == -ENODATA ? 0 : r;

	r = claim_related(topology, policy);
	if (r > 0)
		topology->n_domains++;
	return r < 0 ? r : 0;
}

static struct topology *new_topology(size_t n_domains)
{
	struct topology *topology =
		calloc(1, sizeof(*topology) + n_domains * sizeof(topology->domains[0]));
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (!topology)
		return NULL;

	topology->n_cpus = n_cpus > 0 ? (uint32_t)n_cpus : 1;
	for (size_t cpu = 0; cpu < TOPOLOGY_CPUS_MAX; cpu++)
		topology->cpu_domain[cpu] = TOPOLOGY_NO_DOMAIN;
	return topology;
}

int cpufreq_discover(struct topology **ret)
{
	_cleanup_free_ struct topology *topology = NULL;
	uint32_t policies[TOPOLOGY_DOMAINS_MAX];
	int n = list_policies(policies);

	if (n < 0)
		return n;
	topology = new_topology((size_t)n);
	if (!topology)
		return -ENOMEM;
	if (topology->n_cpus > TOPOLOGY_CPUS_MAX)
		return -E2BIG;

	for (int i = 0; i < n; i++) {
		int r = add_domain(topology, policies[i]);

		if (r < 0)
			return r;
	}
	*ret = take_ptr(topology);
	return 0;
}
