// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/history/stats.h"
#include "shared/time.h"

static struct topology *make_topology(void)
{
	struct topology *topology = calloc(1, sizeof(*topology) + 2 * sizeof(topology->domains[0]));

	topology->n_domains = 2;
	for (int i = 0; i < 2; i++)
		topology->domains[i] = (struct topology_domain){
			.n_opps = 3, .opp_khz = { 400000, 800000, 1200000 }, .capacity = 1024
		};
	return topology;
}

#define DAY_NS (24 * 3600 * NS_PER_S)

/* The clock that only grows shows 0 at midnight of day 100. */
static struct stats_time at(uint64_t now_ns)
{
	return (struct stats_time){ now_ns, 100 + (int32_t)(now_ns / DAY_NS), now_ns % DAY_NS };
}

static void set_target(struct stats *stats, uint32_t domain, uint32_t khz, uint64_t now_ns)
{
	struct stats_time time = at(now_ns);

	stats_set_target(stats, domain, khz, &time);
}

static void set_cause(struct stats *stats, const struct stats_cause *cause, uint64_t now_ns)
{
	struct stats_time time = at(now_ns);

	stats_set_cause(stats, 0, cause, &time);
}

static void catch_up(struct stats *stats, uint64_t now_ns)
{
	struct stats_time time = at(now_ns);

	stats_catch_up(stats, &time);
}

static uint64_t ns(const struct stats *stats, const struct stats_period *period, uint32_t domain,
		   uint32_t opp)
{
	uint64_t sum = 0;

	for (enum reason reason = 0; reason <= REASON_LAST; reason++)
		sum += stats_ns(stats, period, domain, opp, reason);
	return sum;
}

static void assert_times(struct stats *stats, uint32_t domain, uint64_t now_ns, uint64_t first_ns,
			 uint64_t second_ns, uint64_t third_ns)
{
	const struct stats_period *start = stats_since_start(stats);

	catch_up(stats, now_ns);
	assert_int_equal(ns(stats, start, domain, 0), first_ns);
	assert_int_equal(ns(stats, start, domain, 1), second_ns);
	assert_int_equal(ns(stats, start, domain, 2), third_ns);
}

static void test_time_goes_to_the_target(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	assert_times(stats, 0, 1000, 0, 0, 0);
	set_target(stats, 0, 400000, 1000);
	assert_times(stats, 0, 1500, 500, 0, 0);
	set_target(stats, 0, 1200000, 2000);
	assert_times(stats, 0, 2000, 1000, 0, 0);
	assert_times(stats, 0, 2100, 1000, 0, 100);
	set_target(stats, 0, 1200000, 2200);
	assert_times(stats, 0, 2300, 1000, 0, 300);
	set_target(stats, 0, 400000, 2300);
	assert_times(stats, 0, 2301, 1001, 0, 300);
	assert_times(stats, 1, 2301, 0, 0, 0);
	stats_free(stats);
	free(topology);
}

static void test_no_time_for_what_is_let_go_of(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	set_target(stats, 1, 800000, 1000);
	set_target(stats, 1, 0, 3000);
	set_target(stats, 1, 0, 4000);
	assert_times(stats, 1, 9000, 0, 2000, 0);
	/* Asked for before the last change: not back in time. */
	set_target(stats, 1, 800000, 9000);
	assert_times(stats, 1, 8000, 0, 2000, 0);
	stats_free(stats);
	free(topology);
}

/* What was counted stays with its OPP, also in the domains after the one that has one more. */
static void test_one_more_opp(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	set_target(stats, 0, 1200000, 1000);
	set_target(stats, 1, 400000, 1000);
	catch_up(stats, 1500);
	assert_int_equal(stats_add_opp(stats, 0), 0);
	topology->domains[0].opp_khz[topology->domains[0].n_opps++] = 1600000;
	assert_times(stats, 0, 1600, 0, 0, 600);
	assert_times(stats, 1, 1600, 600, 0, 0);
	set_target(stats, 0, 1600000, 2000);
	assert_times(stats, 0, 2100, 0, 0, 1000);
	assert_int_equal(ns(stats, stats_since_start(stats), 0, 3), 100);
	assert_times(stats, 1, 2100, 1100, 0, 0);
	stats_free(stats);
	free(topology);
}

