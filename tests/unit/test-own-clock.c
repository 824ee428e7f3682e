// SPDX-License-Identifier: GPL-2.0-only
/* When the domains are left to their governors as the CPUs are fast by themselves, and for how
 * long. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/keys.h"
#include "core/rule.h"
#include "daemon/domains.h"
#include "daemon/loop.h"
#include "daemon/modules/modules.h"
#include "shared/time.h"

#define HIGHEST_KHZ 1000000

/* A machine of one CPU. */
static struct world {
	uint64_t now_ns;
	const char *governor, *driver;
	uint32_t rest_khz; /* its mean frequency in a rest */
	uint32_t util, floor_khz;
	int hand_back_error;
	bool is_lent;
} world;

static struct core core;
static struct own_clock own;
static const struct module *const module = &own_clock_module;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_control_load(enum control control, uint32_t number, char *ret, size_t size);
int __wrap_control_read_file(uint32_t policy, const char *file, char *ret, size_t size);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ world.now_ns / NS_PER_S, world.now_ns % NS_PER_S };
	return 0;
}

int __wrap_control_load(enum control control, uint32_t number, char *ret, size_t size)
{
	return snprintf(ret, size, "%s", world.governor) < 0;
}

int __wrap_control_read_file(uint32_t policy, const char *file, char *ret, size_t size)
{
	return snprintf(ret, size, "%s", world.driver) < 0;
}

void engine_limits(const struct engine *engine, uint32_t domain, uint32_t *ret_min_khz,
		   uint32_t *ret_max_khz)
{
	*ret_min_khz = 0;
	*ret_max_khz = HIGHEST_KHZ;
}

uint32_t engine_floor_khz(const struct engine *engine, uint32_t domain)
{
	return world.floor_khz;
}

void engine_mark_due(struct engine *engine, uint32_t cpu)
{
}

void round_soon(void *userdata)
{
}

void tracer_read_cpu(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns, struct input *ret)
{
	ret->cpu.util_q = DECAY_Q(world.util);
}

uint32_t freq_invariance_measure(struct core *of, uint32_t cpu, uint64_t now_ns)
{
	return world.rest_khz;
}

int domains_hand_back(struct core *of, const char *governor)
{
	world.is_lent = true;
	return world.hand_back_error;
}

void domains_end_hand_back(struct core *of)
{
	world.is_lent = false;
	of->handed_back_until_ns = 0;
}

/* One CPU with the governor performance, which is always at its highest. */
static int set_up(void **state)
{
	static const struct backend backend = { .leaves_governor = true };
	static struct governed governed;
	struct topology *topology = calloc(1, sizeof(*topology) + sizeof(topology->domains[0]));

	if (!topology)
		return -1;
	topology->n_cpus = topology->n_domains = 1;
	topology->domains[0] = (struct topology_domain){
		.n_opps = 2, .opp_khz = { HIGHEST_KHZ / 2, HIGHEST_KHZ }, .capacity = 1024
	};
	governed = (struct governed){
		.backend = &backend,
		.actuator = { .info = topology->domains, .state = ACTUATOR_STATE_DRIVEN },
	};
	world = (struct world){ .now_ns = NS_PER_S,
				.governor = "performance",
				.driver = "acpi-cpufreq",
				.rest_khz = HIGHEST_KHZ };
	core = (struct core){ .topology = topology, .domains = &governed, .n_domains = 1 };
	policy_init(&core.policy);
	own = (struct own_clock){ .core = &core };
	return 0;
}

static int tear_down(void **state)
{
	free(core.topology);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void run_after(uint64_t ns)
{
	world.now_ns += ns;
	module->run(&own, world.now_ns);
}

/* This many measurements, each after a round. */
static void measure(uint32_t n, uint32_t khz)
{
	while (n--) {
		module->measured(&own, 0, khz);
		run_after(NS_PER_MS);
	}
}

/* Each rest is twice as long as the one before, until the CPU was slower in one. */
FIXTURE_TEST(test_rests)
{
	static const uint32_t rests_s[] = { 10, 20, 40, 80, 160, 320, 320 };

	measure(5, HIGHEST_KHZ / 100 * 97);
	assert_true(core.withholds);
	assert_false(core.rests);
	measure(1, HIGHEST_KHZ);
	for (uint32_t i = 0; i < sizeof(rests_s) / sizeof(*rests_s); i++) {
		assert_true(core.rests && world.is_lent && !core.withholds);
		assert_int_equal(module->next_ns(&own, world.now_ns),
				 world.now_ns + rests_s[i] * NS_PER_S);
		run_after(rests_s[i] * NS_PER_S - 1);
		world.rest_khz = HIGHEST_KHZ * (i < 6 ? 1.0 : 0.9);
		run_after(1);
	}
	assert_false(core.rests || world.is_lent);
	world.now_ns += 599 * NS_PER_S;
	measure(20, HIGHEST_KHZ);
	assert_false(core.rests || core.withholds);
	world.now_ns += NS_PER_S;
	measure(6, HIGHEST_KHZ);
	assert_true(core.rests);
}

/* A slower CPU refutes it, and so does a governor that follows the load: for ten minutes. */
FIXTURE_TEST(test_refuted)
{
	measure(5, HIGHEST_KHZ);
	measure(1, HIGHEST_KHZ / 100 * 96);
	assert_false(core.withholds);
	measure(20, HIGHEST_KHZ);
	assert_false(core.rests);
	world.now_ns += 600 * NS_PER_S;
	world.governor = "schedutil";
	measure(20, HIGHEST_KHZ);
	assert_false(core.rests || core.withholds);
	world.now_ns += 600 * NS_PER_S;
	world.driver = "intel_pstate"; /* whose firmware chooses */
	measure(6, HIGHEST_KHZ);
	assert_true(core.rests);
}

/* What a busy CPU does shows nothing, nor one whose floor is held. The trial ends after 1 s. */
FIXTURE_TEST(test_asked_for)
{
	measure(5, HIGHEST_KHZ);
	world.util = 641;
	measure(20, HIGHEST_KHZ);
	assert_true(core.withholds && !core.rests);
	assert_int_equal(module->next_ns(&own, world.now_ns), 2 * NS_PER_S);
	run_after(NS_PER_S);
	world.util = 640;
	measure(20, HIGHEST_KHZ);
	assert_false(core.rests || core.withholds);
	world.now_ns += 10 * NS_PER_S;
	world.floor_khz = HIGHEST_KHZ;
	module->measured(&own, 0, HIGHEST_KHZ); /* … before floors are withheld */
	assert_int_equal(own.n_seen, 0);
	run_after(0);
	measure(6, HIGHEST_KHZ);
	assert_true(core.rests);
}

/* A rule has to be held: no rest begins, and the present one ends. */
FIXTURE_TEST(test_a_rule)
{
	core.policy.n_rules = 1;
	measure(20, HIGHEST_KHZ);
	assert_false(core.rests || core.withholds);
	core.policy.n_rules = 0;
	measure(6, HIGHEST_KHZ);
	assert_true(core.rests);
	core.policy.n_rules = 1;
	run_after(1);
	assert_false(core.rests || world.is_lent);
}

/* The domains cannot be handed back: they are ours again, for ten minutes at least. */
FIXTURE_TEST(test_refused)
{
	world.hand_back_error = -EIO;
	measure(20, HIGHEST_KHZ);
	assert_false(core.rests || world.is_lent);
	world.hand_back_error = 0;
	measure(20, HIGHEST_KHZ);
	assert_false(core.rests);
	world.now_ns += 600 * NS_PER_S;
	measure(6, HIGHEST_KHZ);
	assert_true(core.rests);
}
