// SPDX-License-Identifier: GPL-2.0-only
/* schedutil's model: utilisation, the boost's sequence, the rate limit. */
#include "test-sim.h"

#include "sim/schedutil.h"
#include "wakegov/decay.h"

#define MS 1000000ULL

#define ONE_OPP                                                       \
	"[platform]\nio-cycles = 50000\n"                             \
	"[domain cpu0]\ncpus = 0\nopp = 1GHz 1V\ncapacitance = 1pF\n" \
	"[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"

struct world {
	struct platform platform;
	struct workload workload;
	struct sim *sim;
	struct schedutil *su;
};

static void set_up(struct world *world, const char *platform, const char *spec,
		   const char *governor)
{
	test_sim_platform(platform, &world->platform);
	test_sim_workload(&world->platform, spec, &world->workload);
	assert_int_equal(sim_new(&world->platform, &world->workload, sim_governor_find(governor),
				 NULL, 1, NULL, NULL, &world->sim),
			 0);
	world->su = world->sim->governor_data;
}

/* Published: from 0 to about 1000 takes about 167 ms of running. */
TEST(test_pelt)
{
	static const struct {
		uint64_t ms;
		uint32_t cap;
	} cases[] = { { 32, 512 }, { 64, 768 }, { 96, 896 }, { 167, 994 }, { 345, 1023 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world world;
		uint32_t cap;

		set_up(&world, ONE_OPP, "busy:cycles=1000000000", "schedutil");
		sim_run(world.sim, cases[i].ms * 1024000);
		pelt_update_cpu(&world.su->pelt, world.sim, 0);
		cap = DECAY_CAP(world.su->pelt.cpus[0].util_q);
		/* The thread starts up to 1 ms late, at most 22 of 1024. */
		assert_in_range(cap + 22, cases[i].cap, cases[i].cap + 24);
		assert_int_equal(DECAY_CAP(world.su->pelt.cpus[0].runnable_q), cap);
		sim_free(world.sim);
	}
}

/* A half-busy CPU has half the utilisation, at any frequency less where that is counted. */
TEST(test_pelt_invariance)
{
	static const struct {
		const char *governor;
		uint32_t cap;
	} cases[] = { { "schedutil-no-boost", 256 }, { "schedutil-raw", 512 } };

	for (size_t i = 0; i < 2; i++) {
		uint64_t sum = 0, n = 0;
		struct world world;

		/* 1,000,000 cycles in 2 ms of every 4 at 500 MHz: the clock cannot change. */
		set_up(&world, TEST_SIM_TINY, "busy:cycles=1000000,think=2ms", cases[i].governor);
		world.sim->domains[0].limit_khz = 500000;
		for (uint64_t ms = 1000; ms < 1400; ms++, n++) {
			sim_run(world.sim, ms * MS);
			pelt_update_cpu(&world.su->pelt, world.sim, 0);
			sum += DECAY_CAP(world.su->pelt.cpus[0].util_q);
		}
		assert_in_range(sum / n, cases[i].cap - 8, cases[i].cap + 8);
		sim_free(world.sim);
	}
}

/* Two threads that share a CPU are runnable twice. */
TEST(test_runnable)
{
	struct world world;

	set_up(&world, ONE_OPP, "busyx2:cycles=1000000000", "schedutil");
	sim_run(world.sim, 400 * MS);
	pelt_update_cpu(&world.su->pelt, world.sim, 0);
	assert_in_range(DECAY_CAP(world.su->pelt.cpus[0].util_q), 1020, 1024);
	assert_in_range(world.su->pelt.cpus[0].runnable_q >> DECAY_Q_SHIFT, 2040, 2048);
	assert_int_equal(pelt_need_cap(&world.su->pelt, 0, 1024), 1024);
	sim_free(world.sim);
}

static uint32_t boost_step(struct world *world, bool from_io_wait, uint64_t after_ns)
{
	uint32_t cap;

	world->sim->now_ns += after_ns;
	schedutil_boost_update(world->su, world->sim, 0, from_io_wait ? world->sim->threads : NULL);
	world->su->cpus[0].updated_ns = world->sim->now_ns;
	cap = schedutil_boost_cap(world->su, world->sim, 0);
	return cap;
}

TEST(test_mainline_boost)
{
	static const uint32_t up[] = { 128, 256, 512, 1024, 1024 };
	static const uint32_t down[] = { 512, 256, 128, 0, 0 };
	struct world world;

	set_up(&world, ONE_OPP, "psync", "schedutil");
	world.sim->now_ns = 1000 * MS;
	for (int i = 0; i < 5; i++)
		assert_int_equal(boost_step(&world, true, MS), up[i]);
	for (int i = 0; i < 5; i++)
		assert_int_equal(boost_step(&world, false, MS), down[i]);
	/* Zero after more than a tick without an evaluation, the least after one with a wait. */
	boost_step(&world, true, MS);
	assert_int_equal(boost_step(&world, true, MS), 256);
	assert_int_equal(boost_step(&world, false, 5 * MS), 0);
	boost_step(&world, true, MS);
	assert_int_equal(boost_step(&world, true, MS), 256);
	assert_int_equal(boost_step(&world, true, 5 * MS), 128);
	sim_free(world.sim);
}

/* Wake-ups between two evaluations double once. */
TEST(test_boost_pending)
{
	struct world world;

	set_up(&world, ONE_OPP, "psync", "schedutil");
	world.sim->now_ns = 1000 * MS;
	for (int i = 0; i < 5; i++)
		schedutil_boost_update(world.su, world.sim, 0, world.sim->threads);
	world.su->cpus[0].updated_ns = world.sim->now_ns;
	assert_int_equal(schedutil_boost_cap(world.su, world.sim, 0), 128);
	sim_free(world.sim);
}

TEST(test_rate_limit)
{
	struct platform platform;
	struct workload workload;
	struct result result;

	test_sim_platform(TEST_SIM_TINY, &platform);
	test_sim_workload(&platform, "busy:cycles=3000000,think=20ms", &workload);
	platform.domains[0].schedutil_rate_limit_ns = 50 * MS;
	result = test_sim_run(&platform, &workload, "schedutil-raw", 5 * TEST_SIM_S);
	assert_true(result.changes_per_s <= 20);
}