/* A target that was no OPP is not the new one. */
static void test_no_opp_stays_none(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	set_target(stats, 0, 1300000, 1000);
	assert_int_equal(stats_add_opp(stats, 0), 0);
	topology->domains[0].opp_khz[topology->domains[0].n_opps++] = 1600000;
	catch_up(stats, 1500);
	assert_int_equal(ns(stats, stats_since_start(stats), 0, 3), 0);
	stats_free(stats);
	free(topology);
}

static void test_time_by_reason(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);
	const struct stats_period *start = stats_since_start(stats);

	set_target(stats, 0, 800000, 0);
	set_cause(stats, &(struct stats_cause){ .reason = REASON_IO_BOOST }, 100);
	/* The target is the same, and why is not. */
	set_cause(stats, &(struct stats_cause){ .reason = REASON_UTILISATION }, 1100);
	catch_up(stats, 1400);
	assert_int_equal(stats_ns(stats, start, 0, 1, REASON_IDLE), 100);
	assert_int_equal(stats_ns(stats, start, 0, 1, REASON_IO_BOOST), 1000);
	assert_int_equal(stats_ns(stats, start, 0, 1, REASON_UTILISATION), 300);
	stats_free(stats);
	free(topology);
}

static void assert_days(const struct stats *stats, int32_t from, int32_t to, uint64_t expected_ns)
{
	struct stats_period *days = stats_sum_days(stats, from, to);

	assert_int_equal(ns(stats, days, 0, 0), expected_ns);
	stats_period_free(days);
}

static void test_days_end_at_midnight(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);
	struct stats_time back = { 9 * DAY_NS, 102, DAY_NS / 4 };

	set_target(stats, 0, 400000, DAY_NS / 2);
	catch_up(stats, DAY_NS + DAY_NS / 4);
	assert_days(stats, 100, 100, DAY_NS / 2);
	assert_days(stats, 101, 101, DAY_NS / 4);
	assert_days(stats, 95, 101, DAY_NS / 2 + DAY_NS / 4);
	/* A week later the place of the first day is another's. */
	for (uint64_t day = 2; day <= 8; day++)
		catch_up(stats, day * DAY_NS + DAY_NS / 4);
	assert_days(stats, 100, 100, 0);
	assert_days(stats, 102, 108, 6 * DAY_NS + DAY_NS / 4);
	/* The clock on the wall was put back: its day goes on, nothing is lost. */
	stats_catch_up(stats, &back);
	assert_days(stats, 102, 102, DAY_NS + DAY_NS / 4);
	stats_free(stats);
	free(topology);
}

static const struct stats_row *row_of(const struct stats *stats, enum stats_kind kind)
{
	const struct stats_row *row;

	for (uint32_t i = 0; (row = stats_row(stats_since_start(stats), i)); i++)
		if (row->key.kind == kind)
			return row;
	fail_msg("no row of kind %d", kind);
	return NULL;
}

