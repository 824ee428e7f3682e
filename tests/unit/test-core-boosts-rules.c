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

static void match(uint32_t pid, uint64_t matched)
{
	struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = pid, .tgid = pid, .matched = matched },
	};

	world_apply(&input);
	world_round();
}

/* A task with I/O of a rule that says this. */
static void start(struct policy_level io_boost, bool others_are_boosted)
{
	struct policy policy;

	policy_init(&policy);
	policy.io_boost.enabled = others_are_boosted;
	policy.n_rules = 1;
	policy.rules[0].domain_cpu = POLICY_ANY_DOMAIN;
	policy.rules[0].properties.io_boost = io_boost;
	boosts_start(&policy);
	match(100, 1);
	world_start_io(0, 100, 0, usual_io());
}

WORLD_TEST(test_off, NULL)
{
	start((struct policy_level){ POLICY_LEVEL_CAPACITY, 0 }, true);
	boosts_run_to(0, IO_BOOST_RULED_OUT, 50 * NS_PER_MS);
	boosts_run(5 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_RULED_OUT);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
	assert_int_equal(world->domains[0].changes, 1);
	/* The rule is no longer for it. */
	match(100, 0);
	boosts_run_to(0, IO_BOOST_PAYS, 2 * NS_PER_S);
	/* And is again: at once. */
	match(100, 1);
	boosts_assert_state(0, IO_BOOST_RULED_OUT);
	boosts_run(100 * NS_PER_MS);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
}

WORLD_TEST(test_limit, NULL)
{
	start((struct policy_level){ POLICY_LEVEL_PERCENT, 50 }, true);
	boosts_run_to(0, IO_BOOST_PAYS, 2 * NS_PER_S);
	boosts_run(30 * NS_PER_MS);
	boosts_assert_target(0, 1200000, REASON_IO_BOOST);
	match(100, 0);
	boosts_run(100 * NS_PER_MS);
	assert_in_range(world_last(0)->target_khz, 2000000, HIGHEST_KHZ);
}

/* Not above the lowest OPP: nothing is left that a boost could be. */
WORLD_TEST(test_limit_is_too_low, NULL)
{
	start((struct policy_level){ POLICY_LEVEL_KHZ, LOWEST_KHZ }, true);
	boosts_run(NS_PER_S);
	assert_false(io_boost_is_held(&world_task(0)->io_boost));
	assert_int_equal(world->domains[0].changes, 1);
}

WORLD_TEST(test_other_tasks_go_on, NULL)
{
	start((struct policy_level){ POLICY_LEVEL_CAPACITY, 0 }, true);
	world_start_io(1, 101, 2, usual_io());
	boosts_run_to(1, IO_BOOST_PAYS, 2 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_RULED_OUT);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
}

/* The policy has the boost off, and a rule lets one task have it. */
WORLD_TEST(test_on, NULL)
{
	start((struct policy_level){ POLICY_LEVEL_CAPACITY, 1024 }, false);
	world_start_io(1, 101, 2, usual_io());
	boosts_run_to(0, IO_BOOST_PAYS, 2 * NS_PER_S);
	boosts_assert_state(1, IO_BOOST_RULED_OUT);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
}
