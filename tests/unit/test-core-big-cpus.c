// SPDX-License-Identifier: GPL-2.0-only
/* Who asks for a big CPU, where CPUs are of unlike capacity and domains are driven by clamps. */
#include "test-core-clamping.h"

/* The CPU runs with this utilisation for a while. */
static void keep_busy(uint32_t cpu, uint32_t util_cap)
{
	world_switch(cpu, util_cap);
	for (uint32_t i = 0; i < 50; i++) {
		world->cpus[cpu].load.util_q = DECAY_Q(util_cap);
		world_apply(&(struct input){
			.now_ns = world->now_ns,
			.type = INPUT_CPU,
			.cpu = { .cpu = cpu, .running = util_cap, .util_q = DECAY_Q(util_cap) },
		});
		world_round();
		boosts_run(2 * NS_PER_MS);
	}
}

/* A domain of big CPUs and others of little ones, driven by clamps. */
static void init_domains(uint32_t n_domains, uint32_t n_cpus)
{
	struct topology *topology = test_topology_usual(n_domains, n_cpus);
	struct policy policy;

	policy_init(&policy);
	for (uint32_t i = 1; i < n_domains; i++)
		topology->domains[i].capacity = 400;
	world_init(topology, &policy);
	world_round();
	drive(true);
}

static int init_unlike(void **state)
{
	init_domains(2, 2);
	return 0;
}

/*
 * On CPUs of unlike capacity a maximum can leave tasks several to a little CPU: there is none where
 * one of these could not do all that the machine does.
 */
WORLD_TEST(test_need_beside_little_cpus, init_unlike)
{
	struct fake_io io = boosts_io(FAKE_IO_DEEP, 0, 100, 5);
	struct task_clamp clamp;

	world->domains[0].kernel_khz = HIGHEST_KHZ;
	world_start_io(0, 100, 0, &io);
	boosts_run_to(0, IO_BOOST_DOESNT_PAY, 3 * NS_PER_S);
	find_last(100, &clamp);
	assert_string_equal(clamp_why_names[clamp.max_why], "need");
	keep_busy(2, 380);
	assert_in_range(world_last(0)->target_khz, LOWEST_KHZ, HIGHEST_KHZ - 1);
	find_last(100, &clamp);
	assert_int_equal(clamp.max_cap, CLAMP_MAX_NONE);
	keep_busy(2, 0);
	boosts_run(300 * NS_PER_MS);
	find_last(100, &clamp);
	assert_string_equal(clamp_why_names[clamp.max_why], "need");
}

/* As the scheduler does: a minimum above the capacity of a little CPU moves the task to a big one.
 */
static void place_by_minimum(uint32_t *min_cap)
{
	struct task_clamp clamp;
	uint32_t cpu;

	while (engine_pop_clamp(world->engine, &clamp))
		*min_cap = clamp.min_cap;
	cpu = *min_cap > world->topology->domains[1].capacity ? 0 : 2;
	if (world_task(0)->cpu == cpu)
		return;
	world->devices[0].completion_cpu = cpu;
	world_move_task(0, cpu);
}

/*
 * A reader on a little CPU that would gain more on a big one asks for what that one is to have. The
 * experiment follows it to and fro, and is one.
 */
WORLD_TEST(test_boost_moves_to_big_cpu, init_unlike)
{
	uint32_t min_cap = CLAMP_MIN_NONE, n_moves = 0, cpu = 2;

	world->devices[0].completion_cpu = cpu;
	world_start_io(0, 100, cpu, &TENTH);
	for (uint32_t ms = 0; ms < 3000; ms++) {
		boosts_run(NS_PER_MS);
		place_by_minimum(&min_cap);
		n_moves += world_task(0)->cpu != cpu;
		cpu = world_task(0)->cpu;
	}
	boosts_assert_state(0, IO_BOOST_PAYS);
	assert_int_equal(cpu, 0);
	assert_int_equal(min_cap, opp_cap_at_khz(&world->topology->domains[0], 2200000));
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
	assert_in_range(n_moves, 5, 100);
	assert_false(engine_group(world->engine, 1)->used);
}

