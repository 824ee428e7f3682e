// SPDX-License-Identifier: GPL-2.0-only
/* Whether an idle latency pays, through the engine: beside boosts that pay, and where it is asked.
 */
#include "config/keys.h"
#include "test-core-boosts.h"

#define EXIT_NS (20 * NS_PER_US)

static void start(struct world *world, uint32_t idle_latency_us)
{
	struct policy policy;

	policy_init(&policy);
	policy.io_boost.idle_latency_us = idle_latency_us;
	boosts_start(world, &policy);
}

static bool is_limited(const struct world *world)
{
	return world_task(world, 0) && world_task(world, 0)->io_boost.limits_idle;
}

/* Of so many looks, 10 ms apart, at how many the task's CPUs were limited. */
static uint32_t count_limited(struct world *world, uint32_t looks)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < looks; i++) {
		boosts_run(world, 10 * NS_PER_MS);
		n += is_limited(world);
	}
	return n;
}

/* 102 µs with the boost, and 20 more to wake up. */
static void test_pays(void **state)
{
	const struct experiment *trial;
	struct experiment_estimate found;
	struct fake_io io = TENTH;
	struct world world;

	io.exit_ns = EXIT_NS;
	start(&world, 10);
	boosts_start_paying(&world, 0, 0, &io);
	boosts_run(&world, 3 * NS_PER_S);
	assert_in_range(count_limited(&world, 2000), 1960, 2000);
	boosts_assert_state(&world, 0, IO_BOOST_PAYS);
	boosts_assert_target(&world, 0, 2200000, REASON_IO_BOOST);
	trial = engine_idle_trial(world.engine, &world_task(&world, 0)->io_boost, &found);
	assert_non_null(trial);
	assert_int_equal(trial->verdict, EXPERIMENT_PAYS);
	assert_in_range(found.gain_ppm, 165000, 215000);
	world_deinit(&world);
}

static void test_does_not_pay(void **state)
{
	struct fake_io io = TENTH;
	struct world world;

	io.exit_ns = NS_PER_US; /* within the slack */
	start(&world, 10);
	boosts_start_paying(&world, 0, 0, &io);
	boosts_run(&world, 5 * NS_PER_S);
	assert_in_range(count_limited(&world, 2000), 0, 40);
	boosts_assert_state(&world, 0, IO_BOOST_PAYS);
	world_deinit(&world);
}

/* The default, and where the boost itself does not pay. */
static void test_not_asked(void **state)
{
	const struct fake_io paced = boosts_io(FAKE_IO_PACED, 0, 200, 50);
	struct experiment_estimate found;
	struct fake_io io = TENTH;
	struct world world;

	io.exit_ns = EXIT_NS;
	start(&world, POLICY_IDLE_LATENCY_NONE);
	boosts_start_paying(&world, 0, 0, &io);
	assert_int_equal(count_limited(&world, 500), 0);
	assert_null(engine_idle_trial(world.engine, &world_task(&world, 0)->io_boost, &found));
	assert_int_equal(engine_idle_changes(world.engine), 0);
	world_deinit(&world);

	start(&world, 10);
	world_start_io(&world, 0, 100, 0, &paced);
	boosts_run_to(&world, 0, IO_BOOST_DOESNT_PAY, NS_PER_S);
	assert_int_equal(count_limited(&world, 500), 0);
	assert_int_equal(engine_idle_changes(world.engine), 0);
	world_deinit(&world);
}

/* With the I/O, and with the policy. What was found is there when the I/O goes on. */
static void test_ends(void **state)
{
	struct fake_io io = TENTH;
	struct policy policy;
	struct world world;
	uint32_t changes;

	io.exit_ns = EXIT_NS;
	start(&world, 10);
	boosts_start_paying(&world, 0, 0, &io);
	boosts_run(&world, 3 * NS_PER_S);
	assert_true(is_limited(&world));
	changes = engine_idle_changes(world.engine);
	world_stop_io(&world, 0);
	boosts_run(&world, 100 * NS_PER_MS);
	assert_false(is_limited(&world));
	assert_true(engine_idle_changes(world.engine) > changes);

	world_start_io(&world, 0, 100, 0, &io);
	boosts_run_to(&world, 0, IO_BOOST_PAYS, NS_PER_S);
	boosts_run(&world, 200 * NS_PER_MS);
	assert_true(is_limited(&world));

	policy_init(&policy);
	world_set_policy(&world, &policy);
	boosts_run(&world, 10 * NS_PER_S);
	assert_false(is_limited(&world));
	world_deinit(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pays),
		cmocka_unit_test(test_does_not_pay),
		cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
