// SPDX-License-Identifier: GPL-2.0-only
/* When the tasks of a group are kept to caches, and when these are let go. Two of two CPUs. */
#include "test-core.h"

#include <string.h>

#include "core/placement.h"

#define CPU_NS PLACEMENT_LOOK_NS /* of one CPU in one window */

struct world {
	struct placement placement;
	struct placement_machine machine;
	struct placement_counts counts;
	uint64_t now_ns;
};

static void set_up(struct world *world)
{
	*world = (struct world){
		.machine = { .n_caches = 2, .caches = { { 2, 0 }, { 2, 0 } } },
		.now_ns = 7 * PLACEMENT_LOOK_NS,
	};
	placement_init(&world->placement, 1);
}

static bool look(struct world *world)
{
	return placement_look(&world->placement, &world->machine, &world->counts, world->now_ns);
}

/* A window in which the group and others run, in eighths of a CPU, and it wakes n times. */
static bool pass(struct world *world, uint32_t cache, uint32_t own, uint32_t others, uint32_t n,
		 uint64_t latency_ns)
{
	world->now_ns += PLACEMENT_LOOK_NS;
	world->counts.run_ns += own * CPU_NS / 8;
	world->machine.caches[cache].busy_ns += (own + others) * CPU_NS / 8;
	world->counts.latencies[wakegov_latency_bucket(latency_ns)] += n;
	return look(world);
}

/* Each number is in the bucket whose end is above it, and whose predecessor's is not. */
static void test_latency_buckets(void **state)
{
	for (uint64_t ns = 1; ns < 10000000000ULL; ns += ns / 7 + 1) {
		uint32_t bucket = wakegov_latency_bucket(ns);

		assert_true(ns < wakegov_latency_end_ns(bucket));
		assert_true(!bucket || ns >= wakegov_latency_end_ns(bucket - 1));
	}
	assert_int_equal(wakegov_latency_bucket(UINT64_MAX), WAKEGOV_LATENCIES - 1);
}

/* At first each cache with CPUs; at the same moment, without any window. */
static void test_begins_at_once(void **state)
{
	struct world world;

	set_up(&world);
	world.machine.caches[0].busy_ns = 5 * CPU_NS;
	assert_true(look(&world));
	assert_int_equal(world.placement.held, 3);
	assert_int_equal(world.placement.why, PLACEMENT_HOLDS);
}

/* Full: let go at once; held again after a second, then after two, four, … */
static void test_full_backs_off(void **state)
{
	struct world world;

	set_up(&world);
	look(&world);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t let_go_ns = world.now_ns;

		assert_false(placement_full(&world.placement, 2, world.now_ns));
		assert_true(placement_full(&world.placement, 0, world.now_ns));
		assert_int_equal(world.placement.held, 2);
		assert_int_equal(world.placement.why, PLACEMENT_FULL);
		assert_false(placement_full(&world.placement, 0, world.now_ns));
		while (!placement_holds(&world.placement, 0))
			pass(&world, 0, 1, 0, 0, 0);
		assert_int_equal(world.now_ns - let_go_ns, PLACEMENT_LOOK_NS << i);
	}
	/* What lasted a minute begins anew. */
	for (uint32_t i = 0; i < 61; i++)
		pass(&world, 0, 1, 0, 0, 0);
	placement_full(&world.placement, 0, world.now_ns);
	pass(&world, 0, 1, 0, 0, 0);
	assert_true(placement_holds(&world.placement, 0));
}

/* However it goes, no group gets a cache more often than once a second. */
static void test_moves_once_a_second(void **state)
{
	struct world world;
	uint64_t held_ns = 0;
	uint32_t seed = 1, n_held = 0;

	set_up(&world);
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t before = world.placement.held;

		seed = seed * 1664525 + 1013904223;
		world.now_ns += seed % 400 * 1000000ULL;
		if (seed >> 20 & 1)
			placement_full(&world.placement, seed >> 21 & 1, world.now_ns);
		world.machine.caches[0].n_cpus = seed >> 24 & 3;
		world.counts.run_ns += seed >> 8;
		world.counts.work += seed >> 26;
		look(&world);
		if (!(world.placement.held & ~before))
			continue;
		assert_true(!held_ns || world.now_ns - held_ns >= PLACEMENT_LOOK_NS);
		held_ns = world.now_ns;
		n_held++;
	}
	assert_in_range(n_held, 10, 10000);
}

