// SPDX-License-Identifier: GPL-2.0-only
/* What rules say of the I/O boosts of tasks. */
#include "config/keys.h"
#include "test-core-boosts.h"

static const struct fake_io *usual_io(void)
{
	static struct fake_io io;

	io = boosts_sync_io(0, 100, 50);
	return &io;
}

static struct policy with_rule(struct policy_level io_boost)
{
	struct policy policy;

	policy_init(&policy);
	policy.n_rules = 1;
	policy.rules[0].domain_cpu = POLICY_ANY_DOMAIN;
	policy.rules[0].properties.io_boost = io_boost;
	return policy;
}

static void match(struct world *world, uint32_t pid, uint64_t matched)
{
	struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = pid, .tgid = pid, .matched = matched },
	};

	world_apply(world, &input);
	world_round(world);
}

TEST(test_off)
{
	struct policy policy = with_rule((struct policy_level){ POLICY_LEVEL_CAPACITY, 0 });
	struct world world;

	boosts_start(&world, &policy);
	match(&world, 100, 1);
	world_start_io(&world, 0, 100, 0, usual_io());
	boosts_run_to(&world, 0, IO_BOOST_RULED_OUT, 50 * NS_PER_MS);
	boosts_run(&world, 5 * NS_PER_S);
	boosts_assert_state(&world, 0, IO_BOOST_RULED_OUT);
	boosts_assert_target(&world, 0, LOWEST_KHZ, REASON_IDLE);
	assert_int_equal(world.domains[0].changes, 1);
	/* The rule is no longer for it. */
	match(&world, 100, 0);
	boosts_run_to(&world, 0, IO_BOOST_PAYS, 2 * NS_PER_S);
	/* And is again: at once. */
	match(&world, 100, 1);
	boosts_assert_state(&world, 0, IO_BOOST_RULED_OUT);
	boosts_run(&world, 100 * NS_PER_MS);
	boosts_assert_target(&world, 0, LOWEST_KHZ, REASON_IDLE);
	world_deinit(&world);
}

TEST(test_limit)
{
	struct policy policy = with_rule((struct policy_level){ POLICY_LEVEL_PERCENT, 50 });
	struct world world;

	boosts_start(&world, &policy);
	match(&world, 100, 1);
	world_start_io(&world, 0, 100, 0, usual_io());
	boosts_run_to(&world, 0, IO_BOOST_PAYS, 2 * NS_PER_S);
	boosts_run(&world, 30 * NS_PER_MS);
	boosts_assert_target(&world, 0, 1200000, REASON_IO_BOOST);
	match(&world, 100, 0);
	boosts_run(&world, 100 * NS_PER_MS);
	assert_in_range(world_last(&world, 0)->target_khz, 2000000, HIGHEST_KHZ);
	world_deinit(&world);
}

/* Not above the lowest OPP: nothing is left that a boost could be. */
TEST(test_limit_is_too_low)
{
	struct policy policy = with_rule((struct policy_level){ POLICY_LEVEL_KHZ, LOWEST_KHZ });
	struct world world;

	boosts_start(&world, &policy);
	match(&world, 100, 1);
	world_start_io(&world, 0, 100, 0, usual_io());
	boosts_run(&world, NS_PER_S);
	assert_false(io_boost_is_held(&world_task(&world, 0)->io_boost));
	assert_int_equal(world.domains[0].changes, 1);
	world_deinit(&world);
}

TEST(test_other_tasks_go_on)
{
	struct policy policy = with_rule((struct policy_level){ POLICY_LEVEL_CAPACITY, 0 });
	struct world world;

	boosts_start(&world, &policy);
	match(&world, 100, 1);
	world_start_io(&world, 0, 100, 0, usual_io());
	world_start_io(&world, 1, 101, 2, usual_io());
	boosts_run_to(&world, 1, IO_BOOST_PAYS, 2 * NS_PER_S);
	boosts_assert_state(&world, 0, IO_BOOST_RULED_OUT);
	boosts_assert_target(&world, 0, LOWEST_KHZ, REASON_IDLE);
	world_deinit(&world);
}

/* The policy has the boost off, and a rule lets one task have it. */
TEST(test_on)
{
	struct policy policy = with_rule((struct policy_level){ POLICY_LEVEL_CAPACITY, 1024 });
	struct world world;

	policy.io_boost.enabled = false;
	boosts_start(&world, &policy);
	match(&world, 100, 1);
	world_start_io(&world, 0, 100, 0, usual_io());
	world_start_io(&world, 1, 101, 2, usual_io());
	boosts_run_to(&world, 0, IO_BOOST_PAYS, 2 * NS_PER_S);
	boosts_assert_state(&world, 1, IO_BOOST_RULED_OUT);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	world_deinit(&world);
}
