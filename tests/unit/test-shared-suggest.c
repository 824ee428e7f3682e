// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "shared/cleanup.h"
#include "shared/suggest.h"

static void test_matches(void **state)
{
	static const struct {
		const char *typed;
		const char *meant;
		int matches;
	} cases[] = {
		{ "stauts", "status", 1 },
		{ "stat", "status", 1 },
		{ "statuss", "status", 1 },
		{ "Status", "status", 1 },
		{ "task", "tasks", 1 },
		{ "taks", "tasks", 1 },
		{ "desicions", "decisions", 1 },
		{ "rload", "reload", 1 },
		{ "", "status", 0 },
		{ "start", "tasks", 0 },
		{ "stop", "tasks", 0 },
		{ "xyz", "status", 0 },
		{ "tatussssss", "status", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(suggest_matches(cases[i].typed, cases[i].meant), cases[i].matches);
}

static void test_closest(void **state)
{
	static const char *const names[] = { "hold", "holds", "slack",
					     "a-word-of-more-than-32-characters" };
	static const struct {
		const char *typed;
		const char *closest;
	} cases[] = {
		{ "hold", "hold" },
		{ "hodl", "hold" },
		{ "holdss", "holds" },
		{ "old", "hold" },
		{ "slakc", "slack" },
		{ "h", NULL },
		{ "kitten", NULL },
		{ "", NULL },
		{ "a-word-of-more-than-32-character", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *closest = NULL;

		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			suggest_closest(cases[i].typed, names[j], &closest);
		if (cases[i].closest)
			assert_string_equal(closest, cases[i].closest);
		else
			assert_null(closest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_closest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
