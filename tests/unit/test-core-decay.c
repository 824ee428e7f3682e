// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <math.h>

#include "wakegov/decay.h"

#define FULL_Q DECAY_Q(1024)

static double exact(double util_q, double level_q, double delta_ns)
{
	return level_q + (util_q - level_q) * exp2(-delta_ns / DECAY_HALF_LIFE_NS);
}

TEST(test_half_life)
{
	for (int halves = 0; halves < 31; halves++)
		assert_int_equal(decay_factor(halves * DECAY_HALF_LIFE_NS), DECAY_ONE >> halves);
	assert_int_equal(decay_toward(FULL_Q, 0, DECAY_HALF_LIFE_NS), FULL_Q / 2);
	assert_int_equal(decay_toward(0, FULL_Q, DECAY_HALF_LIFE_NS), FULL_Q / 2);
}

/* The header promises 3 · 10^-7 of the factor, between and on the steps of its tables. */
TEST(test_factor_is_exponential)
{
	struct test_random random = { 1 };
	double worst = 0;

	for (int i = 0; i < 1000000; i++) {
		uint64_t delta_ns = test_random_below(&random, 3 * DECAY_HALF_LIFE_NS);
		double error = decay_factor(delta_ns) / (double)DECAY_ONE -
			       exp2(-(double)delta_ns / DECAY_HALF_LIFE_NS);

		worst = fmax(worst, fabs(error));
	}
	print_message("factor: worst error %.3g\n", worst);
	assert_true(worst < 3e-7);
}

TEST(test_factor_never_rises)
{
	uint64_t before = DECAY_ONE;

	assert_int_equal(decay_factor(0), DECAY_ONE);
	/* 32 µs steps meet at every table entry; 997 ns goes through all their inner parts. */
	for (uint64_t delta_ns = 0; delta_ns < 4 * DECAY_HALF_LIFE_NS; delta_ns += 997) {
		uint64_t factor = decay_factor(delta_ns);

		assert_true(factor <= before);
		before = factor;
	}
}

/* A CPU that is accounted at thousands of events a second ends where one event would take it. */
TEST(test_many_splits)
{
	struct test_random random = { 3 };
	double worst = 0;

	for (int run = 0; run < 200; run++) {
		uint64_t total_ns = 0;
		uint32_t util_q = 0;

		for (int i = 0; i < 5000; i++) {
			uint64_t step_ns = test_random_below(&random, 20 * NS_PER_US);

			util_q = decay_toward(util_q, FULL_Q, step_ns);
			total_ns += step_ns;
		}
		worst = fmax(worst, fabs(util_q - exact(0, FULL_Q, total_ns)));
	}
	print_message("5000 splits: worst difference %.3f of 1024\n", worst / DECAY_Q(1));
	assert_true(worst < DECAY_Q(1));
}

TEST(test_stays_between)
{
	struct test_random random = { 4 };

	for (int i = 0; i < 500000; i++) {
		uint32_t util_q = test_random_below(&random, FULL_Q + 1);
		uint32_t level_q = test_random_below(&random, FULL_Q + 1);
		uint64_t delta_ns = test_random_next(&random) >> test_random_below(&random, 64);
		uint32_t result_q = decay_toward(util_q, level_q, delta_ns);

		if (util_q <= level_q)
			assert_in_range(result_q, util_q, level_q);
		else
			assert_in_range(result_q, level_q, util_q);
	}
}

TEST(test_ends)
{
	static const uint64_t long_ns[] = { 31 * DECAY_HALF_LIFE_NS, 60 * NS_PER_S,
					    5 * 3600 * NS_PER_S, 8 * 86400 * NS_PER_S, UINT64_MAX };

	assert_int_equal(decay_toward(12345678, FULL_Q, 0), 12345678);
	assert_int_equal(decay_toward(12345678, 0, 0), 12345678);
	assert_int_equal(decay_toward(FULL_Q, FULL_Q, 12345), FULL_Q);
	assert_int_equal(decay_toward(0, 0, 12345), 0);
	for (size_t i = 0; i < sizeof(long_ns) / sizeof(long_ns[0]); i++) {
		assert_int_equal(decay_toward(0, FULL_Q, long_ns[i]), FULL_Q);
		assert_int_equal(decay_toward(FULL_Q, 0, long_ns[i]), 0);
		assert_int_equal(decay_toward(FULL_Q, DECAY_Q(300), long_ns[i]), DECAY_Q(300));
	}
}

TEST(test_level)
{
	static const struct {
		uint32_t capacity, freq_khz, max_khz, level_q;
	} cases[] = {
		{ 1024, 2000000, 2000000, DECAY_Q(1024) },
		{ 1024, 1000000, 2000000, DECAY_Q(512) },
		{ 1024, 500000, 2000000, DECAY_Q(256) },
		{ 446, 600000, 1800000, DECAY_Q(446) / 3 },
		{ 446, 1800000, 1800000, DECAY_Q(446) },
		{ 1024, 0, 2000000, DECAY_Q(1024) },	   /* not known yet */
		{ 1024, 2600000, 2000000, DECAY_Q(1024) }, /* turbo above the highest OPP */
		{ 1024, 0, 0, DECAY_Q(1024) },		   /* no frequency at all */
		{ 1024, 1000000, 0, DECAY_Q(1024) },
		{ 1024, 4294967294U, 4294967295U, DECAY_Q(1024) - 1 },
		{ 1, 1, 2000000, DECAY_Q(1) / 2000000 },
		{ 0, 1000000, 2000000, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			decay_level_q(cases[i].capacity, cases[i].freq_khz, cases[i].max_khz),
			cases[i].level_q);
}
