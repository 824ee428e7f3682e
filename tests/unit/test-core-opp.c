// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/opp.h"
#include "wakegov/decay.h"

static const struct topology_domain big = {
	.n_opps = 4,
	.opp_khz = { 800000, 1200000, 1800000, 2400000 },
	.capacity = 1024,
};

static const struct topology_domain little = {
	.n_opps = 3,
	.opp_khz = { 500000, 1000000, 1700000 },
	.capacity = 446,
};

static const struct topology_domain single = {
	.n_opps = 1,
	.opp_khz = { 1000000 },
	.capacity = 1024,
};

TEST(test_khz_for_cap)
{
	static const struct {
		const struct topology_domain *domain;
		uint32_t cap, khz;
	} cases[] = {
		{ &big, 0, 0 },
		{ &big, 1, 2344 }, /* 2343.75, rounded up */
		{ &big, 512, 1200000 },
		{ &big, 513, 1202344 },
		{ &big, 1024, 2400000 },
		{ &big, 1280, 3000000 }, /* with headroom more is wanted than there is */
		{ &little, 223, 850000 },
		{ &little, 446, 1700000 },
		{ &big, UINT32_MAX, UINT32_MAX }, /* does not wrap */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(opp_khz_for_cap(cases[i].domain, cases[i].cap), cases[i].khz);
}

/* A demand is served at its frequency and not below: opp_cap_at_khz() is its inverse. */
TEST(test_inverse)
{
	const struct topology_domain *domains[] = { &big, &little, &single };

	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		for (uint32_t cap = 1; cap <= domains[i]->capacity; cap++) {
			uint32_t khz = opp_khz_for_cap(domains[i], cap);

			assert_int_equal(opp_cap_at_khz(domains[i], khz), cap);
			assert_int_equal(opp_cap_at_khz(domains[i], khz - 1), cap - 1);
		}
	}
}