static uint32_t min_cap_of(uint32_t pid)
{
	const struct task *task = task_find(engine_tasks(world->engine), pid);
	struct task_clamp clamp;

	if (!task)
		return CLAMP_MIN_NONE;
	engine_clamp_of_task(world->engine, task, &clamp);
	return clamp.min_cap;
}

/* How many of five readers with this much work on the host ask for one of two big CPUs. */
static uint32_t count_asking(uint64_t host_us)
{
	const struct fake_io io = boosts_sync_io(0, 100 - host_us, host_us);
	uint32_t n = 0;

	init_unlike(NULL);
	for (uint32_t i = 0; i < 5; i++)
		world_start_io(i, 100 + i, i % 4, &io);
	boosts_run_to(0, IO_BOOST_PAYS, 3 * NS_PER_S);
	for (uint32_t i = 0; i < 5; i++) {
		assert_in_range(min_cap_of(100 + i), 400, CLAMP_MAX_NONE);
		n += min_cap_of(100 + i) > 400;
	}
	world_deinit();
	return n;
}

/* As many as there are, and more of those that leave them idle for half of the time. */
TEST(test_boosts_share_big_cpus)
{
	assert_int_equal(count_asking(50), 2);
	assert_int_equal(count_asking(30), 3);
	assert_int_equal(count_asking(10), 5);
}

/* A task with I/O asks for a big CPU when a little one has more to do than fits there. */
WORLD_TEST(test_outgrown, init_unlike)
{
	const struct fake_io io = boosts_io(FAKE_IO_DEEP, 0, 100, 5);
	uint32_t spare;

	world_start_io(0, 100, 2, &io);
	world_switch(2, 300);
	boosts_run(60 * NS_PER_MS);
	assert_in_range(min_cap_of(100), CLAMP_MIN_NONE, 400);
	assert_int_equal(engine_find_stranded(world->engine, &spare), 0);
	keep_busy(2, 380);
	assert_int_equal(engine_find_stranded(world->engine, &spare), 100);
	assert_int_equal(spare, 1);
	assert_int_equal(min_cap_of(100), 502); /* of which schedutil's margin leaves 401 */
	/* On a big CPU the same, until it has less to do. */
	world_move_task(0, 0);
	keep_busy(0, 600);
	assert_int_equal(min_cap_of(100), 502);
	assert_int_equal(engine_find_stranded(world->engine, &spare), 0);
	keep_busy(0, 200);
	assert_in_range(min_cap_of(100), CLAMP_MIN_NONE, 400);
}

/* Who has a big CPU and still asks for it keeps it, whoever is tried there. */
WORLD_TEST(test_kept, init_unlike)
{
	const struct fake_io deep = boosts_io(FAKE_IO_DEEP, 0, 100, 5), reader = TENTH;

	world_start_io(0, 103, 2, &deep);
	for (uint32_t i = 1; i <= 2; i++) {
		world_start_io(i, 100 + i, i - 1, &deep);
		keep_busy(i - 1, 600);
	}
	world_end_task(0);
	world_start_io(0, 100, 2, &reader); /* it is the first of the table */
	for (uint32_t ms = 0; ms < 1000; ms++) {
		boosts_run(NS_PER_MS);
		assert_int_equal(min_cap_of(101), 502);
		assert_int_equal(min_cap_of(102), 502);
	}
	boosts_assert_state(0, IO_BOOST_PAYS);
}

/* A big CPU to which tasks could be moved: a little one could do what it does. */
WORLD_TEST(test_spare, init_unlike)
{
	assert_true(engine_is_spare(world->engine, 1, 1024 * 30 / 100));
	assert_false(engine_is_spare(world->engine, 1, 1024 * 40 / 100));
	assert_false(engine_is_spare(world->engine, 2, 0));
	/* By other means none is moved. */
	drive(false);
	assert_false(engine_is_spare(world->engine, 1, 0));
}

