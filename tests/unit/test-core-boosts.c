// SPDX-License-Identifier: GPL-2.0-only
/* The I/O boost, through the engine, on a machine whose I/O answers to the clock. */
#include "test-core-boosts.h"
#include "config/keys.h"

BOOSTS_TEST(test_pays)
{
	struct experiment_estimate found;
	uint64_t changes;
	uint32_t pairs;

	world_start_io(0, 100, 1, &TENTH);
	boosts_assert_state(0, IO_BOOST_MEASURING);
	boosts_run_to(0, IO_BOOST_TRYING, 20 * NS_PER_MS);
	assert_int_equal(world_task(0)->io_boost.wanted_khz, 2200000);
	boosts_run_to(0, IO_BOOST_PAYS, 500 * NS_PER_MS);
	boosts_run(10 * NS_PER_MS);
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(0)->pid, 100);
	assert_int_equal(world_last(0)->rule, 0);
	assert_int_equal(world_last(0)->cpu, 1);
	assert_string_equal(world_last(0)->comm, "task");
	assert_int_equal(engine_task_boost_cap(world->engine, world_task(0)), 938);
	/* 90 + 30 µs, and 90 + 10.9. */
	engine_estimate(world->engine, &world_task(0)->io_boost, &pairs, &found);
	assert_in_range(pairs, 4, 12);
	assert_in_range(found.gain_ppm, 170000, 205000);

	/* Pairs that refresh it cost at most 0.2 % of the time: 1 % at two thirds of the rate. */
	changes = world->domains[0].changes;
	boosts_run(60 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PAYS);
	assert_in_range(world->domains[0].changes - changes, 10, 120);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
}

