// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/benefit.h"
#include "shared/cleanup.h"

/* What wakegov's blocks have over the others': some per cent more or less, and so much noise. */
struct effect {
	enum benefit_figure figure;
	double without, percent, noise;
};

static json_t *answer_of(const struct effect effects[2], uint32_t n_pairs)
{
	static struct benefit_findings findings;

	findings = (struct benefit_findings){ .own = "IOPS",
					      .energy_source = "powercap",
					      .block_s = 30 };

	for (uint32_t i = 0; i < n_pairs; i++) {
		double with[FIGURES] = { 0 }, without[FIGURES] = { 0 };

		for (int j = 0; j < 2; j++) {
			const struct effect *effect = &effects[j];
			double noise = effect->noise * ((i + j) % 3 - 1.) / 100;

			without[effect->figure] = effect->without;
			with[effect->figure] = effect->without * (1 + effect->percent / 100) *
					       (1 + noise);
		}
		benefit_add_pair(&findings, with, without);
	}
	return benefit_answer(&findings);
}

static void test_verdict(void **state)
{
	static const struct {
		struct effect effects[2];
		const char *verdict;
	} cases[] = {
		{ { { FIGURE_IOS, 2000, 0, 0.5 }, { FIGURE_ENERGY, 24, -9, 3 } },
		  "power: 2.2 ± 0.3 W less, at the same I/Os (within 0.21 %)" },
		{ { { FIGURE_IOS, 2000, -0.04, 0.05 }, { FIGURE_ENERGY, 24, -9, 3 } },
		  "power: 2.2 ± 0.3 W less, at the same I/Os (within 0.061 %)" },
		{ { { FIGURE_IOS, 2000, 12, 0.5 }, { FIGURE_ENERGY, 24, 0, 3 } },
		  "I/Os: 12.0 ± 0.2 % more, at the same power (within 1.3 %)" },
		{ { { FIGURE_IOS, 2000, 12, 0.5 }, { FIGURE_ENERGY, 24, 9, 3 } },
		  "I/Os: 12.0 ± 0.2 % more; power: 2.2 ± 0.3 W more" },
		{ { { FIGURE_IOS, 2000, 0, 6 }, { FIGURE_ESTIMATE, 0.4, 0, 9 } },
		  "no difference found; one above 2.6 % in I/Os, or above 4.0 % in estimated energy, "
		  "would have been; one above 2 % would be by --for 49m" },
		{ { { FIGURE_RUN, 20, -12, 0.5 }, { FIGURE_IOS, 24, 9, 3 } },
		  "run time: 12.0 ± 0.2 % shorter; what that takes in energy is not known here" },
		{ { { FIGURE_OWN, 20, -12, 0.5 }, { FIGURE_RUN, 24, 9, 3 } },
		  "IOPS: 12.0 ± 0.2 % less; what that takes in energy is not known here" },
		{ { { FIGURE_ESTIMATE, 0.5, 40, 1 }, { FIGURE_FREQUENCY, 900, 9, 3 } },
		  "estimated energy: 40.0 ± 0.6 % more; whether as much was done is not known" },
		{ { { FIGURE_IOS, 2000, 0, 6 }, { FIGURE_CPU, 0.3, 40, 2 } },
		  "no difference found; one above 2.6 % in I/Os would have been; one above 2 % would be "
		  "by --for 49m" },
		{ { { FIGURE_IOS, 2000, 12, 30 }, { FIGURE_ENERGY, 24, -20, 42 } },
		  "power: 2 to 9 W less, at the same I/Os (within 24 %)" },
		{ { { FIGURE_IOS, 2000, 0, 95 }, { FIGURE_CPU, 0.3, 40, 2 } },
		  "too unsteady to tell by I/Os; --for 122m may do" },
		{ { { FIGURE_CPU, 0.3, 40, 2 }, { FIGURE_FREQUENCY, 900, 9, 3 } },
		  "nothing to compare: no disk was used and no energy is known; name a COMMAND to "
		  "time" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_auto_t *answer = answer_of(cases[i].effects, 30);

		assert_non_null(answer);
		assert_string_equal(json_string_value(json_object_get(answer, "verdict")),
				    cases[i].verdict);
	}
}

static const json_t *figure_of(const json_t *answer, const char *name)
{
	const json_t *figure;
	size_t i;

	json_array_foreach(json_object_get(answer, "figures"), i, figure)
		if (!strcmp(json_string_value(json_object_get(figure, "name")), name))
			return figure;
	return NULL;
}

/* After the time that the verdict names, by as unsteady figures, the interval is as narrow. */
static void test_time_needed(void **state)
{
	static const double noises[] = { 2, 5, 10 };

	for (size_t i = 0; i < ARRAY_SIZE(noises); i++) {
		const struct effect effects[2] = { { FIGURE_IOS, 2000, 0, noises[i] },
						   { FIGURE_CPU, 1, 0, 0 } };
		json_auto_t *answer = answer_of(effects, 6), *later = NULL;
		const char *said = json_string_value(json_object_get(answer, "verdict"));
		const char *time = strstr(said, "one above 2 % would be by --for ");
		const json_t *ios;
		double half;

		assert_non_null(time);
		/* Pairs of two blocks of 30 s. */
		later = answer_of(effects, (uint32_t)atoi(strstr(time, "--for ") + 6));
		ios = figure_of(later, "ios_per_s");
		half = log(json_number_value(json_object_get(ios, "high")) /
			   json_number_value(json_object_get(ios, "low"))) /
		       2;
		assert_true(half < log(1.02) && half > log(1.01));
	}
}

static void test_too_few(void **state)
{
	const struct effect effects[2] = { { FIGURE_IOS, 2000, 12, 0 },
					   { FIGURE_ENERGY, 24, -9, 3 } };
	json_auto_t *answer = answer_of(effects, 2);

	assert_string_equal(
		json_string_value(json_object_get(answer, "verdict")),
		"too little was measured to say: it takes 3 pairs of blocks, which is --for 180s "
		"at least");
	assert_int_equal(json_array_size(json_object_get(answer, "figures")), 0);
}

/* Where energy is measured, an estimate of it is not shown beside. */
static void test_measured_before_estimated(void **state)
{
	const struct effect both[2] = { { FIGURE_ESTIMATE, 0.5, 40, 1 },
					{ FIGURE_ENERGY, 24, -9, 3 } };
	const struct effect one[2] = { { FIGURE_ESTIMATE, 0.5, 40, 1 }, { FIGURE_IOS, 24, -9, 3 } };
	json_auto_t *measured = answer_of(both, 6), *estimated = answer_of(one, 6);
	const json_t *watts = figure_of(measured, "watts");

	assert_null(figure_of(measured, "energy_estimate"));
	assert_string_equal(json_string_value(json_object_get(watts, "source")), "powercap");
	assert_non_null(figure_of(estimated, "energy_estimate"));
	assert_null(figure_of(estimated, "watts"));
}

/* A block without a figure leaves the pair's other figures. */
static void test_unknown(void **state)
{
	struct benefit_findings findings = { 0 };
	json_auto_t *answer = NULL;

	for (int i = 0; i < 4; i++) {
		const double with[FIGURES] = { [FIGURE_IOS] = 110, [FIGURE_ENERGY] = i ? 9 : 0 };
		const double without[FIGURES] = { [FIGURE_IOS] = 100, [FIGURE_ENERGY] = 9 };

		benefit_add_pair(&findings, with, without);
	}
	answer = benefit_answer(&findings);
	assert_int_equal(
		json_integer_value(json_object_get(figure_of(answer, "ios_per_s"), "pairs")), 4);
	assert_int_equal(json_integer_value(json_object_get(figure_of(answer, "watts"), "pairs")),
			 3);
}

/* Wake-ups that were asked for come first in the verdict; those of the command come last. */
static void test_wakeups(void **state)
{
	static const char *const verdicts[] = {
		"I/Os: 11.9 ± 0.5 % more; what that takes in energy is not known here",
		"wake-up latency p99: 30.0 ± 0.2 % shorter; what that takes in energy is not known "
		"here",
	};

	for (int asked = 0; asked < 2; asked++) {
		struct benefit_findings findings = { .wakeups_of = "postgres",
						     .wakeups_asked = asked };
		json_auto_t *answer = NULL;
		const json_t *figure;

		for (int i = 0; i < 6; i++) {
			const double without[FIGURES] = {
				[FIGURE_WAKEUP] = 100, [FIGURE_IOS] = 1000 + i % 2
			};
			const double with[FIGURES] = { [FIGURE_WAKEUP] = 70 + 0.2 * (i % 2 - 0.5),
						       [FIGURE_IOS] = 1120 + 3 * (i % 3 - 1) };

			benefit_add_pair(&findings, with, without);
		}
		answer = benefit_answer(&findings);
		figure = figure_of(answer, "wakeup_p99_us");
		assert_string_equal(json_string_value(json_object_get(figure, "of")), "postgres");
		assert_string_equal(json_string_value(json_object_get(answer, "verdict")),
				    verdicts[asked]);
	}
}

/* A mark for each pair of each figure, and the words of the answer. */
static void test_plot(void **state)
{
	static const struct effect effects[2] = { { FIGURE_IOS, 2000, 12, 0.5 },
						  { FIGURE_ENERGY, 24, -9, 3 } };
	json_t *answer = answer_of(effects, 7);
	char *text = NULL;
	size_t size = 0, marks = 0;
	FILE *out = open_memstream(&text, &size);

	benefit_plot(out, answer);
	assert_int_equal(fclose(out), 0);
	for (const char *at = text; (at = strstr(at, "fill=\"#08519c\"")); at++)
		marks++;
	assert_int_equal(marks, 2 * 7);
	assert_non_null(strstr(text, json_string_value(json_object_get(answer, "verdict"))));
	assert_non_null(strstr(text, "7 pairs of blocks"));
	assert_non_null(strstr(text, "</svg>"));
	assert_null(strstr(text, "nan"));
	free(text);
	json_decref(answer);
}

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

static void test_too_few_pairs(void **state)
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
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_plot),
		cmocka_unit_test(test_time_needed),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_measured_before_estimated),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_wakeups),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_too_few_pairs),
		cmocka_unit_test(test_wakeup_buckets),
		cmocka_unit_test(test_wakeup_p99),
		cmocka_unit_test(test_wakeup_p99_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
