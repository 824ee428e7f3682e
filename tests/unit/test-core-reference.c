// SPDX-License-Identifier: GPL-2.0-only
/* The frequency by which capacity is measured becomes another while the engine runs. */
#include "test-core-boosts.h"

#include "config/keys.h"
#include "core/opp.h"

static void set_reference(struct world *world, uint32_t domain, uint32_t khz)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_REFERENCE,
		.reference = { .domain = domain, .khz = khz },
	};

	world->topology->domains[domain].reference_khz = khz;
	world_apply(world, &input);
}

/* At rest, ten milliseconds after its start. */
static void start(struct world *world)
{
	struct policy policy;

	policy_init(&policy);
	world_init(world, test_topology_usual(2, 2), &policy);
	world_round(world);
	world_run_until(world, world->now_ns + 10 * NS_PER_MS);
}

/* A task that needs half of the capacity gets half of what the capacity is, with headroom. */
TEST(test_demand_goes_by_it)
{
	static const struct {
		uint32_t reference_khz, target_khz;
	} cases[] = {
		{ 0, 1600000 },	      { 1280000, 800000 },	{ 1600000, 1000000 },
		{ 3200000, 2000000 }, { 9000000, HIGHEST_KHZ },
	};
	struct world world;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(&world);
		set_reference(&world, 0, cases[i].reference_khz);
		world_switch_to(&world, 1, true, DECAY_Q(512));
		world_round(&world);
		assert_int_equal(world_last(&world, 0)->target_khz, cases[i].target_khz);
		world_deinit(&world);
	}
}

/* What is asked for already is decided anew. */
TEST(test_change_is_decided)
{
	struct world world;

	start(&world);
	world_switch_to(&world, 1, true, DECAY_Q(512));
	world_round(&world);
	assert_int_equal(world_last(&world, 0)->target_khz, 1600000);
	set_reference(&world, 0, 3200000);
	assert_true(engine_is_due(world.engine, 0, world.now_ns + 10 * NS_PER_MS));
	assert_false(engine_is_due(world.engine, 1, world.now_ns + 10 * NS_PER_MS));
	world_run_until(&world, world.now_ns + 10 * NS_PER_MS);
	world_round(&world);
	assert_true(world_last(&world, 0)->target_khz > 1600000);
	world_deinit(&world);
}

/* Turbo comes: full capacity is at the new OPP from then on, where no reference says otherwise. */
TEST(test_one_more_opp)
{
	struct input opp = { .type = INPUT_OPP, .opp = { .khz = 2 * HIGHEST_KHZ } };
	struct input limits = { .type = INPUT_LIMITS,
				.limits = { 0, LOWEST_KHZ, 2 * HIGHEST_KHZ } };
	struct world world;

	start(&world);
	opp.now_ns = limits.now_ns = world.now_ns;
	opp_add(&world.topology->domains[0], opp.opp.khz, 0);
	world_apply(&world, &opp);
	world_apply(&world, &limits);
	world_switch_to(&world, 1, true, DECAY_Q(1024));
	world_round(&world);
	assert_int_equal(world_last(&world, 0)->target_khz, 2 * HIGHEST_KHZ);
	world_deinit(&world);
}