/* Soon after the first I/O, fast or slow, and at what the model gives. */
WORLD_TEST(test_how_fast, NULL)
{
	static const struct {
		uint64_t device_us, host_us;
		uint32_t khz;
	} cases[] = {
		{ 90, 10, 2200000 },   { 50, 50, 2400000 }, { 10, 90, 2400000 }, { 9, 1, 2200000 },
		{ 500, 100, 2400000 }, { 96, 4, 2000000 },  { 190, 5, 1800000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fake_io io = boosts_sync_io(0, cases[i].device_us, cases[i].host_us);
		uint64_t took_ns;

		boosts_start(NULL);
		world_start_io(0, 100, 0, &io);
		took_ns = boosts_run_to(0, IO_BOOST_PAYS, 600 * NS_PER_MS);
		print_message("%llu + %llu us: %llu ms\n", (unsigned long long)cases[i].device_us,
			      (unsigned long long)cases[i].host_us,
			      (unsigned long long)(took_ns / NS_PER_MS));
		boosts_run(10 * NS_PER_MS);
		boosts_assert_target(0, cases[i].khz, REASON_IO_BOOST);
		world_deinit();
	}
}

/* One to six tasks of the same I/O, with a variation of its own. */
static void start_alike(uint32_t i, struct fake_io *io, struct test_random *random)
{
	io->variation_percent = test_random_below(random, 31);
	io->random = i + 1;
	boosts_start(NULL);
	for (uint32_t task = 0; task < 1 + i % 6; task++)
		world_start_io(task, 100 + task, task % 4, io);
}

/* I/O that goes on as it is settles: an experiment has at most 100 pairs, of two changes each. */
WORLD_TEST(test_any_settles, NULL)
{
	struct test_random random = { 1 };

	for (uint32_t i = 0; i < 60; i++) {
		struct fake_io io = boosts_sync_io(0, 5 + test_random_below(&random, 796), 0);
		uint64_t changes[2];

		io.kind = i % 2 ? FAKE_IO_PACED : FAKE_IO_SYNC;
		io.work = test_random_below(&random, 100000) * IO_LEVEL_MAX;
		start_alike(i, &io, &random);
		boosts_run(3 * NS_PER_S);
		for (uint32_t j = 0; j < 2; j++)
			changes[j] = world->domains[j].changes;
		boosts_run(9 * NS_PER_S);
		for (uint32_t j = 0; j < 2; j++)
			assert_in_range(world->domains[j].changes - changes[j], 0, 199);
		world_deinit();
	}
}

/* A device that is busy at all times, and a reader without host time: no boost, and no try. */
WORLD_TEST(test_nothing_to_try, NULL)
{
	struct test_random random = { 1 };

	for (uint32_t i = 0; i < 40; i++) {
		struct fake_io io = boosts_io(i % 2 ? FAKE_IO_DEEP : FAKE_IO_SYNC, 0,
					      1 + test_random_below(&random, 800), 0);

		if (i % 2)
			io.work = test_random_below(&random, 100000) * IO_LEVEL_MAX;
		start_alike(i, &io, &random);
		boosts_run(5 * NS_PER_S);
		assert_int_equal(world->domains[0].changes, 1);
		assert_int_equal(world->domains[1].changes, 1);
		world_deinit();
	}
}

/* The same decisions in any unit of frequency. */
WORLD_TEST(test_unit_of_frequency, NULL)
{
	static uint32_t target_khz[10000][2];
	const struct fake_io ios[] = { TENTH, boosts_io(FAKE_IO_PACED, 1, 200, 50),
				       boosts_sync_io(0, 50, 50) };
	uint64_t rounds = 0;
	struct policy policy;

	policy_init(&policy);
	for (uint32_t unit = 1; unit <= 160; unit += 159) {
		struct topology *topology = test_topology_usual(2, 2);

		for (uint32_t i = 0; i < 2; i++)
			for (uint32_t opp = 0; opp < topology->domains[i].n_opps; opp++)
				topology->domains[i].opp_khz[opp] /= unit;
		world_deinit();
		world_init(topology, &policy);
		world_round();
		boosts_run(10 * NS_PER_MS);
		for (uint32_t i = 0; i < 3; i++)
			world_start_io(i, 100 + i, i, &ios[i]);
		for (uint32_t ms = 0; ms < 10000; ms++) {
			if (ms % 1000 == 500)
				world_switch(3, ms % 2000 == 500);
			boosts_run(NS_PER_MS);
			for (uint32_t i = 0; i < 2; i++)
				if (unit == 1)
					target_khz[ms][i] = world_last(i)->target_khz;
				else
					assert_int_equal(world_last(i)->target_khz * unit,
							 target_khz[ms][i]);
		}
		if (unit == 1)
			rounds = world->rounds;
		assert_int_equal(world->rounds, rounds);
	}
}

/*
 * The task's own work promises 1.6 %, less than the slack; with that of the interrupt it is 25 %.
 * Of requests one at a time that is found out; deeper queues overlap it.
 */
WORLD_TEST(test_more_than_slack, NULL)
{
	struct fake_io io = boosts_sync_io(0, 85, 1);

	io.interrupt_work = 11 * NS_PER_US * IO_LEVEL_MAX;
	boosts_start(NULL);
	world_start_io(0, 100, 0, &io);
	boosts_run_to(0, IO_BOOST_PAYS, 2 * NS_PER_S);
	boosts_run(50 * NS_PER_MS);
	boosts_assert_target(0, HIGHEST_KHZ, REASON_IO_BOOST);
}

/* Where the kernel side watches the hold it is looked at a tenth as often, and over as soon. */
BOOSTS_TEST(test_lapses)
{
	for (int watches = 0; watches < 2; watches++) {
		uint64_t samples, end_ns;

		world_deinit();
		boosts_start(NULL);
		world->watches = watches;
		boosts_start_paying(3, 0, &TENTH);
		boosts_run(100 * NS_PER_MS);
		samples = world->samples;
		boosts_run(NS_PER_S);
		assert_in_range(world->samples - samples, watches ? 9 : 90, watches ? 11 : 110);
		boosts_assert_target(0, 2200000, REASON_IO_BOOST);
		/* In the middle of a window, so that it is no window without I/O that ends it. */
		world_run_until(world_task(3)->io_boost.next_ns + 5 * NS_PER_MS);
		world_stop_io(3);
		end_ns = world->tasks[3].io.last_io_ns + world->policy.io_boost.hold_ns;
		world_run_until(end_ns - 1);
		boosts_assert_target(0, 2200000, REASON_IO_BOOST);
		assert_int_equal(world->handles_ended, 0);
		world_run_until(end_ns + 1);
		boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
		assert_int_equal(world->handles_ended, 1);
		assert_int_equal(world_count_tasks(), 0);
		/* And then silence. */
		boosts_run(NS_PER_S);
		assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
	}
}

/* Its answer is there when it comes back, and looked at again at once. */
BOOSTS_TEST(test_comes_back)
{
	boosts_start_paying(0, 0, &TENTH);
	world_stop_io(0);
	boosts_run(30 * NS_PER_S);
	assert_null(world_task(0));
	world_start_io(0, 100, 0, &TENTH);
	boosts_run_to(0, IO_BOOST_PAYS, 30 * NS_PER_MS);
}

/* 333 I/Os a second keep every boost held, and are too few; 666 are as many as must be. */
BOOSTS_TEST(test_below_rate)
{
	const struct fake_io slow = boosts_sync_io(0, 6000, 1), enough = boosts_sync_io(0, 3000, 1);

	world_start_io(0, 100, 0, &slow);
	/* Ten windows say so: of few I/Os chance makes fewer. */
	boosts_run(95 * NS_PER_MS);
	boosts_assert_state(0, IO_BOOST_MEASURING);
	boosts_run(20 * NS_PER_MS);
	assert_int_equal(world->handles_ended, 1);
	assert_null(world_task(0));
	assert_true(world->now_ns < world->tasks[0].io.last_io_ns + world->policy.io_boost.hold_ns);
	assert_int_equal(world->domains[0].changes, 1);

	world_start_io(1, 101, 0, &enough);
	boosts_run(NS_PER_S);
	boosts_assert_state(1, IO_BOOST_DEVICE_BUSY);
}

/* A boosted task that slows down below the rate loses it with the window. */
BOOSTS_TEST(test_slows_down)
{
	boosts_start_paying(0, 0, &TENTH);
	world->tasks[0].io.device_ns = 4 * NS_PER_MS;
	boosts_run(500 * NS_PER_MS);
	assert_int_equal(world->handles_ended, 1);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
}

BOOSTS_TEST(test_counted_in_vain)
{
	const struct fake_io io = boosts_io(FAKE_IO_COUNTED, 0, 200, 0);

	world_start_io(0, 100, 0, &io);
	boosts_run_to(0, IO_BOOST_DOESNT_PAY, 2 * NS_PER_S);
	boosts_run(30 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_DOESNT_PAY);
}

/* Nothing is written, so nothing can be checked: what would be done is shown. */
BOOSTS_TEST(test_observed)
{
	world->domains[0].observed = true;
	world_set_active(0, true);
	world_start_io(0, 100, 0, &TENTH);
	boosts_run(300 * NS_PER_MS);
	boosts_assert_state(0, IO_BOOST_PREDICTED);
	assert_true(world_task(0)->io_boost.granted);
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
	assert_int_equal(boosts_group(0)->experiment.verdict, EXPERIMENT_NONE);
}

/*
 * While a busy CPU keeps the domain as high, pairs say nothing. What they said before is no answer:
 * as soon as that CPU is idle, the boost is tried.
 */
BOOSTS_TEST(test_level_falls)
{
	world_start_io(0, 100, 0, &TENTH);
	boosts_run_to(0, IO_BOOST_TRYING, 20 * NS_PER_MS);
	world_switch(1, true);
	boosts_run_to(0, IO_BOOST_AT_LEVEL, NS_PER_S);
	boosts_run(200 * NS_PER_MS);
	boosts_assert_state(0, IO_BOOST_AT_LEVEL);
	world_switch(1, false);
	boosts_run_to(0, IO_BOOST_PAYS, NS_PER_S);
}

/*
 * min-host-time is of the lowest OPP: of 511 µs there the host takes 21, of 497 at the highest 7.
 * That a boost makes the share small does not end it.
 */
WORLD_TEST(test_min_host_time, NULL)
{
	static const struct {
		uint32_t percent;
		enum io_boost_state state;
	} cases[] = { { 2, IO_BOOST_PAYS }, { 3, IO_BOOST_PAYS }, { 6, IO_BOOST_DEVICE_BUSY } };
	const struct fake_io io = boosts_sync_io(0, 490, 7);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct policy policy;

		policy_init(&policy);
		policy.io_boost.slack_percent = 1;
		policy.io_boost.min_host_percent = cases[i].percent;
		boosts_start(&policy);
		world_start_io(0, 100, 0, &io);
		boosts_run_to(0, cases[i].state, 2 * NS_PER_S);
		for (int j = 0; j < 100; j++) {
			boosts_run(100 * NS_PER_MS);
			boosts_assert_state(0, cases[i].state);
		}
		world_deinit();
	}
}

