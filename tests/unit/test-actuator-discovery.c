// SPDX-License-Identifier: GPL-2.0-only
#include "fake-cpufreq.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "actuator/discovery.h"
#include "core/topology.h"
#include "shared/cleanup.h"

static struct topology *discover(void)
{
	struct topology *topology = NULL;

	assert_int_equal(cpufreq_discover(&topology, NULL, NULL), 0);
	return topology;
}

#define FIXTURE_TEST(name) TEST_WITH(name, fake_reset, NULL)

/* By an online CPU: that of the first one may be offline, and has no such file then. */
FIXTURE_TEST(test_capacity_by_an_online_cpu)
{
	_cleanup_free_ struct topology *topology = NULL;

	assert_int_equal(fake_reset(state), 0);
	fake_policy(0, 1);
	fake_write("cpufreq/policy0/affected_cpus", "1");
	fake_write("cpu1/cpu_capacity", "446");
	topology = discover();
	assert_int_equal(topology->domains[0].capacity, 446);
}

FIXTURE_TEST(test_no_cpufreq)
{
	struct topology *topology = discover();

	assert_int_equal(topology->n_domains, 0);
	assert_int_equal(topology->n_cpus, sysconf(_SC_NPROCESSORS_CONF));
	assert_int_equal(topology->cpu_domain[0], TOPOLOGY_NO_DOMAIN);
	free(topology);
}