/* Where the waits without a placement are known, twice these lets go. */
static void test_slower_than_without(void **state)
{
	struct world world;

	set_up(&world);
	look(&world);
	placement_full(&world.placement, 0, world.now_ns);
	placement_full(&world.placement, 1, world.now_ns);
	/* The window in which that was says nothing; the next one does. */
	pass(&world, 0, 2, 0, 1000, 50000);
	assert_int_equal(placement_p99_ns(&world.placement, false), 0);
	pass(&world, 0, 2, 0, 1000, 50000);
	assert_in_range(placement_p99_ns(&world.placement, false), 50000, 62500);
	assert_int_equal(world.placement.held, 3);
	pass(&world, 0, 2, 0, 1000, 80000);
	pass(&world, 0, 2, 0, 1000, 80000);
	assert_int_equal(world.placement.held, 3);
	pass(&world, 0, 2, 0, 1000, 100000);
	assert_int_equal(world.placement.held, 0);
	assert_int_equal(world.placement.why, PLACEMENT_SLOWER);
}

/* Else a p99 that doubles lets go; what is less can be chance. */
static void test_doubling(void **state)
{
	struct world world;

	set_up(&world);
	look(&world);
	for (uint32_t us = 50; us < 300; us += us / 2) {
		pass(&world, 0, 2, 0, 1000, us * NS_PER_US);
		assert_int_equal(world.placement.held, 3);
	}
	pass(&world, 0, 2, 0, 1000, 600 * NS_PER_US);
	assert_int_equal(world.placement.held, 0);
	assert_int_equal(world.placement.why, PLACEMENT_SLOWER);
}

/* Few wake-ups are waited for; one of a hundred that is long is not the p99, two are. */
static void test_quantile(void **state)
{
	struct world world;

	set_up(&world);
	look(&world);
	pass(&world, 0, 2, 0, 100, 50000); /* of the window in which it was placed */
	for (uint32_t i = 0; i < 3; i++)
		pass(&world, 0, 2, 0, 50, 50000);
	assert_int_equal(placement_p99_ns(&world.placement, true), 0);
	pass(&world, 0, 2, 0, 100, 50000);
	assert_in_range(placement_p99_ns(&world.placement, true), 50000, 62500);
	world.counts.latencies[wakegov_latency_bucket(90000)] += 2;
	pass(&world, 0, 2, 0, 198, 50000);
	assert_in_range(placement_p99_ns(&world.placement, true), 50000, 62500);
	world.counts.latencies[wakegov_latency_bucket(90000)] += 3;
	pass(&world, 0, 2, 0, 197, 50000);
	assert_in_range(placement_p99_ns(&world.placement, true), 90000, 115000);
}

/* All CPUs of the cache offline: let go at once, whatever the time. */
static void test_offline(void **state)
{
	struct world world;

	set_up(&world);
	look(&world);
	world.machine.caches[0].n_cpus = 1;
	world.now_ns += 1000;
	assert_false(look(&world));
	world.machine.caches[0].n_cpus = 0;
	world.now_ns += 1000;
	assert_true(look(&world));
	assert_int_equal(world.placement.why, PLACEMENT_OFFLINE);
	assert_int_equal(world.placement.held, 2);
	pass(&world, 1, 2, 0, 0, 0);
	assert_int_equal(world.placement.held, 2);
	world.machine.caches[0].n_cpus = 1;
	pass(&world, 1, 2, 0, 0, 0);
	assert_int_equal(world.placement.held, 3);
}

