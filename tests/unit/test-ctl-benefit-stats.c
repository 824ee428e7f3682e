// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/benefit.h"
#include "shared/cleanup.h"

#define EXPERIMENTS 4000

/* As any table of Student's t has them. */
static void test_student(void **state)
{
	static const struct {
		uint32_t freedom;
		double t;
	} cases[] = {
		{ 1, 63.6567 }, { 2, 9.9248 },	{ 3, 5.8409 },	 { 4, 4.6041 },
		{ 5, 4.0321 },	{ 6, 3.7074 },	{ 9, 3.2498 },	 { 14, 2.9768 },
		{ 29, 2.7564 }, { 60, 2.6603 }, { 120, 2.6174 }, { 4095, 2.5773 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_true(fabs(benefit_student(cases[i].freedom) / cases[i].t - 1) < 0.0005);
}

static void test_order(void **state)
{
	uint32_t first_at[7] = { 0 };

	for (uint64_t seed = 0; seed < EXPERIMENTS; seed++) {
		bool with_first[7], again[7];
		uint32_t n = 0;

		benefit_order(seed, 7, with_first);
		benefit_order(seed, 7, again);
		assert_memory_equal(with_first, again, sizeof(again));
		for (uint32_t i = 0; i < 7; i++) {
			n += with_first[i];
			first_at[i] += with_first[i];
		}
		assert_in_range(n, 3, 4);
	}
	/* Half of the time at every place: five standard deviations to either side. */
	for (uint32_t i = 0; i < 7; i++)
		assert_in_range(first_at[i], EXPERIMENTS / 2 - 160, EXPERIMENTS / 2 + 160);
}

/* Close enough to normal, and the same on every machine. */
static double noise(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*state = *state * 6364136223846793005 + 1442695040888963407;
		sum += (double)(*state >> 11) / (double)(1ULL << 53);
	}
	return sum;
}

/* Of experiments with a true ratio, a trend and noise: how many intervals miss it. */
static uint32_t count_missed(uint32_t n_pairs, double truth, double trend)
{
	uint32_t missed = 0;
	uint64_t random = n_pairs;

	for (uint64_t seed = 0; seed < EXPERIMENTS; seed++) {
		struct benefit_sums sums = { 0 };
		struct benefit_ratio found;
		bool with_first[64];

		benefit_order(seed, n_pairs, with_first);
		for (uint32_t i = 0; i < n_pairs; i++) {
			double value[2];

			for (uint32_t half = 0; half < 2; half++)
				value[half] = exp(trend * (2 * i + half) + 0.05 * noise(&random));
			benefit_add(&sums, truth * value[!with_first[i]], value[with_first[i]]);
		}
		assert_true(benefit_ratio(&sums, &found));
		missed += truth < found.low || truth > found.high;
	}
	return missed;
}

/* One in a hundred, within five standard deviations (31); a trend makes them wider, not wrong. */
static void test_coverage(void **state)
{
	assert_in_range(count_missed(3, 1, 0), 9, 71);
	assert_in_range(count_missed(6, 1.12, 0), 9, 71);
	assert_in_range(count_missed(30, 0.5, 0), 9, 71);
	assert_in_range(count_missed(30, 1.12, 0.02), 0, 71);
}

static void test_too_few(void **state)
{
	struct benefit_sums sums = { 0 };
	struct benefit_ratio found;

	benefit_add(&sums, 2, 1);
	benefit_add(&sums, 2, 1);
	assert_false(benefit_ratio(&sums, &found));
	benefit_add(&sums, 2, 1);
	assert_true(benefit_ratio(&sums, &found));
	assert_true(fabs(found.ratio - 2) < 1e-9 && fabs(found.high - 2) < 1e-6);
}

/* Every length is in its bucket, which is a 32nd of it wide at most; the ends are the last's. */
static void test_wakeup_buckets(void **state)
{
	for (uint64_t ns = 0; ns < 17000000000; ns += 1 + ns / 100) {
		uint32_t bucket = wakegov_wakeup_bucket(ns);
		uint64_t begin_ns = wakegov_wakeup_begin_ns(bucket);
		uint64_t end_ns = wakegov_wakeup_begin_ns(bucket + 1);

		assert_in_range(ns, begin_ns, end_ns - 1);
		assert_in_range(end_ns - begin_ns, 1, 1 + begin_ns / 32);
	}
	assert_int_equal(wakegov_wakeup_bucket(UINT64_MAX), WAKEGOV_WAKEUP_BUCKETS - 1);
}

/* Of 1 us, 2 us and so on the 99th percentile is known, within half a bucket. */
static void test_wakeup_p99(void **state)
{
	static const uint32_t numbers[] = { 100, 101, 1000, 12345, 100000 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t counts[WAKEGOV_WAKEUP_BUCKETS] = { 0 };

		for (uint32_t us = 1; us <= numbers[i]; us++)
			counts[wakegov_wakeup_bucket(us * 1000ULL)]++;
		assert_true(fabs(benefit_wakeup_p99_us(counts) / (0.99 * numbers[i]) - 1) < 0.016);
	}
}

/* All of one length: whatever their number it is that, and it differs from another by as much. */
static void test_wakeup_p99_of_one(void **state)
{
	uint64_t counts[WAKEGOV_WAKEUP_BUCKETS] = { 0 };

	counts[wakegov_wakeup_bucket(700000)] = BENEFIT_WAKEUPS_LEAST - 1;
	assert_true(benefit_wakeup_p99_us(counts) == 0);
	counts[wakegov_wakeup_bucket(700000)]++;
	assert_true(fabs(benefit_wakeup_p99_us(counts) / 700 - 1) < 0.03);
	/* One of a hundred is longer, and is the 99th percentile of 99. */
	counts[wakegov_wakeup_bucket(9000000)] = 1;
	assert_true(benefit_wakeup_p99_us(counts) < 725);
	counts[wakegov_wakeup_bucket(9000000)] = 2;
	assert_true(benefit_wakeup_p99_us(counts) > 8900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),		  cmocka_unit_test(test_order),
		cmocka_unit_test(test_coverage),	  cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_wakeup_buckets),	  cmocka_unit_test(test_wakeup_p99),
		cmocka_unit_test(test_wakeup_p99_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
