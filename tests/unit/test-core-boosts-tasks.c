// SPDX-License-Identifier: GPL-2.0-only
/* Several tasks on one device, and on two. */
#include "test-core-boosts.h"

/* Alike, on one device: one group, one experiment. */
BOOSTS_TEST(test_tasks_share_an_experiment)
{
	for (uint32_t i = 0; i < 6; i++)
		world_start_io(i, 100 + i, i % 4, &TENTH);
	boosts_run_to(0, IO_BOOST_TRYING, 200 * NS_PER_MS);
	boosts_run_to(0, IO_BOOST_PAYS, NS_PER_S);
	for (uint32_t i = 0; i < 6; i++) {
		boosts_assert_state(i, IO_BOOST_PAYS);
		assert_ptr_equal(boosts_group(i), boosts_group(0));
	}
	assert_int_equal(boosts_group(0)->n_tasks, 6);
	boosts_run(50 * NS_PER_MS);
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
	boosts_assert_target(1, 2200000, REASON_IO_BOOST);

	/* One more finds the answer there. */
	world_start_io(6, 106, 0, &TENTH);
	boosts_run_to(6, IO_BOOST_PAYS, 100 * NS_PER_MS);
}

/* Beside a queue that does ten times as much on the same device a reader still has its boost. */
BOOSTS_TEST(test_few_of_many)
{
	const struct fake_io io = TENTH, deep = boosts_io(FAKE_IO_DEEP, 0, 10, 5);

	world_start_io(0, 100, 0, &deep);
	boosts_start_paying(1, 2, &io);
	boosts_run(5 * NS_PER_S);
	boosts_assert_state(1, IO_BOOST_PAYS);
	boosts_assert_state(0, IO_BOOST_DEVICE_BUSY);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
}

/* Two answers: of tasks of one device that are predicted another gain, and of two devices. */
WORLD_TEST(test_answers_differ, NULL)
{
	for (uint32_t device = 0; device < 2; device++) {
		const struct fake_io paced = boosts_io(FAKE_IO_PACED, device, 200, 50);

		boosts_start(NULL);
		world_start_io(0, 100, 0, &TENTH);
		world_start_io(1, 101, 2, &paced);
		boosts_run_to(1, IO_BOOST_DOESNT_PAY, 2 * NS_PER_S);
		boosts_run_to(0, IO_BOOST_PAYS, 2 * NS_PER_S);
		boosts_run(100 * NS_PER_MS);
		boosts_assert_target(0, 2200000, REASON_IO_BOOST);
		boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
		world_deinit();
	}
}

/* A boost that pays stays while another group of its domain is tried; single pairs take it. */
BOOSTS_TEST(test_neighbour_is_tried)
{
	const struct fake_io io = TENTH, half = boosts_sync_io(0, 50, 50);
	uint32_t tried = 0, lowest_khz = HIGHEST_KHZ;

	boosts_start_paying(0, 0, &io);
	world_start_io(1, 101, 1, &half);
	boosts_run_to(1, IO_BOOST_TRYING, 200 * NS_PER_MS);
	while (world_task(1)->io_boost.state == IO_BOOST_TRYING) {
		boosts_run(NS_PER_MS);
		tried += world_last(0)->target_khz == 2200000;
		if (boosts_group(0)->experiment.phase)
			continue;
		assert_true(world_last(0)->target_khz >= 2200000);
	}
	boosts_assert_state(1, IO_BOOST_PAYS);
	assert_true(tried >= 30);
	while (!boosts_group(1)->experiment.phase)
		boosts_run(NS_PER_MS);
	while (boosts_group(1)->experiment.phase) {
		if (world_last(0)->target_khz < lowest_khz)
			lowest_khz = world_last(0)->target_khz;
		boosts_run(NS_PER_MS);
	}
	assert_int_equal(lowest_khz, LOWEST_KHZ);
}