/* Each cache is for itself, and one that works three quarters of its time is not tried again. */
static void test_each_cache(void **state)
{
	struct world world;

	set_up(&world);
	look(&world);
	assert_true(placement_full(&world.placement, 1, world.now_ns));
	assert_int_equal(world.placement.held, 1);
	pass(&world, 1, 6, 7, 0, 0);
	pass(&world, 1, 6, 7, 0, 0);
	assert_int_equal(world.placement.held, 1);
	pass(&world, 1, 5, 7, 0, 0);
	assert_int_equal(world.placement.held, 3);
}

/* Runs for so many seconds. While the tasks are kept they work at this percentage. */
static void work(struct world *world, uint32_t seconds, uint32_t percent,
		 struct test_random *random)
{
	uint64_t end_ns = world->now_ns + seconds * NS_PER_S;

	while (world->now_ns < end_ns) {
		uint64_t next_ns = placement_next_ns(&world->placement), passed_ns;
		uint32_t done = world->placement.held ? percent : 100;

		if (next_ns <= world->now_ns)
			next_ns = world->now_ns + NS_PER_MS;
		passed_ns = next_ns - world->now_ns;
		world->now_ns = next_ns;
		world->counts.run_ns += passed_ns;
		world->machine.caches[0].busy_ns += passed_ns;
		world->counts.work += passed_ns / NS_PER_MS * done *
				      (95 + test_random_below(random, 11)) / 100 / 10;
		look(world);
	}
}

/* How often of a hundred looks in so many seconds the tasks were kept. */
static uint32_t percent_kept(struct world *world, uint32_t seconds, uint32_t percent,
			     struct test_random *random)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < seconds; i++) {
		work(world, 1, percent, random);
		kept += !!world->placement.held;
	}
	return kept * 100 / seconds;
}

/* A placement that loses is let go, and stays so; a change for the better is seen. */
static void test_loses(void **state)
{
	struct test_random random = { 7 };
	struct experiment_estimate without;
	struct world world;

	set_up(&world);
	look(&world);
	work(&world, 9, 80, &random);
	assert_false(placement_tested(&world.placement, &without));
	assert_int_equal(percent_kept(&world, 1, 80, &random), 100);
	work(&world, 90, 80, &random);
	assert_true(placement_tested(&world.placement, &without));
	assert_int_equal(world.placement.why, PLACEMENT_LOSES);
	assert_in_range(without.gain_ppm, 200000, 300000);
	assert_in_range(percent_kept(&world, 1000, 80, &random), 0, 2);
	work(&world, 1500, 125, &random);
	assert_in_range(percent_kept(&world, 300, 125, &random), 95, 100);
}

/* What gains, and what is neither better nor worse, stays as it was asked for. */
static void test_is_kept(void **state)
{
	static const uint32_t percents[] = { 130, 100 };

	for (uint32_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		struct test_random random = { 7 };
		struct experiment_estimate without;
		struct world world;

		set_up(&world);
		look(&world);
		work(&world, 300, percents[i], &random);
		assert_true(placement_tested(&world.placement, &without));
		assert_in_range(percent_kept(&world, 1000, percents[i], &random), 97, 100);
	}
}

/* Tasks without bursts have nothing to count: they are kept, and not compared. */
static void test_nothing_to_count(void **state)
{
	struct world world;

	set_up(&world);
	look(&world);
	for (uint32_t i = 0; i < 100; i++) {
		pass(&world, 0, 8, 0, 0, 0);
		assert_true(placement_holds(&world.placement, 0));
	}
}

/* Caches that are full end the comparison, and are not tried before their time. */
static void test_full_while_compared(void **state)
{
	struct test_random random = { 7 };
	struct world world;

	set_up(&world);
	look(&world);
	work(&world, 10, 100, &random);
	while (world.placement.experiment.verdict != EXPERIMENT_OPEN || !world.placement.held)
		work(&world, 1, 100, &random);
	assert_true(placement_full(&world.placement, 0, world.now_ns));
	assert_true(placement_full(&world.placement, 1, world.now_ns));
	look(&world);
	assert_int_equal(world.placement.experiment.window, 0);
	assert_int_equal(world.placement.held, 0);
	world.now_ns += PLACEMENT_LOOK_NS / 2;
	look(&world);
	assert_int_equal(world.placement.held, 0);
	work(&world, 300, 100, &random);
	assert_int_equal(world.placement.held, 3);
}

