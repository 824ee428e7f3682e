// SPDX-License-Identifier: GPL-2.0-only
#include "config/keys.h"
#include "test-core-boosts.h"

BOOSTS_TEST(test_idle_is_still)
{
	uint64_t rounds;

	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
	rounds = world->rounds;
	world_run_until(world->now_ns + 3600 * NS_PER_S);
	assert_int_equal(world->rounds, rounds);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
}

/*
 * Utilisation accrues at the present frequency, so each OPP would have to be filled to 1 / 1.25 of
 * it before the next is wanted, and the way up from a third of the highest would take 220 ms. That
 * the CPU has no idle moment says it sooner: 2200 of 2400 MHz are too little after 22 of 24 ms.
 */
BOOSTS_TEST(test_busy_goes_highest)
{
	uint64_t start_ns, rounds;

	start_ns = world->now_ns;
	rounds = world->rounds;
	world_switch(1, true);
	while (world_last(0)->target_khz < HIGHEST_KHZ && world->now_ns < start_ns + NS_PER_S)
		world_run_until(world->now_ns + NS_PER_MS);
	print_message("highest after %.1f ms and %u rounds\n", (world->now_ns - start_ns) / 1e6,
		      (unsigned)(world->rounds - rounds));
	assert_in_range(world->now_ns - start_ns, 22 * NS_PER_MS, 24 * NS_PER_MS);
	boosts_assert_target(0, HIGHEST_KHZ, REASON_UTILISATION);
	assert_int_equal(world_last(0)->cpu, 1);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
	/* One look for each OPP; none for what is settled. */
	assert_in_range(world->rounds - rounds, 8, 10);
	rounds = world->rounds;
	world_run_until(world->now_ns + 10 * NS_PER_S);
	assert_int_equal(world->rounds, rounds);
}

/* What a task is known to need is there when it runs, in one step; it is no burst when it does. */
BOOSTS_TEST(test_memory_counts_at_once)
{
	uint64_t rounds;

	rounds = world->rounds;
	world_switch_to(0, true, DECAY_Q(600));
	/* 1.25 · 600 / 1024 · 2400 MHz */
	boosts_assert_target(0, 1800000, REASON_UTILISATION);
	world_run_until(world->now_ns + world->policy.domain.rise_time_ns / 2);
	boosts_assert_target(0, 1800000, REASON_UTILISATION);
	assert_in_range(world->rounds - rounds, 1, 2);
	/* It takes too long at that. */
	world_run_until(world->now_ns + world->policy.domain.rise_time_ns);
	boosts_assert_target(0, HIGHEST_KHZ, REASON_UTILISATION);
	world_switch(0, false);
	world_run_until(world->now_ns + world->policy.domain.down_hold_ns + NS_PER_MS);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
}

/* A short task on the same CPU after one that needs much: the CPU has no idle moment between. */
BOOSTS_TEST(test_memory_leaves_with_its_task)
{
	world_switch_to(0, true, DECAY_Q(1000));
	boosts_assert_target(0, HIGHEST_KHZ, REASON_UTILISATION);
	world_switch_to(0, true, DECAY_Q(900));
	world_run_until(world->now_ns + NS_PER_MS);
	world_switch_to(0, true, DECAY_Q(700));
	world_run_until(world->now_ns + world->policy.domain.down_hold_ns + NS_PER_MS);
	boosts_assert_target(0, 2200000, REASON_UTILISATION);
}

/* Busy for a part of each period: it settles, and does not swing with them. */
WORLD_TEST(test_partial_load_settles, NULL)
{
	static const struct {
		uint64_t busy_ns, idle_ns;
		uint32_t khz;
	} cases[] = {
		{ 2 * NS_PER_MS, 2 * NS_PER_MS, LOWEST_KHZ },
		{ 19 * NS_PER_MS, 1 * NS_PER_MS, HIGHEST_KHZ },
		{ 300 * NS_PER_US, 100 * NS_PER_US, LOWEST_KHZ },
		{ 380 * NS_PER_US, 20 * NS_PER_US, HIGHEST_KHZ },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t settled_ns, end_ns, changes = 0;

		boosts_start(NULL);
		settled_ns = world->now_ns + NS_PER_S;
		end_ns = settled_ns + NS_PER_S;
		while (world->now_ns < end_ns) {
			if (world->now_ns < settled_ns)
				changes = world->domains[0].changes;
			world_switch(0, true);
			world_run_until(world->now_ns + cases[i].busy_ns);
			world_switch(0, false);
			world_run_until(world->now_ns + cases[i].idle_ns);
		}
		assert_int_equal(world_last(0)->target_khz, cases[i].khz);
		assert_int_equal(world->domains[0].changes, changes);
		world_deinit();
	}
}