static void test_account(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);
	struct stats_cause cause = {
		.reason = REASON_IO_BOOST,
		.work_cap = 512,
		.effects = { { { STATS_IO_BOOST, "fio", "sda" }, 400000 },
			     { { STATS_CAP, "batch", "" }, 1200000 } },
	};
	struct stats_time end = at(2 * NS_PER_S);
	const struct stats_row *boost, *cap;
	double watts = stats_power_share(&topology->domains[0], 800000, 512);

	set_target(stats, 0, 800000, 0);
	set_cause(stats, &cause, 0);
	catch_up(stats, 2 * NS_PER_S);
	stats_add_ios(stats, &cause.effects[0].key,
		      &(struct stats_sums){ .ios = 1000, .gained = 200, .gained_error = 10 }, &end);
	boost = row_of(stats, STATS_IO_BOOST);
	cap = row_of(stats, STATS_CAP);
	/* 400 MHz above and below for two seconds, in kHz times ms. */
	assert_int_equal(boost->sums.spent_khz_ms, 800000000);
	assert_int_equal(boost->sums.saved_khz_ms, 0);
	assert_int_equal(boost->sums.gained, 200);
	assert_int_equal(cap->sums.saved_khz_ms, 800000000);
	assert_int_equal(cap->sums.ns, 2 * NS_PER_S);
	/* Half of a CPU's work takes less at a lower voltage. */
	assert_true(fabs(stats_power_share(&topology->domains[0], 1200000, 512) - 0.5) < 1e-9);
	assert_true(watts < 0.5);
	assert_true(fabs(cap->sums.saved_j - 2 * (0.5 - watts)) < 1e-9);
	assert_true(boost->sums.spent_j > 0 && boost->sums.saved_j == 0);
	/* By a table: 800 MHz take as much for the same work as 1200. */
	topology->domains[0].opp_power[0] = 100000;
	topology->domains[0].opp_power[1] = 1000000;
	topology->domains[0].opp_power[2] = 1500000;
	assert_true(fabs(stats_power_share(&topology->domains[0], 800000, 512) - 0.5) < 1e-9);
	assert_true(stats_power_share(&topology->domains[0], 600000, 512) < 0.5);
	stats_set_power(stats, 0, 1.5);
	catch_up(stats, 3 * NS_PER_S);
	assert_true(fabs(cap->sums.saved_j - 2 * (0.5 - watts)) < 1e-9);
	stats_free(stats);
	free(topology);
}

static void test_account_is_bounded(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);
	const struct stats_period *start = stats_since_start(stats);
	struct stats_time time = at(1000);
	uint64_t ios = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < 2 * STATS_ROWS_MAX; i++) {
		struct stats_key key = { .kind = STATS_IO_BOOST };

		snprintf(key.name, sizeof(key.name), "task%u", i);
		stats_add_ios(stats, &key, &(struct stats_sums){ .ios = 1 }, &time);
	}
	for (const struct stats_row *row; (row = stats_row(start, n)); n++)
		ios += row->sums.ios;
	assert_int_equal(n, STATS_ROWS_MAX);
	assert_string_equal(stats_row(start, n - 1)->key.name, "others");
	assert_int_equal(ios, 2 * STATS_ROWS_MAX);
	stats_free(stats);
	free(topology);
}

static void test_decisions_by_reason(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	stats_add_decision(stats, &(struct decision){ .reason = REASON_IDLE });
	for (int i = 0; i < 2; i++)
		stats_add_decision(stats, &(struct decision){ .reason = REASON_IO_BOOST,
							      .limiter = LIMITER_CAP });
	assert_int_equal(stats_limits(stats, LIMITER_NONE), 1);
	assert_int_equal(stats_limits(stats, LIMITER_CAP), 2);
	assert_int_equal(stats_decisions(stats, REASON_IDLE), 1);
	assert_int_equal(stats_decisions(stats, REASON_IO_BOOST), 2);
	assert_int_equal(stats_decisions(stats, REASON_UTILISATION), 0);
	stats_free(stats);
	free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_goes_to_the_target),
		cmocka_unit_test(test_no_time_for_what_is_let_go_of),
		cmocka_unit_test(test_one_more_opp),
		cmocka_unit_test(test_no_opp_stays_none),
		cmocka_unit_test(test_time_by_reason),
		cmocka_unit_test(test_days_end_at_midnight),
		cmocka_unit_test(test_account),
		cmocka_unit_test(test_account_is_bounded),
		cmocka_unit_test(test_decisions_by_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