/*
 * Groups of five minutes, and what came of them to the last count: each constant and condition
 * shows in some number. A row that has changed is printed as it is now: look at what it says before
 * it is written here.
 */
struct outcome {
	uint32_t changes, kept_s[2];
	uint32_t why[PLACEMENT_LOSES + 1]; /* at so many looks */
	uint32_t p99_us[2], tried;
	int32_t gain_ppm;
	uint32_t back_off_s;
};

struct row {
	const char *what;
	uint32_t own[2], others[2];	     /* eighths of a CPU, in each cache */
	uint32_t wait_us, wait_us_kept;	     /* after wake-ups */
	uint32_t wakeups, percent;	     /* of each quarter second; work while kept */
	uint32_t full_every_s, offline_at_s; /* the first cache */
	struct outcome is;
};

/* A quarter of a second. */
static void pass_quarter(struct world *world, const struct row *row, struct test_random *random)
{
	uint64_t quarter_ns = NS_PER_S / 4, held = world->placement.held;
	uint32_t done = held ? row->percent : 100;

	world->now_ns += quarter_ns;
	for (uint32_t i = 0; i < 2; i++) {
		world->counts.run_ns += quarter_ns * row->own[i] / 8;
		world->machine.caches[i].busy_ns += quarter_ns * (row->own[i] + row->others[i]) / 8;
	}
	world->counts.wait_ns += quarter_ns / 16;
	world->counts.work += test_random_below(random, 11) + 2 * done;
	for (uint32_t i = 0; i < row->wakeups; i++) {
		uint64_t us = held ? row->wait_us_kept : row->wait_us;

		us += test_random_below(random, us / 2 + 1);
		world->counts.latencies[wakegov_latency_bucket(us * NS_PER_US)]++;
	}
}

static bool run_row(const struct row *row)
{
	struct test_random random = { 9 };
	struct experiment_estimate found;
	struct outcome is = { 0 };
	struct world world;

	set_up(&world);
	look(&world);
	for (uint32_t i = 1; i <= 1200; i++) {
		world.machine.caches[0].n_cpus =
			row->offline_at_s && i / 4 >= row->offline_at_s && i / 4 < 250 ? 0 : 2;
		pass_quarter(&world, row, &random);
		if (row->full_every_s && i % (4 * row->full_every_s) == 0)
			is.changes += placement_full(&world.placement, 0, world.now_ns);
		is.changes += look(&world);
		is.why[world.placement.why]++;
		for (uint32_t j = 0; j < 2; j++)
			is.kept_s[j] += placement_holds(&world.placement, j);
	}
	for (uint32_t j = 0; j < 2; j++) {
		is.kept_s[j] /= 4;
		is.p99_us[j] = placement_p99_ns(&world.placement, j) / NS_PER_US;
	}
	placement_tested(&world.placement, &found);
	is.tried = world.placement.experiment.tried;
	is.gain_ppm = found.gain_ppm;
	is.back_off_s = world.placement.back_off_ns / NS_PER_S;
	if (!memcmp(&is, &row->is, sizeof(is)))
		return true;
	print_message("%s: { %u, { %u, %u }, { ", row->what, is.changes, is.kept_s[0],
		      is.kept_s[1]);
	for (uint32_t i = 0; i <= PLACEMENT_LOSES; i++)
		print_message("%s%u", i ? ", " : "", is.why[i]);
	print_message(" }, { %u, %u }, %u, %d, %u }\n", is.p99_us[0], is.p99_us[1], is.tried,
		      is.gain_ppm, is.back_off_s);
	return false;
}

