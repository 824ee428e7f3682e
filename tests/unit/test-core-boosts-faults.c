// SPDX-License-Identifier: GPL-2.0-only
/* The I/O boost when the ground moves under it: no wrong boost, no leak, and counted. */
#include "config/keys.h"
#include "test-core-boosts.h"

static void assert_nobody_boosted(void)
{
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
}

/* Every 75 ms: neither does the answer stay away, nor is it lost. */
BOOSTS_TEST(test_limits_come_and_go)
{
	uint32_t boosted = 0;

	world_start_io(0, 100, 0, &TENTH);
	for (uint32_t i = 0; i < 200; i++) {
		boosts_run(75 * NS_PER_MS);
		world_set_limits(0, LOWEST_KHZ, i % 2 ? HIGHEST_KHZ : 1800000);
		world_round();
		if (i >= 20)
			boosted += world_last(0)->target_khz >= 1800000;
	}
	assert_in_range(boosted, 175, 180);
}

/* Those of a domain that is not its own say nothing of it. */
BOOSTS_TEST(test_limits_elsewhere)
{
	world_start_io(0, 100, 0, &TENTH);
	boosts_run_to(0, IO_BOOST_TRYING, 200 * NS_PER_MS);
	for (uint32_t i = 0; i < 30; i++) {
		boosts_run(10 * NS_PER_MS);
		world_set_limits(1, LOWEST_KHZ, i % 2 ? HIGHEST_KHZ : 1800000);
		world_round();
	}
	boosts_assert_state(0, IO_BOOST_PAYS);
}

/* A result is not lost by it, and the OPP follows. */
BOOSTS_TEST(test_limits_change_when_it_pays)
{
	boosts_start_paying(0, 0, &TENTH);
	world_set_limits(0, LOWEST_KHZ, 1600000);
	boosts_run(50 * NS_PER_MS);
	boosts_assert_state(0, IO_BOOST_PAYS);
	boosts_assert_target(0, 1600000, REASON_IO_BOOST);
	/* No OPP above the lowest is allowed: no boost. */
	world_set_limits(0, LOWEST_KHZ, LOWEST_KHZ);
	boosts_run(50 * NS_PER_MS);
	assert_int_equal(engine_task_boost_cap(world->engine, world_task(0)), 0);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
	world_set_limits(0, LOWEST_KHZ, HIGHEST_KHZ);
	boosts_run(NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PAYS);
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
}

/* The domain is lent while a pair is run, and time passes unseen: that pair says nothing. */
BOOSTS_TEST(test_lent_in_a_pair)
{
	uint32_t tried;

	world_start_io(0, 100, 0, &TENTH);
	boosts_run_to(0, IO_BOOST_TRYING, 200 * NS_PER_MS);
	while (boosts_group(0)->experiment.phase != EXPERIMENT_SECOND_WINDOW ||
	       !boosts_group(0)->experiment.mark_ns)
		boosts_run(NS_PER_MS);
	tried = boosts_group(0)->experiment.tried;
	world_set_active(0, false);
	world->now_ns += 10 * NS_PER_S;
	world->io_updated_ns = world->now_ns;
	world_io(0, 0);
	world_set_active(0, true);
	boosts_run(NS_PER_MS);
	assert_int_not_equal(boosts_group(0)->experiment.phase, EXPERIMENT_SECOND_WINDOW);
	assert_int_equal(boosts_group(0)->experiment.tried, tried);
	boosts_run_to(0, IO_BOOST_PAYS, NS_PER_S);
}

/* At any time: its tasks are boosted no more, and what comes in its place starts from nothing. */
WORLD_TEST(test_device_ends, NULL)
{
	static const enum io_boost_state when[] = { IO_BOOST_MEASURING, IO_BOOST_TRYING,
						    IO_BOOST_PAYS };

	for (size_t i = 0; i < sizeof(when) / sizeof(when[0]); i++) {
		boosts_start(NULL);
		world_start_io(0, 100, 0, &TENTH);
		boosts_run_to(0, when[i], NS_PER_S);
		world_end_device(0);
		world_stop_io(0);
		world_round();
		assert_int_equal(engine_task_boost_cap(world->engine, world_task(0)), 0);
		/* Past the rate limit. */
		boosts_run(2 * NS_PER_MS);
		assert_nobody_boosted();
		boosts_run(NS_PER_S);
		assert_null(world_task(0));
		assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);

		world_start_io(0, 100, 0, &TENTH);
		boosts_run_to(0, IO_BOOST_TRYING, NS_PER_S);
		assert_int_equal(boosts_group(0)->experiment.tried, 0);
		boosts_run_to(0, IO_BOOST_PAYS, NS_PER_S);
		world_deinit();
	}
}

