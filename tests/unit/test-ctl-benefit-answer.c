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

	findings = (struct benefit_findings){ .own = "IOPS", .energy_source = "powercap" };

	for (uint32_t i = 0; i < n_pairs; i++) {
		double with[FIGURES] = { 0 }, without[FIGURES] = { 0 };

		for (int j = 0; j < 2; j++) {
			const struct effect *effect = &effects[j];
			double noise = effect->noise * ((i + j) % 3 - 1.) / 100;

			without[effect->figure] = effect->without;
			with[effect->figure] = effect->without * (1 + effect->percent / 100) *
					       (1 + noise);
		}
		benefit_take_pair(&findings, with, without);
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
		  "would have been" },
		{ { { FIGURE_RUN, 20, -12, 0.5 }, { FIGURE_IOS, 24, 9, 3 } },
		  "run time: 12.0 ± 0.2 % shorter; what that takes in energy is not known here" },
		{ { { FIGURE_OWN, 20, -12, 0.5 }, { FIGURE_RUN, 24, 9, 3 } },
		  "IOPS: 12.0 ± 0.2 % less; what that takes in energy is not known here" },
		{ { { FIGURE_ESTIMATE, 0.5, 40, 1 }, { FIGURE_FREQUENCY, 900, 9, 3 } },
		  "estimated energy: 40.0 ± 0.6 % more; whether as much was done is not known" },
		{ { { FIGURE_IOS, 2000, 0, 6 }, { FIGURE_CPU, 0.3, 40, 2 } },
		  "no difference found; one above 2.6 % in I/Os would have been" },
		{ { { FIGURE_IOS, 2000, 12, 30 }, { FIGURE_ENERGY, 24, -20, 42 } },
		  "power: 2 to 9 W less, at the same I/Os (within 24 %)" },
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

static void test_too_few(void **state)
{
	const struct effect effects[2] = { { FIGURE_IOS, 2000, 12, 0 },
					   { FIGURE_ENERGY, 24, -9, 3 } };
	json_auto_t *answer = answer_of(effects, 2);

	assert_string_equal(json_string_value(json_object_get(answer, "verdict")),
			    "too little was measured to say: it takes 3 pairs of blocks");
	assert_int_equal(json_array_size(json_object_get(answer, "figures")), 0);
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

		benefit_take_pair(&findings, with, without);
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

			benefit_take_pair(&findings, with, without);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict), cmocka_unit_test(test_plot),
		cmocka_unit_test(test_too_few), cmocka_unit_test(test_measured_before_estimated),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_wakeups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