TEST(test_at_or_above)
{
	static const struct {
		const struct topology_domain *domain;
		uint32_t khz, min_khz, max_khz, opp_khz;
	} cases[] = {
		{ &big, 0, 0, UINT32_MAX, 800000 },
		{ &big, 800000, 0, UINT32_MAX, 800000 },
		{ &big, 800001, 0, UINT32_MAX, 1200000 },
		{ &big, 1200000, 0, UINT32_MAX, 1200000 },
		{ &big, 2400000, 0, UINT32_MAX, 2400000 },
		{ &big, 9999999, 0, UINT32_MAX, 2400000 },
		/* within limits */
		{ &big, 0, 1200000, 2400000, 1200000 },
		{ &big, 0, 1200001, 2400000, 1800000 },
		{ &big, 2400000, 800000, 1800000, 1800000 },
		{ &big, 2400000, 800000, 1799999, 1200000 },
		{ &big, 1200000, 1200000, 1200000, 1200000 },
		{ &big, 1200000, 1800000, 1200000, 1200000 },
		/* no OPP within the limits: the highest that is not too high */
		{ &big, 0, 1300000, 1400000, 1200000 },
		{ &big, 0, 2500000, 2600000, 2400000 },
		/* every OPP is too high */
		{ &big, 2400000, 100000, 700000, 800000 },
		{ &single, 0, 0, UINT32_MAX, 1000000 },
		{ &single, 9999999, 0, 1, 1000000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(opp_at_or_above(cases[i].domain, cases[i].khz, cases[i].min_khz,
						 cases[i].max_khz),
				 cases[i].opp_khz);
}

TEST(test_below)
{
	assert_int_equal(opp_below(&big, 2400000, UINT32_MAX), 1800000);
	assert_int_equal(opp_below(&big, 2399999, UINT32_MAX), 1800000);
	assert_int_equal(opp_below(&big, 9999999, UINT32_MAX), 2400000);
	assert_int_equal(opp_below(&big, 9999999, 1800000), 1800000);
	assert_int_equal(opp_below(&big, 1200000, UINT32_MAX), 800000);
	assert_int_equal(opp_below(&big, 800000, UINT32_MAX), 0);
	assert_int_equal(opp_below(&big, 1, UINT32_MAX), 0);
	assert_int_equal(opp_below(&single, 1000000, UINT32_MAX), 0);
}

/*
 * The A72 of an rk3399, where the three lowest OPPs have the same voltage and so take the same
 * energy for the same work; but here 408 MHz takes more. 1200 and 1416 MHz were made worse than
 * 1608 MHz, and 1416 MHz the less so.
 */
static const struct topology_domain uneven = {
	.n_opps = 8,
	.opp_khz = { 408000, 600000, 816000, 1008000, 1200000, 1416000, 1608000, 1800000 },
	.opp_power = { 122074, 178050, 242148, 336473, 720000, 835440, 848300, 1130112 },
	.capacity = 1024,
};

TEST(test_inefficient)
{
	static const struct {
		uint32_t khz, min_khz, max_khz;
		uint32_t opp_khz, below_khz;
	} cases[] = {
		{ 0, 0, UINT32_MAX, 600000, 0 },
		{ 600001, 0, UINT32_MAX, 816000, 600000 },
		{ 500000, 0, UINT32_MAX, 600000, 0 },
		{ 0, 408000, 700000, 600000, 0 },
		{ 0, 408000, 500000, 408000, 0 },
		{ 1008000, 0, UINT32_MAX, 1008000, 816000 },
		{ 1008001, 0, UINT32_MAX, 1608000, 1008000 },
		{ 1200000, 0, 1500000, 1416000, 1008000 }, /* the better of the bad ones */
		{ 1200000, 0, 1200000, 1200000, 1008000 }, /* that one is what is left */
		{ 9999999, 0, 1200000, 1200000, 1008000 },
		{ 0, 1100000, 1300000, 1200000, 1008000 },
		{ 1700000, 0, UINT32_MAX, 1800000, 1608000 },
		{ 9999999, 0, UINT32_MAX, 1800000, 1608000 },
		{ 0, 0, 100000, 408000, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t khz = opp_at_or_above(&uneven, cases[i].khz, cases[i].min_khz,
					       cases[i].max_khz);

		assert_int_equal(khz, cases[i].opp_khz);
		assert_int_equal(opp_below(&uneven, khz, cases[i].max_khz), cases[i].below_khz);
	}
	assert_int_equal(opp_better_khz(&uneven, 0), 600000);
	assert_int_equal(opp_better_khz(&uneven, 1), 0);
	assert_int_equal(opp_better_khz(&uneven, 2), 0);
	assert_int_equal(opp_better_khz(&uneven, 5), 1608000);
	assert_int_equal(opp_better_khz(&uneven, 7), 0);
	/* A written speed is not weighed. */
	assert_int_equal(opp_lowest_at_or_above(&uneven, 1100000, 0, UINT32_MAX), 1200000);
}

/* Whatever the powers are: nothing faster within the limits takes less, and nothing slower does. */
TEST(test_never_dominated)
{
	uint32_t random = 1;

	for (int round = 0; round < 2000; round++) {
		struct topology_domain domain = uneven;

		for (uint32_t i = 0; i < domain.n_opps; i++) {
			random = random * 1664525 + 1013904223;
			domain.opp_power[i] = 1 + random / 4096;
		}
		for (uint32_t i = 0; i < domain.n_opps; i++) {
			uint32_t khz = opp_at_or_above(&domain, domain.opp_khz[i], 0, UINT32_MAX);
			uint32_t j = i;

			while (domain.opp_khz[j] != khz)
				j++;
			for (uint32_t k = i; k < domain.n_opps; k++)
				assert_true(k == j || (double)domain.opp_power[j] / khz <=
							      (double)domain.opp_power[k] /
								      domain.opp_khz[k] * 1.0011);
		}
	}
}

/* A turbo machine: its highest OPP is not what its capacity is measured by. */
TEST(test_reference)
{
	struct topology_domain domain = {
		.capacity = 1024,
		.n_opps = 3,
		.opp_khz = { 1200000, 2200000, 3600000 },
		.reference_khz = 3300000,
	};

	assert_int_equal(opp_khz_for_cap(&domain, 1024), 3300000);
	assert_int_equal(opp_khz_for_cap(&domain, 1280), 4125000);
	assert_int_equal(opp_cap_at_khz(&domain, 2200000), 682);
	/* Above the reference there is no more than all. */
	assert_int_equal(opp_cap_at_khz(&domain, 3600000), 1024);
	domain.reference_khz = 0;
	assert_int_equal(opp_khz_for_cap(&domain, 1024), 3600000);
}

TEST(test_demand)
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
TEST(test_covered_is_inverse)
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

TEST(test_covered_burst_is_inverse)
{
	static const uint64_t rise_ns[] = { 24 * NS_PER_MS, 1024 * NS_PER_US, 999983 };
	static const uint32_t capacities[] = { 1024, 500, 17 };
	struct topology_domain domain = { .n_opps = 2, .opp_khz = { 800000, 2400000 } };

	for (size_t i = 0; i < 9; i++) {
		uint32_t capacity = capacities[i / 3], cap;
		uint64_t rise = rise_ns[i % 3], burst_ns;

		domain.capacity = capacity;
		cap = opp_cap_at_khz(&domain, 800000);
		burst_ns = utilisation_covered_burst_ns(&domain, 800000, rise);
		assert_int_equal(utilisation_burst_cap(capacity, burst_ns, rise), cap);
		assert_int_equal(utilisation_burst_cap(capacity, burst_ns + 1, rise), cap + 1);
	}
}

TEST(test_decay_agrees)
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

TEST(test_decay_ends)
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

TEST(test_add)
{
	struct topology_domain domain = big;

	assert_false(opp_add(&domain, 2400000, 0));
	assert_true(opp_add(&domain, 2600000, 5));
	assert_int_equal(topology_domain_max_khz(&domain), 2600000);
	assert_int_equal(opp_clamp(&domain, 3000000), 2600000);
	while (domain.n_opps < DOMAIN_OPPS_MAX)
		assert_true(opp_add(&domain, topology_domain_max_khz(&domain) + 1, 0));
	assert_false(opp_add(&domain, UINT32_MAX, 0));
}

/* Without the power of one OPP no OPP is called inefficient. */
TEST(test_add_without_power)
{
	struct topology_domain domain = big;

	for (uint32_t i = 0; i < domain.n_opps; i++)
		domain.opp_power[i] = 1000 - i;
	assert_int_not_equal(opp_better_khz(&domain, 0), 0);
	assert_true(opp_add(&domain, 2600000, 0));
	assert_int_equal(opp_better_khz(&domain, 0), 0);
}

/* The least (P + price) / f, of any work: no price has the most efficient OPP, a high one the
 * highest. */
TEST(test_worth_waiting)
{
	static const struct topology_domain known = {
		.n_opps = 4,
		.opp_khz = { 800000, 1200000, 1800000, 2400000 },
		.opp_power = { 200000, 420000, 1100000, 2600000 },
		.capacity = 1024,
	};
	static const struct {
		const struct topology_domain *domain;
		uint64_t price_uw;
		uint32_t khz;
	} cases[] = {
		{ &known, 0, 800000 },	       { &known, 100000, 800000 },
		{ &known, 300000, 1200000 },   { &known, 1000000, 1800000 },
		{ &known, 4000000, 2400000 },  { &known, 1000000000, 2400000 },
		{ &big, 1000, 800000 },	       { &big, 1000000, 1200000 },
		{ &big, 2000000, 1800000 },    { &big, 4000000, 2400000 },
		{ &little, 4000000, 1700000 }, { &single, 4000000, 1000000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(opp_worth_waiting(cases[i].domain, cases[i].price_uw),
				 cases[i].khz);
}
