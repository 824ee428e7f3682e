// SPDX-License-Identifier: GPL-2.0-only
/* The I/O boost where a task moves from one domain to another, or its interrupts are elsewhere. */
#include "test-core-boosts.h"

static void test_goes_with_task(void **state)
{
	const struct fake_io io = TENTH;
	struct world world;

	boosts_start(&world, NULL);
	boosts_start_confirmed(&world, 0, 0, &io);
	boosts_run(&world, 200 * NS_PER_MS);
	world.devices[0].completion_cpu = 3;
	world_move_task(&world, 0, 3);
	/* At once, without a ramp or a check; and its old home does not keep it. */
	boosts_assert_state(&world, 0, IO_BOOST_CONFIRMED);
	boosts_assert_target(&world, 1, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(&world, 1)->cpu, 3);
	boosts_assert_target(&world, 0, LOWEST_KHZ, REASON_IDLE);
	boosts_run(&world, 5 * NS_PER_S);
	assert_int_equal(boosts_device(&world, 0)->check.n_checks, 1);
	assert_int_equal(world.domains[0].changes, 3);
	assert_int_equal(world.domains[1].changes, 2);
	world_deinit(&world);
}

static void test_another_task_holds_it(void **state)
{
	const struct fake_io io = TENTH;
	struct world world;

	boosts_start(&world, NULL);
	boosts_start_confirmed(&world, 0, 0, &io);
	boosts_start_confirmed(&world, 1, 1, &io);
	world_move_task(&world, 0, 3);
	boosts_assert_target(&world, 0, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(&world, 0)->pid, 101);
	boosts_assert_target(&world, 1, 2200000, REASON_IO_BOOST);
	assert_int_equal(world_last(&world, 1)->pid, 100);
	world_deinit(&world);
}

/* The ratio is the task's, the OPP the domain's: half the capacity, twice the host time. */
static void test_capacities_differ(void **state)
{
	const struct fake_io io = boosts_sync_io(0, 96, 4);
	struct topology *topology = test_topology_usual(2, 2);
	struct policy policy;
	struct world world;

	policy_init(&policy);
	topology->domains[1].capacity = 512;
	world_init(&world, topology, &policy);
	world.devices[0].completion_cpu = 2;
	world_round(&world);
	boosts_run(&world, 10 * NS_PER_MS);
	boosts_start_confirmed(&world, 0, 2, &io);
	/* 96 + 8 at 2.4 GHz; with 1.5 % more 9.56: from 2.01 GHz on. */
	boosts_assert_target(&world, 1, 2200000, REASON_IO_BOOST);
	boosts_run(&world, 200 * NS_PER_MS);
	world.devices[0].completion_cpu = 0;
	world_move_task(&world, 0, 0);
	/* 96 + 4; with 1.5 % more 5.52: from 1.74 GHz on. */
	boosts_assert_target(&world, 0, 1800000, REASON_IO_BOOST);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	boosts_run(&world, 5 * NS_PER_S);
	boosts_assert_target(&world, 0, 1800000, REASON_IO_BOOST);
	assert_int_equal(boosts_device(&world, 0)->check.n_checks, 1);
	world_deinit(&world);
}

/* To and fro every 20 ms: both are held, and neither goes up and down with it. */
static void test_flips(void **state)
{
	const struct fake_io io = TENTH;
	uint64_t changes[2];
	struct world world;

	boosts_start(&world, NULL);
	boosts_start_confirmed(&world, 0, 0, &io);
	for (uint32_t i = 0; i < 10; i++) {
		boosts_run(&world, 20 * NS_PER_MS);
		world_move_task(&world, 0, i % 2 ? 0 : 3);
	}
	changes[0] = world.domains[0].changes;
	changes[1] = world.domains[1].changes;
	for (uint32_t i = 0; i < 500; i++) {
		boosts_run(&world, 20 * NS_PER_MS);
		world_move_task(&world, 0, i % 2 ? 0 : 3);
		boosts_assert_state(&world, 0, IO_BOOST_CONFIRMED);
	}
	assert_in_range(world.domains[0].changes - changes[0], 0, 5);
	assert_in_range(world.domains[1].changes - changes[1], 0, 5);
	boosts_assert_target(&world, 0, 2200000, REASON_IO_BOOST);
	boosts_assert_target(&world, 1, 2200000, REASON_IO_BOOST);

	/* It stays in domain 0 in the end: 1 is let go, and no more is heard of it. */
	boosts_run(&world, 300 * NS_PER_MS);
	boosts_assert_target(&world, 0, 2200000, REASON_IO_BOOST);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	world_deinit(&world);
}

/* While it flips before anything is known, a check comes to its end all the same. */
static void test_flips_from_the_start(void **state)
{
	const struct fake_io io = TENTH;
	struct world world;

	boosts_start(&world, NULL);
	world_start_io(&world, 0, 100, 0, &io);
	for (uint32_t i = 0; i < 200; i++) {
		boosts_run(&world, 20 * NS_PER_MS);
		world_move_task(&world, 0, i % 2 ? 0 : 3);
	}
	boosts_assert_state(&world, 0, IO_BOOST_CONFIRMED);
	assert_in_range(world.domains[0].changes, 2, 9);
	assert_in_range(world.domains[1].changes, 2, 9);
	world_deinit(&world);
}