BOOSTS_TEST(test_marked_cpu)
{
	engine_mark_due(world->engine, UINT32_MAX);
	engine_mark_due(world->engine, 3);
	engine_mark_due(world->twin, 3);
	assert_false(engine_is_due(world->engine, 0, world->now_ns));
	assert_true(engine_is_due(world->engine, 1, world->now_ns));
	world_round();
	assert_false(engine_is_due(world->engine, 1, world->now_ns));
}

/* 50 µs of running in every 250 are no reason to be fast; the I/O between them is. */
BOOSTS_TEST(test_boost_is_held_across_sleeps)
{
	const struct fake_io io = boosts_sync_io(0, 50, 50);
	uint64_t changes;

	boosts_start_paying(0, 1, &io);
	boosts_assert_target(0, HIGHEST_KHZ, REASON_IO_BOOST);
	changes = world->domains[0].changes;
	for (int i = 0; i < 2000; i++) {
		world_switch(1, true);
		world_run_until(world->now_ns + 50 * NS_PER_US);
		world_switch(1, false);
		world_run_until(world->now_ns + 200 * NS_PER_US);
	}
	boosts_assert_target(0, HIGHEST_KHZ, REASON_IO_BOOST);
	assert_int_equal(world->domains[0].changes, changes);
	assert_int_equal(io_task_count(engine_tasks(world->engine)), 1);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
}

BOOSTS_TEST(test_dead_task_takes_boost_with_it)
{
	const struct fake_io io = boosts_sync_io(0, 50, 50);

	boosts_start_paying(0, 0, &io);
	boosts_start_paying(1, 1, &io);
	boosts_run(100 * NS_PER_MS);
	world_end_task(0);
	world_round();
	boosts_assert_target(0, HIGHEST_KHZ, REASON_IO_BOOST);
	assert_int_equal(world_last(0)->pid, 101);

	world_end_task(1);
	assert_true(engine_is_due(world->engine, 0, world->now_ns));
	assert_int_equal(io_task_count(engine_tasks(world->engine)), 0);
	world_round();
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
	/* Its exit is not told of twice. */
	assert_int_equal(world->handles_ended, 0);
	/* And nobody is left to look at the device for. */
	world_run_until(world->now_ns + NS_PER_S);
	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
}

BOOSTS_TEST(test_unknown_task_ends)
{
	world->tasks[0].pid = 55;
	world_end_task(0);
	assert_int_equal(engine_next_ns(world->engine), UINT64_MAX);
}

WORLD_TEST(test_full_table_is_counted, NULL)
{
	const struct fake_io io = boosts_sync_io(0, 50, 50);
	struct policy policy;

	policy_init(&policy);
	policy.max_tasks = 2;
	boosts_start(&policy);
	world_start_io(0, 100, 0, &io);
	world_start_io(1, 101, 0, &io);
	world_start_io(2, 102, 2, &io);
	world_run_until(world->now_ns + 500 * NS_PER_MS);
	assert_int_equal(io_task_count(engine_tasks(world->engine)), 2);
	assert_int_equal(io_task_refused(engine_tasks(world->engine)), 1);
	boosts_assert_target(0, HIGHEST_KHZ, REASON_IO_BOOST);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);

	/* What is only remembered makes room. */
	world_stop_io(0);
	world_run_until(world->now_ns + 50 * NS_PER_MS);
	assert_int_equal(io_task_count(engine_tasks(world->engine)), 2);
	boosts_start_paying(2, 2, &io);
	assert_int_equal(io_task_refused(engine_tasks(world->engine)), 1);
	boosts_assert_target(1, HIGHEST_KHZ, REASON_IO_BOOST);
}