/* The tasks go on: with the next device of that index they are measured anew. */
BOOSTS_TEST(test_device_is_replaced)
{
	boosts_start_paying(0, 0, &TENTH);
	world_end_device(0);
	world->devices[0].present = true;
	world->tasks[0].io = boosts_io(FAKE_IO_PACED, 0, 200, 50);
	world->tasks[0].io.last_io_ns = world->now_ns;
	boosts_run(NS_PER_S);
	boosts_assert_state(0, IO_BOOST_DOESNT_PAY);
	assert_nobody_boosted();
}

/* A device that cannot be read is not waited for for ever: a task's own I/Os are enough. */
BOOSTS_TEST(test_device_not_there)
{
	world_start_io(0, 100, 0, &TENTH);
	world->devices[0].present = false;
	boosts_run_to(0, IO_BOOST_PAYS, 2 * NS_PER_S);
	world_stop_io(0);
	boosts_run(2 * NS_PER_S);
	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
}

/* A device that counts from 0 again is another, for all that is known. */
WORLD_TEST(test_completions_go_back, NULL)
{
	static const enum io_boost_state when[] = { IO_BOOST_TRYING, IO_BOOST_PAYS };

	for (size_t i = 0; i < sizeof(when) / sizeof(when[0]); i++) {
		boosts_start(NULL);
		world_start_io(0, 100, 0, &TENTH);
		boosts_run_to(0, when[i], 2 * NS_PER_S);
		boosts_run(25 * NS_PER_MS);
		world->devices[0].completions = 0;
		boosts_run(3 * NS_PER_S);
		boosts_assert_state(0, IO_BOOST_PAYS);
		world_deinit();
	}
}

/* A task whose counters begin again: another one of that number. */
BOOSTS_TEST(test_task_counters_go_back)
{
	const struct fake_io io = TENTH, deep = boosts_io(FAKE_IO_DEEP, 0, 10, 5);

	boosts_start_paying(0, 0, &io);
	boosts_run(5 * NS_PER_MS);
	world->tasks[0].io = io;
	world->tasks[0].io.last_io_ns = world->now_ns;
	boosts_run(NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PAYS);
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
	/* One that does not need it: seen in the next tracing period. */
	world->tasks[0].io = deep;
	world->tasks[0].io.last_io_ns = world->now_ns;
	boosts_run(6 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_DEVICE_BUSY);
	assert_nobody_boosted();
}

static void offer(uint32_t pid)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK,
		.task = {
			.pid = pid,
			.tgid = pid,
			.cpu = pid % 4,
			.io_waits = 10,
			.last_io_ns = world->now_ns,
			.level_q = world_level_q(pid % 4),
		},
	};

	world_apply(&input);
}

BOOSTS_TEST(test_ten_thousand_tasks)
{
	const struct task_table *tasks;

	tasks = engine_tasks(world->engine);
	for (uint32_t pid = 1; pid <= 10000; pid++)
		offer(pid);
	world_round();
	assert_int_equal(io_task_count(tasks), 1024);
	assert_int_equal(io_task_refused(tasks), 10000 - 1024);
	assert_null(io_task_find(tasks, 1025));
	assert_nobody_boosted();
	/* They say no more: all of them end, and there is room again. */
	boosts_run(2 * NS_PER_S);
	assert_int_equal(world->handles_ended, 1024);
	assert_nobody_boosted();
	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
	for (uint32_t pid = 20001; pid <= 21024; pid++)
		offer(pid);
	assert_int_equal(io_task_refused(tasks), 10000 - 1024);
	assert_int_equal(io_task_count(tasks), 1024);
}

/* A device end while it is only remembered does not bring a task back to life. */
BOOSTS_TEST(test_device_ends_after_task)
{
	boosts_start_paying(0, 0, &TENTH);
	world_stop_io(0);
	boosts_run(50 * NS_PER_MS);
	assert_int_equal(world->handles_ended, 1);
	world_end_device(0);
	assert_true(engine_next_ns(world->engine) > world->now_ns);
	boosts_run(2 * NS_PER_S);
	assert_int_equal(world->handles_ended, 1);
	assert_nobody_boosted();
	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
}
