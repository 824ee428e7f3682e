// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/history/past.h"

static struct topology *topology;
static struct stats *stats;

static int set_up(void **state)
{
	topology = calloc(1, sizeof(*topology) + 2 * sizeof(topology->domains[0]));
	topology->n_domains = 2;
	for (int i = 0; i < 2; i++)
		topology->domains[i] = (struct topology_domain){
			.n_opps = 3, .opp_khz = { 400000, 800000, 1200000 }, .capacity = 1024
		};
	stats = stats_new(topology);
	return 0;
}

static int tear_down(void **state)
{
	stats_free(stats);
	free(topology);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static uint64_t ns(uint32_t domain, uint32_t opp)
{
	uint64_t sum = 0;

	for (enum reason reason = 0; reason <= REASON_LAST; reason++)
		sum += stats->domains[domain].ns[opp][reason];
	return sum;
}

static void assert_times(uint32_t domain, uint64_t now_ns, uint64_t first_ns, uint64_t second_ns,
			 uint64_t third_ns)
{
	stats_catch_up(stats, now_ns);
	assert_int_equal(ns(domain, 0), first_ns);
	assert_int_equal(ns(domain, 1), second_ns);
	assert_int_equal(ns(domain, 2), third_ns);
}

FIXTURE_TEST(test_time_goes_to_the_target)
{
	assert_times(0, 1000, 0, 0, 0);
	stats_set_target(stats, 0, 400000, 1000);
	assert_times(0, 1500, 500, 0, 0);
	stats_set_target(stats, 0, 1200000, 2000);
	assert_times(0, 2000, 1000, 0, 0);
	assert_times(0, 2100, 1000, 0, 100);
	stats_set_target(stats, 0, 1200000, 2200);
	assert_times(0, 2300, 1000, 0, 300);
	stats_set_target(stats, 0, 400000, 2300);
	assert_times(0, 2301, 1001, 0, 300);
	assert_times(1, 2301, 0, 0, 0);
}

FIXTURE_TEST(test_no_time_for_what_is_released)
{
	stats_set_target(stats, 1, 800000, 1000);
	stats_set_target(stats, 1, 0, 3000);
	stats_set_target(stats, 1, 0, 4000);
	assert_times(1, 9000, 0, 2000, 0);
	/* Asked for before the last change: not back in time. */
	stats_set_target(stats, 1, 800000, 9000);
	assert_times(1, 8000, 0, 2000, 0);
}

FIXTURE_TEST(test_one_more_opp)
{
	stats_set_target(stats, 0, 1200000, 1000);
	stats_set_target(stats, 1, 400000, 1000);
	stats_catch_up(stats, 1500);
	assert_int_equal(stats_add_opp(stats, 0), 0);
	topology->domains[0].opp_khz[topology->domains[0].n_opps++] = 1600000;
	assert_times(0, 1600, 0, 0, 600);
	assert_times(1, 1600, 600, 0, 0);
	stats_set_target(stats, 0, 1600000, 2000);
	assert_times(0, 2100, 0, 0, 1000);
	assert_int_equal(ns(0, 3), 100);
	assert_times(1, 2100, 1100, 0, 0);
}

/* A target that was no OPP counts for none. */
FIXTURE_TEST(test_no_opp)
{
	stats_set_target(stats, 0, 1300000, 1000);
	assert_times(0, 1500, 0, 0, 0);
}

FIXTURE_TEST(test_time_by_reason)
{
	stats_set_target(stats, 0, 800000, 0);
	stats_set_reason(stats, 0, REASON_IO_BOOST, 100);
	/* The target is the same, and why is not. */
	stats_set_reason(stats, 0, REASON_UTILISATION, 1100);
	stats_catch_up(stats, 1400);
	assert_int_equal(stats->domains[0].ns[1][REASON_IDLE], 100);
	assert_int_equal(stats->domains[0].ns[1][REASON_IO_BOOST], 1000);
	assert_int_equal(stats->domains[0].ns[1][REASON_UTILISATION], 300);
}

FIXTURE_TEST(test_gains_are_bounded)
{
	uint64_t ios = 0;

	for (uint32_t i = 0; i < 4 * STATS_GAINS_MAX; i++) {
		struct stats_gain gain = { .device = "sda", .ios = 1, .gained = 1 };

		snprintf(gain.comm, sizeof(gain.comm), "task%u", i / 2);
		stats_add_gain(stats, &gain);
	}
	assert_int_equal(stats->gains[0].gained, 2);
	assert_int_equal(stats->n_gains, STATS_GAINS_MAX);
	for (uint32_t i = 0; i < STATS_GAINS_MAX; i++)
		ios += stats->gains[i].ios;
	assert_string_equal(stats->gains[STATS_GAINS_MAX - 1].comm, "others");
	assert_int_equal(ios, 4 * STATS_GAINS_MAX);
}

FIXTURE_TEST(test_decisions_by_reason)
{
	stats_add_decision(stats, &(struct decision){ .reason = REASON_IDLE });
	for (int i = 0; i < 2; i++)
		stats_add_decision(stats, &(struct decision){ .reason = REASON_IO_BOOST,
							      .limiter = LIMITER_CAP });
	assert_int_equal(stats->limits[LIMITER_NONE], 1);
	assert_int_equal(stats->limits[LIMITER_CAP], 2);
	assert_int_equal(stats->decisions[REASON_IDLE], 1);
	assert_int_equal(stats->decisions[REASON_IO_BOOST], 2);
	assert_int_equal(stats->decisions[REASON_UTILISATION], 0);
}