BOOSTS_TEST(test_inactive_is_left_alone)
{
	const struct fake_io io = boosts_sync_io(0, 50, 50);

	world_set_active(0, false);
	world_switch(0, true);
	world_start_io(0, 100, 0, &io);
	world_run_until(world->now_ns + NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PREDICTED);
	assert_false(engine_is_due(world->engine, 0, world->now_ns));
	world_round();
	assert_int_equal(world_last(0)->target_khz, LOWEST_KHZ);
	assert_int_equal(world->domains[0].changes, 1);
	world->cpus[0].band.watch = true;
	engine_band(world->engine, 0, &world->cpus[0].band);
	assert_false(world->cpus[0].band.watch);
	assert_false(world->cpus[0].band.watch_idle);

	/* What was written before it went is not taken for granted when it is back. */
	world_set_active(0, true);
	world_round();
	assert_int_equal(world_last(0)->previous_khz, 0);
	assert_int_not_equal(world_last(0)->target_khz, 0);
	world_switch(0, false);
	boosts_run_to(0, IO_BOOST_PAYS, NS_PER_S);
	boosts_assert_target(0, HIGHEST_KHZ, REASON_IO_BOOST);
}

BOOSTS_TEST(test_active_twice_is_once)
{
	world_set_active(0, true);
	assert_false(engine_is_due(world->engine, 0, world->now_ns));
}

BOOSTS_TEST(test_reload_makes_all_due)
{
	struct policy policy;

	assert_false(engine_is_due(world->engine, 0, world->now_ns));
	policy = world->policy;
	policy.domain.min = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1400000 };
	policy.n_domain_sections = 1;
	policy.domain_sections[0] = (struct policy_domain_section){
		.name = "b",
		.given = POLICY_DOMAIN_BIT(min),
		.values.min = { POLICY_FREQUENCY_PERCENT, 75 },
	};
	world_set_policy(&policy);
	assert_true(engine_is_due(world->engine, 0, world->now_ns));
	assert_true(engine_is_due(world->engine, 1, world->now_ns));
	assert_int_equal(engine_next_ns(world->engine), 0);
	world_round();
	boosts_assert_target(0, 1400000, REASON_IDLE);
	boosts_assert_target(1, 1800000, REASON_IDLE);
}

BOOSTS_TEST(test_limits_make_due_when_they_change)
{
	world_set_limits(0, LOWEST_KHZ, HIGHEST_KHZ);
	assert_false(engine_is_due(world->engine, 0, world->now_ns));
	world_set_limits(0, 1200000, HIGHEST_KHZ);
	assert_true(engine_is_due(world->engine, 0, world->now_ns));
	assert_false(engine_is_due(world->engine, 1, world->now_ns));
	world_round();
	boosts_assert_target(0, 1200000, REASON_IDLE);
	assert_string_equal(limiter_names[world_last(0)->limiter], "scaling-min");
}

BOOSTS_TEST(test_forgotten_target_is_given_again)
{
	world_forget_target(1);
	assert_true(engine_is_due(world->engine, 1, world->now_ns));
	world_round();
	assert_int_equal(world_last(1)->previous_khz, 0);
	assert_int_equal(world_last(1)->target_khz, LOWEST_KHZ);
}

/* What was not set is decided again, when the rate limit allows it and not before. */
BOOSTS_TEST(test_target_not_set)
{
	world->refuses = true;
	world_switch(1, true);
	while (world_last(0)->wanted_khz == LOWEST_KHZ)
		world_run_until(world->now_ns + NS_PER_MS / 10);
	assert_int_equal(world_last(0)->target_khz, LOWEST_KHZ);
	assert_false(engine_is_due(world->engine, 0, world_last(0)->now_ns));
	assert_int_equal(engine_next_ns(world->engine), world_last(0)->now_ns + NS_PER_MS);
	world->refuses = false;
	world_run_until(world->now_ns + 2 * NS_PER_MS);
	assert_true(world_last(0)->target_khz > LOWEST_KHZ);
}

