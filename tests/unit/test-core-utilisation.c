// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/opp.h"
#include "core/utilisation.h"
#include "wakegov/decay.h"

static void test_demand(void **state)
{
	static const struct {
		uint32_t util_q, headroom_percent, cap;
	} cases[] = {
		{ 0, 125, 0 },
		{ 1, 125, 1 }, /* any use at all is a demand */
		{ DECAY_Q(1), 100, 1 },
		{ DECAY_Q(1) + 1, 100, 2 },
		{ DECAY_Q(512), 125, 640 },
		{ DECAY_Q(512), 100, 512 },
		{ DECAY_Q(1024), 125, 1280 },
		{ DECAY_Q(1024), 1000, 10240 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(utilisation_demand_cap(cases[i].util_q, cases[i].headroom_percent),
				 cases[i].cap);
}

static uint32_t opp_for(const struct topology_domain *domain, uint32_t util_q,
			uint32_t headroom_percent)
{
	uint32_t cap = utilisation_demand_cap(util_q, headroom_percent);

	return opp_at_or_above(domain, opp_khz_for_cap(domain, cap), 0, UINT32_MAX);
}

/*
 * The bands are made of covered_q and the decisions of demand: where they disagree a domain is
 * looked at at the moment when nothing changes, and then never again.
 */
static void test_covered_is_inverse(void **state)
{
	static const uint32_t capacities[] = { 1024, 1023, 768, 446, 160, 17 };
	static const uint32_t headrooms[] = { 100, 125, 137, 200 };
	struct topology_domain domain = {
		.n_opps = 7,
		.opp_khz = { 800000, 1000000, 1333333, 1600000, 1700000, 2200000, 2400000 },
	};

	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		for (size_t j = 0; j < sizeof(headrooms) / sizeof(headrooms[0]); j++) {
			domain.capacity = capacities[i];
			for (uint32_t opp = 0; opp + 1 < domain.n_opps; opp++) {
				uint32_t khz = domain.opp_khz[opp];
				uint32_t covered_q = utilisation_covered_q(&domain, khz,
									   headrooms[j]);

				assert_true(opp_for(&domain, covered_q, headrooms[j]) <= khz);
				assert_true(opp_for(&domain, covered_q + 1, headrooms[j]) > khz);
			}
		}
	}
}

static void test_decay_agrees(void **state)
{
	struct test_random random = { 5 };

	for (int i = 0; i < 20000; i++) {
		uint32_t util_q = 1 + test_random_below(&random, DECAY_Q(1024));
		uint32_t threshold_q = 1 + test_random_below(&random, util_q);
		uint64_t ns = utilisation_decay_ns(util_q, threshold_q);

		assert_true(decay_toward(util_q, 0, ns) < threshold_q);
		/* It is answered to the microsecond. */
		if (ns > NS_PER_US)
			assert_true(decay_toward(util_q, 0, ns - NS_PER_US) >= threshold_q);
	}
}

static void test_decay_ends(void **state)
{
	assert_int_equal(utilisation_decay_ns(10, 11), 0);
	assert_int_equal(utilisation_decay_ns(0, 1), 0);
	assert_int_equal(utilisation_decay_ns(0, 0), UINT64_MAX);
	assert_int_equal(utilisation_decay_ns(DECAY_Q(1024), 0), UINT64_MAX);
	/* At the threshold is not below it: never "now", or the caller would spin. */
	assert_true(utilisation_decay_ns(DECAY_Q(1024), DECAY_Q(1024)) > 0);
	assert_in_range(utilisation_decay_ns(DECAY_Q(1024), DECAY_Q(512)), DECAY_HALF_LIFE_NS,
			DECAY_HALF_LIFE_NS + NS_PER_US);
	assert_in_range(utilisation_decay_ns(DECAY_Q(1024), 1), 30 * DECAY_HALF_LIFE_NS,
			32 * DECAY_HALF_LIFE_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demand),
		cmocka_unit_test(test_covered_is_inverse),
		cmocka_unit_test(test_decay_agrees),
		cmocka_unit_test(test_decay_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