WORLD_TEST(test_slack, NULL)
{
	static const struct {
		uint32_t slack_percent, khz;
	} cases[] = { { 2, 2400000 }, { 10, 2200000 }, { 50, 1600000 } };
	/* 50 µs + 50 µs: with half of a slack of 50 %, up to 133 µs. */
	const struct fake_io io = boosts_sync_io(0, 50, 50);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct policy policy;

		policy_init(&policy);
		policy.io_boost.slack_percent = cases[i].slack_percent;
		/* A gain within the slack is not one: 1.6 GHz take 125 of 200 µs. */
		boosts_start(&policy);
		world_start_io(0, 100, 0, &io);
		boosts_run(NS_PER_S);
		assert_int_equal(world_task(0)->io_boost.wanted_khz, cases[i].khz);
		world_deinit();
	}
}

WORLD_TEST(test_switched_off, NULL)
{
	struct policy policy;

	policy_init(&policy);
	policy.io_boost.enabled = false;
	boosts_start(&policy);
	world_start_io(0, 100, 0, &TENTH);
	world_round();
	assert_int_equal(world->handles_ended, 1);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);

	policy.io_boost.enabled = true;
	world_set_policy(&policy);
	boosts_start_paying(0, 0, &TENTH);
	policy.io_boost.enabled = false;
	world_set_policy(&policy);
	boosts_run(11 * NS_PER_MS);
	assert_int_equal(world->handles_ended, 2);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
}
