// SPDX-License-Identifier: GPL-2.0-only
/* Several tasks on one device, and on two. */
#include "test-core-boosts.h"

/* Back-offs until the pause is 16 s, and 5 s of it. */
static void start_paused(struct world *world, uint32_t n_tasks, const struct fake_io *io)
{
	boosts_start(world, NULL);
	for (uint32_t i = 0; i < n_tasks; i++)
		world_start_io(world, i, 100 + i, i % 4, io);
	while (boosts_device(world, 0)->check.n_checks < 5)
		boosts_run(world, 10 * NS_PER_MS);
	assert_int_equal(boosts_device(world, 0)->check.backoff_ns, 16 * NS_PER_S);
	boosts_run(world, 5 * NS_PER_S);
	assert_int_equal(boosts_device(world, 0)->check.n_checks, 5);
}

/* By a quarter: other tasks, another question, before the pause is over. */
static void test_tasks_come_and_go(void **state)
{
	static const struct {
		uint32_t before, after;
		bool early;
	} cases[] = { { 4, 4, false }, { 4, 5, false }, { 4, 6, true }, { 4, 3, false },
		      { 4, 2, true },  { 8, 5, true },	{ 1, 2, true } };
	const struct fake_io io = boosts_io(FAKE_IO_PACED, 0, 200, 50);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world world;

		start_paused(&world, cases[i].before, &io);
		for (uint32_t j = cases[i].before; j < cases[i].after; j++)
			world_start_io(&world, j, 100 + j, j % 4, &io);
		for (uint32_t j = cases[i].after; j < cases[i].before; j++)
			world_end_task(&world, j);
		boosts_run(&world, 2 * NS_PER_S);
		assert_int_equal(boosts_device(&world, 0)->check.n_checks, cases[i].early ? 6 : 5);
		world_deinit(&world);
	}
}

/* One device, one question: they are tried together, and once. */
static void test_tasks_share_a_check(void **state)
{
	const struct fake_io io = TENTH;
	struct world world;

	boosts_start(&world, NULL);
	for (uint32_t i = 0; i < 6; i++)
		world_start_io(&world, i, 100 + i, i % 4, &io);
	boosts_run_to(&world, 0, IO_BOOST_VERIFYING, 200 * NS_PER_MS);
	for (uint32_t i = 0; i < 6; i++)
		boosts_assert_state(&world, i, IO_BOOST_VERIFYING);
	boosts_assert_target(&world, 0, 2200000, REASON_IO_BOOST);
	boosts_assert_target(&world, 1, 2200000, REASON_IO_BOOST);
	boosts_run_to(&world, 0, IO_BOOST_CONFIRMED, 100 * NS_PER_MS);
	for (uint32_t i = 0; i < 6; i++)
		boosts_assert_state(&world, i, IO_BOOST_CONFIRMED);
	assert_int_equal(boosts_device(&world, 0)->check.n_checks, 1);
	assert_int_equal(boosts_device(&world, 0)->n_tasks, 6);

	/* One more finds the answer there. */
	world_start_io(&world, 6, 106, 0, &io);
	boosts_run_to(&world, 6, IO_BOOST_CONFIRMED, 30 * NS_PER_MS);
	assert_int_equal(boosts_device(&world, 0)->check.n_checks, 1);
	world_deinit(&world);
}

/* What a boost of one of them brings is little of what the device does for all: never tried. */
static void test_few_of_many(void **state)
{
	const struct fake_io io = TENTH, deep = boosts_io(FAKE_IO_DEEP, 0, 10, 5);
	struct world world;

	boosts_start(&world, NULL);
	world_start_io(&world, 0, 100, 0, &deep);
	world_start_io(&world, 1, 101, 2, &io);
	boosts_run(&world, NS_PER_S);
	for (int i = 0; i < 20; i++) {
		boosts_assert_state(&world, 1, IO_BOOST_DEVICE_BUSY);
		boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
		boosts_run(&world, 100 * NS_PER_MS);
	}
	assert_true(world_task(&world, 1)->io_boost.wanted_khz > 0);
	assert_int_equal(boosts_device(&world, 0)->check.n_checks, 0);
	assert_false(engine_follows_requests(world.engine));

	/* Alone it is worth its boost, and has it back after others came and went. */
	world_stop_io(&world, 0);
	boosts_run_to(&world, 1, IO_BOOST_CONFIRMED, 2 * NS_PER_S);
	world_start_io(&world, 2, 102, 0, &deep);
	boosts_run_to(&world, 1, IO_BOOST_DEVICE_BUSY, 2 * NS_PER_S);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	world_stop_io(&world, 2);
	boosts_run_to(&world, 1, IO_BOOST_CONFIRMED, 2 * NS_PER_S);
	world_deinit(&world);
}

/* Two devices are two questions, with two answers. */
static void test_devices_are_apart(void **state)
{
	const struct fake_io good = TENTH, paced = boosts_io(FAKE_IO_PACED, 1, 200, 50);
	struct world world;

	boosts_start(&world, NULL);
	world_start_io(&world, 0, 100, 0, &good);
	world_start_io(&world, 1, 101, 2, &paced);
	boosts_run(&world, 500 * NS_PER_MS);
	boosts_assert_state(&world, 0, IO_BOOST_CONFIRMED);
	boosts_assert_state(&world, 1, IO_BOOST_INSENSITIVE);
	boosts_assert_target(&world, 0, 2200000, REASON_IO_BOOST);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	world_deinit(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks_come_and_go),
		cmocka_unit_test(test_tasks_share_a_check),
		cmocka_unit_test(test_few_of_many),
		cmocka_unit_test(test_devices_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