/* One that dies while it flips is held on neither side. */
static void test_flips_and_dies(void **state)
{
	const struct fake_io io = TENTH;
	struct world world;

	boosts_start(&world, NULL);
	boosts_start_confirmed(&world, 0, 0, &io);
	for (uint32_t i = 0; i < 10; i++) {
		boosts_run(&world, 20 * NS_PER_MS);
		world_move_task(&world, 0, i % 2 ? 0 : 3);
	}
	boosts_run(&world, 5 * NS_PER_MS);
	world_end_task(&world, 0);
	world_round(&world);
	boosts_assert_target(&world, 0, LOWEST_KHZ, REASON_IDLE);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	world_deinit(&world);
}

/* A task on CPU 0, completions on CPU 2 that take interrupt_us at the highest level. */
static void start_interrupts(struct world *world, uint64_t interrupt_us)
{
	struct fake_io io = boosts_sync_io(0, 60, 20);

	io.interrupt_work = interrupt_us * NS_PER_US * IO_LEVEL_MAX;
	boosts_start(world, NULL);
	world->devices[0].completion_cpu = 2;
	boosts_start_confirmed(world, 0, 0, &io);
}

static void test_interrupt_domain_pays(void **state)
{
	struct world world;
	uint64_t changes;

	start_interrupts(&world, 20);
	assert_int_equal(world_last(&world, 1)->target_khz, LOWEST_KHZ);
	boosts_run(&world, 3 * NS_PER_S);
	assert_int_equal(boosts_device(&world, 0)->interrupt_check.state, IO_CHECK_PAID);
	boosts_assert_target(&world, 1, HIGHEST_KHZ, REASON_INTERRUPT);
	assert_int_equal(world_last(&world, 1)->cpu, 2);
	assert_int_equal(world_last(&world, 1)->pid, 0);
	boosts_assert_state(&world, 0, IO_BOOST_CONFIRMED);
	changes = world.domains[1].changes;
	boosts_run(&world, 10 * NS_PER_S);
	assert_int_equal(world.domains[1].changes, changes);
	boosts_assert_target(&world, 1, HIGHEST_KHZ, REASON_INTERRUPT);

	/* It ends with the task's. */
	world_stop_io(&world, 0);
	boosts_run(&world, NS_PER_S);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	assert_int_equal(engine_next_ns(world.engine), UINT64_MAX);
	world_deinit(&world);
}

static void test_interrupt_domain_in_vain(void **state)
{
	struct world world;

	start_interrupts(&world, 0);
	boosts_run(&world, 3 * NS_PER_S);
	assert_true(boosts_device(&world, 0)->interrupt_check.n_checks >= 1);
	assert_int_equal(boosts_device(&world, 0)->interrupt_check.state, IO_CHECK_UNPAID);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	boosts_assert_target(&world, 0, HIGHEST_KHZ, REASON_IO_BOOST);
	world_deinit(&world);
}

/* Completions come to the task's own domain: there is nothing to ask, and nothing to keep. */
static void test_interrupt_moves(void **state)
{
	struct world world;

	start_interrupts(&world, 20);
	boosts_run(&world, 3 * NS_PER_S);
	boosts_assert_target(&world, 1, HIGHEST_KHZ, REASON_INTERRUPT);
	world.devices[0].completion_cpu = 1;
	boosts_run(&world, 2 * NS_PER_S);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	assert_int_equal(boosts_device(&world, 0)->interrupt_domain, IO_DEVICE_NO_DOMAIN);
	/* Now here, now there: not steady enough to ask. */
	for (int i = 0; i < 400; i++) {
		world.devices[0].completion_cpu = i % 2 ? 1 : 2;
		boosts_run(&world, 10 * NS_PER_MS);
		boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	}
	world_deinit(&world);
}

/* Not in a domain that nobody drives, and not on a CPU that has none. */
static void test_interrupt_where_nothing_is_written(void **state)
{
	struct world world;

	start_interrupts(&world, 20);
	world.domains[1].observed = true;
	world_set_active(&world, 1, true);
	boosts_run(&world, 3 * NS_PER_S);
	assert_int_equal(boosts_device(&world, 0)->interrupt_check.n_checks, 0);
	boosts_assert_target(&world, 1, LOWEST_KHZ, REASON_IDLE);
	world_deinit(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_with_task),
		cmocka_unit_test(test_another_task_holds_it),
		cmocka_unit_test(test_capacities_differ),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_flips_from_the_start),
		cmocka_unit_test(test_flips_and_dies),
		cmocka_unit_test(test_interrupt_domain_pays),
		cmocka_unit_test(test_interrupt_domain_in_vain),
		cmocka_unit_test(test_interrupt_moves),
		cmocka_unit_test(test_interrupt_where_nothing_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