/* Two tasks work on the CPU in turn; together they take this much of one. */
static void see_chain(uint32_t cpu, uint32_t pid, uint32_t waker, uint32_t cap)
{
	world->cpus[cpu].chain = (struct input_chain){ DECAY_Q(cap), pid, waker, world->now_ns };
	world_apply(&(struct input){
		.now_ns = world->now_ns,
		.type = INPUT_CPU,
		.cpu = { .cpu = cpu, .chain = world->cpus[cpu].chain },
	});
	world_round();
	boosts_run(10 * NS_PER_MS);
}

/* A chain that fits no little CPU is on a big one, with each of its tasks, as long as it works. */
WORLD_TEST(test_chain_moves_to_big_cpu, init_unlike)
{
	see_chain(2, 100, 101, 300);
	assert_int_equal(min_cap_of(100), CLAMP_MIN_NONE);
	see_chain(2, 100, 101, 330);
	assert_int_equal(min_cap_of(100), 502); /* of which schedutil's margin leaves 401 */
	assert_int_equal(min_cap_of(101), 502);
	see_chain(2, 101, 100, 1024);
	assert_int_equal(min_cap_of(100), CLAMP_MAX_NONE);
	assert_int_equal(min_cap_of(101), CLAMP_MAX_NONE);
	/* It has moved, and is still known where it was. */
	see_chain(0, 100, 101, 1024);
	boosts_run(NS_PER_S);
	assert_int_equal(min_cap_of(100), CLAMP_MIN_NONE);
	assert_int_equal(min_cap_of(101), CLAMP_MIN_NONE);
	assert_false(engine_pop_clamp(world->engine, &(struct task_clamp){ 0 }));
	assert_int_equal(task_count(engine_tasks(world->engine)), 0);
}

/* Each takes a big CPU, and there is one. */
WORLD_TEST(test_chains_share_big_cpus, NULL)
{
	uint32_t n = 0;

	init_domains(4, 1);
	for (uint32_t cpu = 1; cpu < 4; cpu++)
		see_chain(cpu, 100 * cpu, 100 * cpu + 1, 1024);
	for (uint32_t cpu = 1; cpu < 4; cpu++)
		n += min_cap_of(100 * cpu) > 400;
	assert_int_equal(n, 1);
	/* It stays the same one where it has moved. */
	assert_in_range(min_cap_of(100), 401, CLAMP_MAX_NONE);
	see_chain(0, 101, 100, 1024);
	boosts_run(30 * NS_PER_MS);
	assert_in_range(min_cap_of(100), 401, CLAMP_MAX_NONE);
	/* A domain that is no longer driven asks for nothing. */
	world_set_active(0, false);
	boosts_run(NS_PER_S);
	assert_int_equal(min_cap_of(100), CLAMP_MIN_NONE);
}

/* As many as there are big CPUs, also where they are of one domain. */
WORLD_TEST(test_chains_of_one_domain, init_unlike)
{
	see_chain(2, 200, 201, 1024);
	see_chain(3, 300, 301, 1024);
	for (uint32_t pid = 200; pid <= 300; pid += 100) {
		assert_int_equal(min_cap_of(pid), CLAMP_MAX_NONE);
		assert_int_equal(min_cap_of(pid + 1), CLAMP_MAX_NONE);
	}
}

/* It takes one big CPU, and asks for the most that it needs anywhere. */
WORLD_TEST(test_chain_of_two_cpus, init_unlike)
{
	see_chain(2, 200, 201, 1024);
	see_chain(3, 201, 200, 330);
	assert_int_equal(min_cap_of(200), CLAMP_MAX_NONE);
	see_chain(0, 300, 301, 1024);
	assert_int_equal(min_cap_of(300), CLAMP_MAX_NONE);
	for (uint32_t i = 0; i < 8; i++) /* as it was needed on the first CPU */
		see_chain(3, 201, 200, 330);
	assert_int_equal(min_cap_of(200), 502);
	assert_int_equal(min_cap_of(201), 502);
}