FIXTURE_TEST(test_two_domains)
{
	static const uint32_t khz[] = { 400000, 600000, 1000000, 1400000, 1800000 };
	struct topology *topology;

	fake_policy(2, 3);
	fake_policy(0, 1);
	topology = discover();
	assert_int_equal(topology->n_domains, 2);
	assert_true(topology->n_cpus >= 4);
	assert_string_equal(topology->domains[0].name, "policy0");
	assert_string_equal(topology->domains[1].name, "policy2");
	assert_int_equal(topology->domains[1].first_cpu, 2);
	assert_int_equal(topology->domains[0].n_opps, 5);
	assert_memory_equal(topology->domains[0].opp_khz, khz, sizeof(khz));
	assert_int_equal(topology->domains[0].transition_latency_ns, 10000);
	assert_int_equal(topology->domains[0].capacity, 1024);
	for (int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(topology->cpu_domain[cpu], cpu / 2);
	free(topology);
}

/* Order of numbers, not of names: policy10 comes after policy2. */
FIXTURE_TEST(test_domains_in_order)
{
	struct topology *topology;

	fake_policy(10, 11);
	fake_policy(2, 9);
	fake_policy(0, 1);
	topology = discover();
	assert_int_equal(topology->n_domains, 3);
	assert_string_equal(topology->domains[1].name, "policy2");
	assert_string_equal(topology->domains[2].name, "policy10");
	assert_int_equal(topology->cpu_domain[11], 2);
	free(topology);
}

struct frequencies_case {
	const char *table, *boost, *boost_on, *min, *max;
	uint32_t n_opps, lowest_khz, highest_khz;
};

/* NULL: the file is not there. */
static const struct frequencies_case frequencies_cases[] = {
	{ "600000 400000 600000 400000", NULL, NULL, "400000", "600000", 2, 400000, 600000 },
	{ "1000000 400000 1800000 600000", NULL, NULL, "1", "2", 4, 400000, 1800000 },
	{ "500000", NULL, NULL, "500000", "500000", 1, 500000, 500000 },
	{ "400000 600000", "900000 800000", "1", "400000", "900000", 4, 400000, 900000 },
	{ "400000 600000", "900000 800000", "0", "400000", "900000", 2, 400000, 600000 },
	{ "400000 600000", NULL, "1", "400000", "900000", 2, 400000, 600000 },
	{ NULL, NULL, NULL, "800000", "1150000", 5, 800000, 1150000 },
	{ NULL, NULL, NULL, "800000", "800000", 1, 800000, 800000 },
	{ NULL, NULL, NULL, "400000", "6700000", 64, 400000, 6700000 },
	{ NULL, NULL, NULL, "400000", "6800000", 33, 400000, 6800000 },
	{ NULL, NULL, NULL, "1", "4294967295", 64, 1, 4294967295 },
};

static void remove_or_write(const char *path, const char *value)
{
	char full[128];

	snprintf(full, sizeof(full), FAKE_CPU "/%s", path);
	if (value)
		fake_write(path, "%s", value);
	else
		unlink(full);
}

static void check_frequencies(const struct frequencies_case *c)
{
	const struct topology_domain *domain;
	struct topology *topology;

	fake_reset(NULL);
	fake_policy(0, 1);
	remove_or_write("cpufreq/policy0/scaling_available_frequencies", c->table);
	remove_or_write("cpufreq/policy0/scaling_boost_frequencies", c->boost);
	remove_or_write("cpufreq/boost", c->boost_on);
	remove_or_write("cpufreq/policy0/cpuinfo_min_freq", c->min);
	remove_or_write("cpufreq/policy0/cpuinfo_max_freq", c->max);

	topology = discover();
	assert_int_equal(topology->n_domains, 1);
	domain = &topology->domains[0];
	if (c->n_opps != 64)
		assert_int_equal(domain->n_opps, c->n_opps);
	assert_in_range(domain->n_opps, 1, DOMAIN_OPPS_MAX);
	assert_int_equal(domain->opp_khz[0], c->lowest_khz);
	assert_int_equal(topology_domain_max_khz(domain), c->highest_khz);
	for (uint32_t i = 1; i < domain->n_opps; i++)
		assert_true(domain->opp_khz[i] > domain->opp_khz[i - 1]);
	free(topology);
}

FIXTURE_TEST(test_frequencies)
{
	for (size_t i = 0; i < sizeof(frequencies_cases) / sizeof(frequencies_cases[0]); i++)
		check_frequencies(&frequencies_cases[i]);
}

FIXTURE_TEST(test_table_longer_than_ours)
{
	char table[2048] = "";
	struct topology *topology;

	for (int i = 0; i < 200; i++)
		sprintf(table + strlen(table), "%d ", 100000 + i * 1000);
	fake_policy(0, 0);
	fake_write("cpufreq/policy0/scaling_available_frequencies", "%s", table);
	topology = discover();
	assert_int_equal(topology->domains[0].n_opps, DOMAIN_OPPS_MAX);
	assert_int_equal(topology->domains[0].opp_khz[0], 100000);
	assert_int_equal(topology_domain_max_khz(&topology->domains[0]), 299000);
	free(topology);
}

FIXTURE_TEST(test_boost_per_policy)
{
	struct topology *topology;

	fake_policy(0, 0);
	fake_write("cpufreq/policy0/scaling_boost_frequencies", "2000000");
	fake_write("cpufreq/boost", "1");
	fake_write("cpufreq/policy0/boost", "0");
	topology = discover();
	assert_int_equal(topology_domain_max_khz(&topology->domains[0]), 1800000);
	free(topology);
}

FIXTURE_TEST(test_capacity_and_latency)
{
	struct topology *topology;

	fake_policy(0, 0);
	fake_policy(1, 1);
	fake_policy(2, 2);
	fake_write("cpu0/cpu_capacity", "446");
	fake_write("cpu1/cpu_capacity", "0");
	fake_write("cpu2/cpu_capacity", "1025");
	fake_write("cpufreq/policy1/cpuinfo_transition_latency", "4294967295");
	topology = discover();
	assert_int_equal(topology->domains[0].capacity, 446);
	assert_int_equal(topology->domains[1].capacity, 1024);
	assert_int_equal(topology->domains[2].capacity, 1024);
	assert_int_equal(topology->domains[1].transition_latency_ns, 0);
	free(topology);
}

/* As the kernel has it when all CPUs of a domain are offline: nothing can be read. */
FIXTURE_TEST(test_unreadable_domain_is_left_out)
{
	static const char *const files[] = { "related_cpus", "scaling_available_frequencies",
					     "cpuinfo_min_freq", "cpuinfo_max_freq" };
	struct topology *topology;

	fake_policy(0, 1);
	fake_policy(2, 3);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "cpufreq/policy0/%s", files[i]);
		fake_break(path);
	}
	topology = discover();
	assert_int_equal(topology->n_domains, 1);
	assert_string_equal(topology->domains[0].name, "policy2");
	assert_int_equal(topology->cpu_domain[0], TOPOLOGY_NO_DOMAIN);
	assert_int_equal(topology->cpu_domain[3], 0);
	free(topology);
}

/* The first 1024 are governed, as far as their domains have no others. */
FIXTURE_TEST(test_too_many_cpus)
{
	struct topology *topology;
	char path[32];

	/* The C library counts the folders, and the kernel's mask names as many. */
	for (int cpu = 0; cpu < 1100; cpu++) {
		snprintf(path, sizeof(path), "cpu%d/online", cpu);
		fake_write(path, "1");
	}
	fake_write("possible", "0-1099");
	fake_policy(0, 0);
	fake_policy(1, 1);
	fake_policy(1024, 1024);
	fake_write("cpufreq/policy1/related_cpus", "1 1025");
	topology = discover();
	assert_int_equal(topology->n_cpus, TOPOLOGY_CPUS_MAX);
	assert_int_equal(topology->n_domains, 1);
	assert_string_equal(topology->domains[0].name, "policy0");
	assert_int_equal(topology->cpu_domain[1], TOPOLOGY_NO_DOMAIN);
	free(topology);
}