static void test_exact(void **state)
{
	/*
	 * what, own, others, wait, wait while kept, wake-ups, work while kept, full every, offline
	 * at, and of it: changes, kept, why, p99, tried, gain, back-off
	 */
	/* clang-format off */
	static const struct row rows[] = {
		{ "kept", { 4, 2 }, { 0, 0 }, 50, 50, 100, 110, 0, 0,
		  { 22, { 280, 280 }, { 0, 1121, 0, 0, 0, 79, 0 }, { 81, 81 }, 13, -90799, 1 } },
		{ "loses", { 4, 2 }, { 0, 0 }, 50, 50, 100, 80, 0, 0,
		  { 23, { 29, 29 }, { 0, 118, 0, 0, 0, 80, 1002 }, { 81, 81 }, 13, 220015, 1 } },
		{ "full", { 4, 2 }, { 0, 0 }, 50, 50, 100, 100, 7, 0,
		  { 36, { 56, 281 }, { 0, 233, 893, 0, 0, 74, 0 }, { 81, 81 }, 12, -1384, 64 } },
		{ "full seldom", { 4, 2 }, { 0, 0 }, 50, 50, 100, 100, 61, 0,
		  { 36, { 271, 275 }, { 0, 1085, 16, 0, 0, 99, 0 }, { 81, 81 }, 16, 420, 2 } },
		{ "offline", { 4, 2 }, { 0, 0 }, 50, 50, 100, 100, 0, 50,
		  { 29, { 80, 275 }, { 0, 1101, 0, 0, 0, 99, 0 }, { 81, 81 }, 16, 420, 2 } },
		{ "waits", { 4, 4 }, { 0, 0 }, 50, 130, 100, 100, 0, 90,
		  { 35, { 31, 37 }, { 0, 149, 0, 957, 0, 94, 0 }, { 81, 196 }, 14, 2207, 64 } },
		{ "waits for less than twice", { 4, 4 }, { 0, 0 }, 50, 70, 100, 100, 0, 90,
		  { 30, { 115, 275 }, { 0, 461, 0, 0, 640, 99, 0 }, { 81, 114 }, 16, 420, 2 } },
		{ "few wake-ups", { 4, 4 }, { 0, 0 }, 50, 130, 9, 100, 0, 90,
		  { 30, { 114, 274 }, { 0, 459, 0, 0, 640, 101, 0 }, { 0, 196 }, 16, -1950, 2 } },
		{ "beside others", { 6, 6 }, { 6, 7 }, 50, 50, 100, 100, 0, 0,
		  { 28, { 275, 275 }, { 0, 1101, 0, 0, 0, 99, 0 }, { 81, 81 }, 16, 420, 1 } },
		{ "beside others, full", { 6, 6 }, { 6, 7 }, 50, 50, 100, 100, 20, 0,
		  { 42, { 108, 275 }, { 0, 432, 669, 0, 0, 99, 0 }, { 81, 81 }, 16, 420, 64 } },
		{ "no room, full", { 6, 6 }, { 7, 7 }, 50, 50, 100, 100, 20, 0,
		  { 29, { 24, 275 }, { 0, 1097, 4, 0, 0, 99, 0 }, { 81, 81 }, 16, 420, 2 } },
	};
	/* clang-format on */
	bool is_same = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_same &= run_row(&rows[i]);
	assert_true(is_same);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_buckets),
		cmocka_unit_test(test_begins_at_once),
		cmocka_unit_test(test_full_backs_off),
		cmocka_unit_test(test_moves_once_a_second),
		cmocka_unit_test(test_slower_than_without),
		cmocka_unit_test(test_doubling),
		cmocka_unit_test(test_quantile),
		cmocka_unit_test(test_offline),
		cmocka_unit_test(test_each_cache),
		cmocka_unit_test(test_loses),
		cmocka_unit_test(test_is_kept),
		cmocka_unit_test(test_nothing_to_count),
		cmocka_unit_test(test_full_while_compared),
		cmocka_unit_test(test_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
