// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <stdlib.h>

#include "daemon/stats.h"

static struct topology *make_topology(void)
{
	struct topology *topology = calloc(1, sizeof(*topology) + 2 * sizeof(topology->domains[0]));

	topology->n_domains = 2;
	for (int i = 0; i < 2; i++)
		topology->domains[i] = (struct topology_domain){
			.n_opps = 3, .opp_khz = { 400000, 800000, 1200000 }
		};
	return topology;
}

static void assert_times(const struct stats *stats, uint32_t domain, uint64_t now_ns,
			 uint64_t first_ns, uint64_t second_ns, uint64_t third_ns)
{
	assert_int_equal(stats_opp_ns(stats, domain, 0, now_ns), first_ns);
	assert_int_equal(stats_opp_ns(stats, domain, 1, now_ns), second_ns);
	assert_int_equal(stats_opp_ns(stats, domain, 2, now_ns), third_ns);
}

static void test_time_goes_to_the_target(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	assert_times(stats, 0, 1000, 0, 0, 0);
	stats_set_target(stats, 0, 400000, 1000);
	assert_times(stats, 0, 1500, 500, 0, 0);
	stats_set_target(stats, 0, 1200000, 2000);
	assert_times(stats, 0, 2000, 1000, 0, 0);
	assert_times(stats, 0, 2100, 1000, 0, 100);
	stats_set_target(stats, 0, 1200000, 2200);
	assert_times(stats, 0, 2300, 1000, 0, 300);
	stats_set_target(stats, 0, 400000, 2300);
	assert_times(stats, 0, 2301, 1001, 0, 300);
	assert_times(stats, 1, 2301, 0, 0, 0);
	stats_free(stats);
	free(topology);
}

static void test_no_time_for_what_is_let_go_of(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	stats_set_target(stats, 1, 800000, 1000);
	stats_set_target(stats, 1, 0, 3000);
	stats_set_target(stats, 1, 0, 4000);
	assert_times(stats, 1, 9000, 0, 2000, 0);
	/* Asked for before the last change: not back in time. */
	stats_set_target(stats, 1, 800000, 9000);
	assert_times(stats, 1, 8000, 0, 2000, 0);
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
		cmocka_unit_test(test_decisions_by_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
