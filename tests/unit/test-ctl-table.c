// SPDX-License-Identifier: GPL-2.0-only
#include "test-varlink.h"

#include <stdlib.h>

#include "ctl/suggest.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

static void test_table(void **state)
{
	static const struct table_column columns[] = {
		{ "NAME", TABLE_LEFT },
		{ "N", TABLE_RIGHT },
		{ "WHY", TABLE_LEFT },
	};
	_cleanup_free_ char *text = NULL;
	struct table table;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	table_init(&table, columns, ARRAY_SIZE(columns));
	table_add_text(&table, "\xc3\xa9t\xc3\xa9");
	table_add_text(&table, "1000");
	table_add_text(&table, "because");
	table_add_text(&table, "escape\x1b");
	table_add_text(&table, NULL);
	table_add(&table, NULL);
	table_print(&table, file);
	table_deinit(&table);
	fclose(file);

	assert_string_equal(text, "NAME        N  WHY\n"
				  "\xc3\xa9t\xc3\xa9      1000  because\n"
				  "escape?     -  ?\n");
}

/* Lines that are too long move together, and then the column loses its ends. */
static void test_fit(void **state)
{
	static const struct table_column columns[] = {
		{ "NAME", TABLE_LEFT },
		{ "N", TABLE_RIGHT },
		{ "WHY", TABLE_LEFT },
	};
	static const struct {
		size_t width;
		const char *expected;
	} cases[] = {
		{ 0, "NAME      N  WHY\n\xc3\xa9t\xc3\xa9\xc3\xa9s  1000  why\n" },
		{ 16, "NAME      N  WHY\n\xc3\xa9t\xc3\xa9\xc3\xa9s  1000  why\n" },
		{ 15, "NAME     N WHY\n\xc3\xa9t\xc3\xa9\xc3\xa9s 1000 why\n" },
		{ 14, "NAME     N WHY\n\xc3\xa9t\xc3\xa9\xc3\xa9s 1000 why\n" },
		{ 13, "NAME    N WHY\n\xc3\xa9t\xc3\xa9\xc3\xa9 1000 why\n" },
		{ 1, "NAME    N WHY\n\xc3\xa9t\xc3\xa9\xc3\xa9 1000 why\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = NULL;
		struct table table;
		size_t size;
		FILE *file = open_memstream(&text, &size);

		table_init(&table, columns, ARRAY_SIZE(columns));
		table_fit(&table, cases[i].width, 0);
		table_add_text(&table, "\xc3\xa9t\xc3\xa9\xc3\xa9s");
		table_add_text(&table, "1000");
		table_add_text(&table, "why");
		table_print(&table, file);
		table_deinit(&table);
		fclose(file);
		assert_string_equal(text, cases[i].expected);
	}
}

static void test_table_of_many_rows(void **state)
{
	static const struct table_column columns[] = { { "N", TABLE_RIGHT } };
	_cleanup_free_ char *text = NULL;
	struct table table;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	table_init(&table, columns, 1);
	for (int i = 0; i < 1000; i++)
		table_add_text(&table, "7");
	table_print(&table, file);
	table_deinit(&table);
	fclose(file);
	assert_int_equal(size, 2 * 1001);
}

static void test_suggest(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_table_of_many_rows),
		cmocka_unit_test(test_suggest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
