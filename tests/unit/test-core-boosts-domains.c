// SPDX-License-Identifier: GPL-2.0-only
/* The I/O boost where a task moves from one domain to another. */
#include "config/keys.h"
#include "test-core-boosts.h"

BOOSTS_TEST(test_goes_with_task)
{
	uint64_t changes;

	boosts_start_paying(0, 0, &TENTH);
	boosts_run(200 * NS_PER_MS);
	world->devices[0].completion_cpu = 3;
	world_move_task(0, 3);
	/* At once, without a ramp or a check; and its old home does not keep it. */
	boosts_assert_state(0, IO_BOOST_PAYS);
	boosts_assert_target(1, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(1)->cpu, 3);
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
	/* Its experiment goes on where it is, and leaves the other domain alone. */
	changes = world->domains[0].changes;
	boosts_run(10 * NS_PER_S);
	boosts_assert_state(0, IO_BOOST_PAYS);
	assert_int_equal(world->domains[0].changes, changes);
}

/* A kernel thread ended a wait of task 0 on that CPU, and the kernel side tells of the CPU. */
static void serve(uint32_t cpu)
{
	world->cpus[cpu].served_pid = world->tasks[0].pid;
	world->cpus[cpu].served_ns = world->now_ns;
	engine_mark_due(world->engine, cpu);
	engine_mark_due(world->twin, cpu);
	world_round();
}

/* What ends the task's waits has its boost, as long as it does, and none in a window without. */
BOOSTS_TEST(test_goes_with_kernel_thread)
{
	uint32_t low[2] = { 0 };

	boosts_start_paying(0, 0, &TENTH);
	boosts_run(200 * NS_PER_MS);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
	serve(3);
	boosts_assert_target(1, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(1)->cpu, 3);
	assert_int_equal(world_last(1)->pid, 100);
	for (uint32_t i = 0; i < 2000; i++) {
		world->cpus[3].served_ns = world->now_ns;
		boosts_run(5 * NS_PER_MS);
		for (uint32_t j = 0; j < 2; j++)
			low[j] += world_last(j)->target_khz == LOWEST_KHZ;
	}
	print_message("without the boost: %u and %u of 2000 times\n", low[0], low[1]);
	assert_in_range(low[0], 3, 60);
	assert_in_range(low[1], low[0] - 2, low[0] + 2);
	boosts_run(500 * NS_PER_MS);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
	world_end_task(0);
	serve(3);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
}

/* The task's own CPU is at the highest frequency anyway, that of the kernel thread is not. */
BOOSTS_TEST(test_kernel_thread_is_slow)
{
	world_switch(1, true);
	world_switch(2, true);
	boosts_run(300 * NS_PER_MS);
	world_switch(2, false);
	boosts_run(100 * NS_PER_MS);
	world_start_io(0, 100, 0, &TENTH);
	boosts_run(NS_PER_S);
	boosts_assert_state(0, IO_BOOST_AT_LEVEL);
	world_switch_to(3, true, DECAY_Q(300));
	serve(3);
	boosts_run_to(0, IO_BOOST_TRYING, 20 * NS_PER_MS);
	/* Until it works all the time, and has that frequency by itself. */
	boosts_run(500 * NS_PER_MS);
	boosts_assert_state(0, IO_BOOST_AT_LEVEL);
}

BOOSTS_TEST(test_another_task_holds_it)
{
	boosts_start_paying(0, 0, &TENTH);
	boosts_start_paying(1, 1, &TENTH);
	boosts_run(200 * NS_PER_MS);
	world_move_task(0, 3);
	boosts_assert_target(0, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(0)->pid, 101);
	boosts_assert_target(1, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(1)->pid, 100);
}

/* The ratio is the task's, the OPP the domain's: half the capacity, twice the host time. */
WORLD_TEST(test_capacities_differ, NULL)
{
	const struct fake_io io = boosts_sync_io(0, 96, 4);
	struct topology *topology = test_topology_usual(2, 2);
	struct policy policy;

	policy_init(&policy);
	topology->domains[1].capacity = 512;
	world_init(topology, &policy);
	world->devices[0].completion_cpu = 2;
	world_round();
	boosts_run(10 * NS_PER_MS);
	boosts_start_paying(0, 2, &io);
	boosts_run(20 * NS_PER_MS);
	/* 96 + 8 at 2.4 GHz; with 1 % more 9.05: from 2.12 GHz on. */
	boosts_assert_target(1, 2200000, REASON_IO_BOOST);
	boosts_run(200 * NS_PER_MS);
	world->devices[0].completion_cpu = 0;
	world_move_task(0, 0);
	/* 96 + 4; with 1 % more 5: from 1.92 GHz on. */
	boosts_assert_target(0, 2000000, REASON_IO_BOOST);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
	boosts_run(5 * NS_PER_S);
	boosts_assert_target(0, 2000000, REASON_IO_BOOST);
	boosts_assert_state(0, IO_BOOST_PAYS);
}

/* While it flips before anything is known, a check comes to its end all the same. */
BOOSTS_TEST(test_flips_from_the_start)
{
	world_start_io(0, 100, 0, &TENTH);
	for (uint32_t i = 0; i < 200; i++) {
		boosts_run(20 * NS_PER_MS);
		world_move_task(0, i % 2 ? 0 : 3);
	}
	boosts_assert_state(0, IO_BOOST_PAYS);
	assert_in_range(world->domains[0].changes, 2, 60);
	assert_in_range(world->domains[1].changes, 2, 60);
}

/* One that dies while it flips is held on neither side. */
BOOSTS_TEST(test_flips_and_dies)
{
	boosts_start_paying(0, 0, &TENTH);
	for (uint32_t i = 0; i < 10; i++) {
		boosts_run(20 * NS_PER_MS);
		world_move_task(0, i % 2 ? 0 : 3);
	}
	boosts_run(5 * NS_PER_MS);
	world_end_task(0);
	world_round();
	boosts_assert_target(0, LOWEST_KHZ, REASON_IDLE);
	boosts_assert_target(1, LOWEST_KHZ, REASON_IDLE);
}