/* Until the outcome is told, everything is as before, and the proposal is what is asked about. */
BOOSTS_TEST(test_decide_changes_nothing)
{
	size_t size;
	void *before;

	world_switch(1, true);
	world_run_until(world->now_ns + NS_PER_MS);
	size = engine_state_size(world->topology, &world->policy);
	before = malloc(size);
	memcpy(before, engine_state(world->engine), size);
	engine_decide(world->engine, 0, world->now_ns + 50 * NS_PER_MS);
	assert_memory_equal(engine_state(world->engine), before, size);
	engine_commit(world->engine, 0, ENGINE_SET);
	assert_int_equal(engine_last(world->engine, 0)->now_ns, world->now_ns + 50 * NS_PER_MS);
	free(before);
}

/* CPUs that have no domain, or that nobody has heard of, are outcomes and not errors. */
BOOSTS_TEST(test_cpus_without_domain)
{
	static const uint32_t cpus[] = { 3, 4, TOPOLOGY_CPUS_MAX, UINT32_MAX };
	struct engine_band band;

	world->topology->cpu_domain[3] = TOPOLOGY_NO_DOMAIN;
	engine_free(world->engine);
	world->engine = engine_new(world->topology, &world->policy);
	assert_non_null(world->engine);
	world_renew_twin();
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct input input = {
			.now_ns = world->now_ns,
			.type = INPUT_CPU,
			.cpu = { .cpu = cpus[i], .util_q = DECAY_Q(1024), .running = true },
		};

		world_apply(&input);
		engine_band(world->engine, cpus[i], &band);
		assert_false(band.watch);
		assert_false(band.watch_idle);
		input.type = INPUT_TASK;
		input.task = (struct input_task){
			.pid = 100 + i, .cpu = cpus[i], .handle = i, .last_io_ns = world->now_ns
		};
		world_apply(&input);
		assert_int_equal(
			engine_task_boost_cap(world->engine,
					      io_task_find(engine_tasks(world->engine), 100 + i)),
			0);
	}
	assert_false(engine_is_due(world->engine, 0, world->now_ns));
	assert_false(engine_is_due(world->engine, 1, world->now_ns));
}

static void match(uint32_t pid, uint64_t matched)
{
	struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = pid, .tgid = pid, .comm = "ruled", .matched = matched },
	};

	engine_apply(world->engine, &input);
}

BOOSTS_TEST(test_ruled_tasks)
{
	const struct task_table *tasks;

	tasks = engine_tasks(world->engine);
	match(7, 0);
	assert_int_equal(task_count(tasks), 0);
	match(7, 5);
	match(8, 1ULL << 63);
	match(7, 4);
	assert_int_equal(task_count(tasks), 2);
	assert_int_equal(task_find(tasks, 7)->matched, 4);
	assert_string_equal(task_find(tasks, 7)->comm, "ruled");
	assert_true(task_find(tasks, 8)->matched == 1ULL << 63);
	match(7, 0);
	assert_null(task_find(tasks, 7));
	assert_ptr_equal(task_next(tasks, NULL), task_find(tasks, 8));
}

WORLD_TEST(test_full_table_of_ruled_tasks, NULL)
{
	const struct task_table *tasks;
	struct policy policy;

	policy_init(&policy);
	policy.max_ruled_tasks = 16;
	world_init(test_topology_usual(2, 2), &policy);
	tasks = engine_tasks(world->engine);
	for (uint32_t pid = 1; pid <= 20; pid++)
		match(pid, 1);
	assert_int_equal(task_count(tasks), 16);
	match(3, 0);
	match(20, 1);
	assert_int_equal(task_find(tasks, 20)->matched, 1);
}

/* A machine without cpufreq is watched all the same. */
TEST(test_no_domains)
{
	struct topology *topology = test_topology_usual(0, 0);
	struct policy policy;
	struct engine *engine;

	policy_init(&policy);
	engine = engine_new(topology, &policy);
	assert_non_null(engine);
	assert_int_equal(engine_next_ns(engine), UINT64_MAX);
	engine_free(engine);
	free(topology);
}

TEST(test_free_nothing)
{
	assert_null(engine_free(NULL));
}
