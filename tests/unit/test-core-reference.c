// SPDX-License-Identifier: GPL-2.0-only
/* The frequency by which capacity is measured becomes another while the engine runs. */
#include "test-core-boosts.h"

#include "config/keys.h"
#include "core/opp.h"

static void set_reference(uint32_t domain, uint32_t khz)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_REFERENCE,
		.reference = { .domain = domain, .khz = khz },
	};

	world->topology->domains[domain].reference_khz = khz;
	world_apply(&input);
}

/* A task that needs half of the capacity gets half of what the capacity is, with headroom. */
BOOSTS_TEST(test_demand_goes_by_it)
{
	static const struct {
		uint32_t reference_khz, target_khz;
	} cases[] = {
		{ 0, 1600000 },	      { 1280000, 800000 },	{ 1600000, 1000000 },
		{ 3200000, 2000000 }, { 9000000, HIGHEST_KHZ },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_reference(0, cases[i].reference_khz);
		world_switch_to(1, true, DECAY_Q(512));
		world_round();
		assert_int_equal(world_last(0)->target_khz, cases[i].target_khz);
		world_deinit();
		boosts_set_up(NULL);
	}
}

/* What is asked for already is decided anew. */
BOOSTS_TEST(test_change_is_decided)
{
	world_switch_to(1, true, DECAY_Q(512));
	world_round();
	assert_int_equal(world_last(0)->target_khz, 1600000);
	set_reference(0, 3200000);
	assert_true(engine_is_due(world->engine, 0, world->now_ns + 10 * NS_PER_MS));
	assert_false(engine_is_due(world->engine, 1, world->now_ns + 10 * NS_PER_MS));
	world_run_until(world->now_ns + 10 * NS_PER_MS);
	world_round();
	assert_true(world_last(0)->target_khz > 1600000);
}

/* Turbo comes: full capacity is at the new OPP from then on, where no reference says otherwise. */
BOOSTS_TEST(test_one_more_opp)
{
	struct input opp = { .type = INPUT_OPP, .opp = { .khz = 2 * HIGHEST_KHZ } };
	struct input limits = { .type = INPUT_LIMITS,
				.limits = { 0, LOWEST_KHZ, 2 * HIGHEST_KHZ } };

	opp.now_ns = limits.now_ns = world->now_ns;
	opp_add(&world->topology->domains[0], opp.opp.khz, 0);
	world_apply(&opp);
	world_apply(&limits);
	world_switch_to(1, true, DECAY_Q(1024));
	world_round();
	assert_int_equal(world_last(0)->target_khz, 2 * HIGHEST_KHZ);
}
