// SPDX-License-Identifier: GPL-2.0-only
/* When requests are followed: while something is being found out, and a twentieth of the time. */
#include "test-core-boosts.h"

/* Runs for so long; returns how much of it requests were followed, and how often that began. */
static uint64_t followed_ms(uint64_t ms, uint32_t *ret_periods)
{
	bool before = engine_learns(world->engine);
	uint64_t followed = 0;

	*ret_periods = 0;
	for (uint64_t i = 0; i < ms; i++) {
		bool now;

		boosts_run(NS_PER_MS);
		now = engine_learns(world->engine);
		followed += now;
		*ret_periods += now && !before;
		before = now;
	}
	return followed;
}

/* Nobody does I/O: nothing is followed, and no timer runs for it. */
BOOSTS_TEST(test_nobody)
{
	uint32_t periods;

	assert_int_equal(followed_ms(3000, &periods), 0);
	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
}

/* From the first moment until its I/O is known, and then a twentieth of the time. */
BOOSTS_TEST(test_settled)
{
	uint32_t periods;

	world_start_io(0, 100, 0, &TENTH);
	assert_true(engine_learns(world->engine));
	boosts_run_to(0, IO_BOOST_PAYS, NS_PER_S);
	boosts_run(200 * NS_PER_MS);
	assert_in_range(followed_ms(10000, &periods), 200, 620);
	assert_in_range(periods, 2, 6);
	boosts_assert_state(0, IO_BOOST_PAYS);
	assert_true(boosts_device(0)->rates.known);
	/* The period ends with its task. */
	world_stop_io(0);
	boosts_run(100 * NS_PER_MS);
	assert_int_equal(followed_ms(3000, &periods), 0);
}

/* The domain runs as high without a boost: nothing is tried, nothing followed for it. */
BOOSTS_TEST(test_at_level)
{
	uint32_t periods;

	world_set_limits(0, HIGHEST_KHZ, HIGHEST_KHZ);
	world_start_io(0, 100, 0, &TENTH);
	boosts_run(2 * NS_PER_S);
	assert_in_range(followed_ms(20000, &periods), 0, 1200);
	assert_false(io_boost_is_held(&world_task(0)->io_boost));
}

/* What its I/O is worth changes all the time: it is looked at no more often for it. */
BOOSTS_TEST(test_never_known)
{
	struct fake_io io = TENTH;
	uint64_t followed = 0;
	uint32_t periods;

	world_start_io(0, 100, 0, &io);
	boosts_run(5 * NS_PER_S);
	for (uint32_t i = 0; i < 600; i++) {
		world->tasks[0].io.work = (i % 2 ? 40 : 5) * NS_PER_US * IO_LEVEL_MAX;
		followed += followed_ms(50, &periods);
	}
	assert_in_range(followed, 600, 1900); /* of 30,000 */
}

/* Deep queues are looked at no more often. */
BOOSTS_TEST(test_busy_device)
{
	const struct fake_io io = boosts_io(FAKE_IO_DEEP, 0, 100, 5);
	uint32_t periods;

	world_start_io(0, 100, 0, &io);
	boosts_run(NS_PER_S);
	boosts_assert_state(0, IO_BOOST_DEVICE_BUSY);
	assert_in_range(followed_ms(10000, &periods), 200, 620);
	boosts_assert_state(0, IO_BOOST_DEVICE_BUSY);
}

/* A new task does not wait for the next tracing period. */
BOOSTS_TEST(test_news)
{
	boosts_start_paying(0, 0, &TENTH);
	while (engine_learns(world->engine))
		boosts_run(NS_PER_MS);
	world_start_io(1, 101, 1, &TENTH);
	assert_true(engine_learns(world->engine));
}

/* Waits without block requests have nothing to follow. */
BOOSTS_TEST(test_counted)
{
	const struct fake_io io = boosts_io(FAKE_IO_COUNTED, 0, 90, 10);
	uint32_t periods;

	world_start_io(0, 100, 0, &io);
	boosts_run(NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PAYS);
	assert_in_range(followed_ms(5000, &periods), 90, 320);
}
