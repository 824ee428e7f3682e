/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The machine as the core sees it: CPUs in cpufreq policy domains, each with its OPPs. */

#include <stdint.h>
#include <string.h>

#define DOMAIN_NAME_SIZE      16 /* "policy1023" and its NUL */
#define DOMAIN_OPPS_MAX	      64
#define TOPOLOGY_CPUS_MAX     1024
#define TOPOLOGY_DOMAINS_MAX  TOPOLOGY_CPUS_MAX
#define TOPOLOGY_CAPACITY_MAX 1024 /* the fastest CPU at its highest frequency */

struct topology_domain {
	char name[DOMAIN_NAME_SIZE];
	uint32_t first_cpu; /* the N of policyN */
	uint32_t n_opps;
	uint32_t opp_khz[DOMAIN_OPPS_MAX]; /* ascending, without repetition, at least one */
	uint32_t capacity; /* capacity of each of its CPUs at the highest OPP, 1…1024 */
	uint64_t transition_latency_ns; /* by the driver; 0: not known */
	uint32_t reference_khz; /* at which its CPUs have their capacity; 0: the highest OPP */
	/* Power of a busy CPU at each OPP, in any unit; the first 0: not known. */
	uint32_t opp_power[DOMAIN_OPPS_MAX];
};

/* cpu_domain[cpu] for a CPU that belongs to no domain (no cpufreq, or not present). */
#define TOPOLOGY_NO_DOMAIN UINT16_MAX

struct topology {
	uint32_t n_cpus; /* CPUs are 0…n_cpus − 1 */
	uint32_t n_domains;
	uint16_t cpu_domain[TOPOLOGY_CPUS_MAX]; /* index into domains */
	struct topology_domain domains[];
};

static inline uint32_t topology_domain_max_khz(const struct topology_domain *domain)
{
	return domain->opp_khz[domain->n_opps - 1];
}

static inline uint32_t topology_domain_reference_khz(const struct topology_domain *domain)
{
	return domain->reference_khz ? domain->reference_khz : topology_domain_max_khz(domain);
}

/* The index of the CPU's domain, or TOPOLOGY_NO_DOMAIN. Accepts any CPU number. */
static inline uint32_t topology_domain_of(const struct topology *topology, uint32_t cpu)
{
	return cpu < topology->n_cpus ? topology->cpu_domain[cpu] : TOPOLOGY_NO_DOMAIN;
}

/* The index of the domain with this name, or TOPOLOGY_NO_DOMAIN. */
static inline uint32_t topology_find(const struct topology *topology, const char *name)
{
	for (uint32_t i = 0; i < topology->n_domains; i++)
		if (!strcmp(topology->domains[i].name, name))
			return i;
	return TOPOLOGY_NO_DOMAIN;
}

#define topology_for_each_cpu(topology, cpu, domain)            \
	for (uint32_t cpu = 0; cpu < (topology)->n_cpus; cpu++) \
		if ((topology)->cpu_domain[cpu] == (domain))
