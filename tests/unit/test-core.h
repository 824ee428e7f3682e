/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the tests of the core share: made-up machines, and random numbers that repeat. */

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "core/task_table.h"
#include "core/topology.h"

#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

/* xorshift64*: the same numbers on every machine, so that a failure can be repeated. */
struct test_random {
	uint64_t state; /* not 0 */
};

static inline uint64_t test_random_next(struct test_random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 2685821657736338717ULL;
}

/* 0…limit − 1 */
static inline uint64_t test_random_below(struct test_random *random, uint64_t limit)
{
	return test_random_next(random) % limit;
}

/* An empty table for so many tasks. Freed by free(). */
static inline struct task_table *test_task_table(uint32_t max_ios, uint32_t max_ruled)
{
	struct task_table *table = calloc(1, task_table_bytes(max_ios, max_ruled));

	assert_non_null(table);
	task_table_init(table, max_ios, max_ruled);
	return table;
}

/* A machine of n_domains with cpus_each CPUs; its domains are to be filled in. Freed by free(). */
static inline struct topology *test_topology_new(uint32_t n_domains, uint32_t cpus_each)
{
	struct topology *topology;

	topology = calloc(1, sizeof(*topology) + n_domains * sizeof(topology->domains[0]));
	assert_non_null(topology);
	topology->n_domains = n_domains;
	topology->n_cpus = n_domains * cpus_each;
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		topology->cpu_domain[cpu] = cpu / cpus_each;
	for (uint32_t i = 0; i < n_domains; i++)
		topology->domains[i].first_cpu = i * cpus_each;
	return topology;
}

/* The machine that most tests use: equal domains, 800 MHz to 2.4 GHz in steps of 200 MHz. */
static inline struct topology *test_topology_usual(uint32_t n_domains, uint32_t cpus_each)
{
	struct topology *topology = test_topology_new(n_domains, cpus_each);

	for (uint32_t i = 0; i < n_domains; i++) {
		struct topology_domain *domain = &topology->domains[i];

		domain->name[0] = 'a' + i;
		domain->capacity = TOPOLOGY_CAPACITY_MAX;
		domain->transition_latency_ns = 10 * NS_PER_US;
		for (uint32_t khz = 800000; khz <= 2400000; khz += 200000)
			domain->opp_khz[domain->n_opps++] = khz;
	}
	return topology;
}
