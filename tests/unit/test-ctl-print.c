// SPDX-License-Identifier: GPL-2.0-only
#include "test-varlink.h"

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/print.h"
#include "shared/cleanup.h"

static char *cell_none(const json_t *row, const char *key)
{
	return NULL;
}

/* What the table prints of these rows; the caller frees. */
static char *print(const struct table *table, const char *rows)
{
	json_auto_t *list = json_loads(rows, 0, NULL);
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(list);
	assert_int_equal(table_print(table, list, file), json_array_size(list) > 0);
	fclose(file);
	return text;
}

static void test_table(void **state)
{
	static const struct table_column columns[] = {
		{ "NAME", "name" },
		{ "N", "n" },
		{ "WHY", NULL, cell_none },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns) };
	_cleanup_free_ char *text = print(&table, "[{\"name\": \"\xc3\xa9t\xc3\xa9\", \"n\": 1000},"
						  " {\"name\": \"escape\\u001b\", \"n\": null},"
						  " {\"name\": \"\", \"n\": 1}]");
	_cleanup_free_ char *empty = print(&table, "[]");

	assert_string_equal(text, "NAME        N  WHY\n"
				  "\xc3\xa9t\xc3\xa9      1000  ?\n"
				  "escape?     -  ?\n"
				  "-           1  ?\n");
	assert_string_equal(empty, "");
}

/* By the unit in the key. What a daemon of another version leaves out is "-". */
static void test_cells(void **state)
{
	static const struct table_column columns[] = {
		{ "A", "a" },
		{ "B", "b" },
		{ "C", "c_khz" },
		{ "D", "d_permille" },
		{ "E", "e_gain_permille" },
		{ "F", "f_us" },
		{ "G", "g_milli" },
		{ "H", "h_cap" },
		{ "I", "i" },
		{ "J", "a", cell_level },
		{ "K", "b", cell_user },
	};
	static const struct table table = { columns, ARRAY_SIZE(columns) };
	_cleanup_free_ char *text = print(
		&table, "[{}, {\"a\": \"30%\", \"b\": 0, \"c_khz\": 1200499, \"d_permille\": 0,"
			" \"e_gain_permille\": 0, \"f_us\": 0, \"g_milli\": 3210, \"h_cap\": 0,"
			" \"i\": true}, {\"b\": 341, \"c_khz\": 0, \"d_permille\": 341,"
			" \"e_gain_permille\": 341, \"f_us\": 341, \"h_cap\": 341, \"i\": false}]");

	assert_string_equal(
		text, "A      B         C     D      E       F    G     H  I    J            K\n"
		      "-      -         -     -      -       -    -     -  -    -         root\n"
		      "30%    0  1200 MHz   0 %   +0 %    0 us  3.2   0 %  yes  30 %      root\n"
		      "-    341         -  34 %  +34 %  341 us    -  33 %  no   -     user 341\n");
}

/* A rule of no file is a hint's or an override's. */
static void test_place(void **state)
{
	static const struct table_column columns[] = { { "PLACE", "file", cell_place } };
	static const struct table table = { columns, 1 };
	_cleanup_free_ char *text =
		print(&table, "[{\"file\": \"w.conf\", \"line\": 7}, {\"file\": \"\", \"name\":"
			      " \"override-1\"}, {\"file\": \"\", \"rule\": \"hint/background\"}]");

	assert_string_equal(text, "PLACE\nw.conf:7\nan override\na hint\n");
}

/* Lines that are too long move together, and then the column loses its ends. */
static void test_fit(void **state)
{
	static const struct table_column columns[] = {
		{ "NAME", "name" },
		{ "N", "n" },
		{ "WHY", "why" },
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
		const struct table table = { columns, ARRAY_SIZE(columns), cases[i].width, 0 };
		_cleanup_free_ char *text = print(
			&table,
			"[{\"name\": \"\xc3\xa9t\xc3\xa9\xc3\xa9s\", \"n\": 1000, \"why\": \"why\"}]");

		assert_string_equal(text, cases[i].expected);
	}
}

/* What a terminal of so many columns gets of the domains' table, and of a paragraph. */
static void print_to_terminal(unsigned short columns, char *ret, size_t size)
{
	static const struct table_column domains[] = {
		{ "DOMAIN", "name" },
		{ "TARGET", "khz" },
		{ "REASON", "why" },
	};
	json_auto_t *rows = json_loads(
		"[{\"name\": \"policy0\", \"khz\": 1800000, \"why\": \"utilisation\"}]", 0, NULL);
	struct winsize window = { .ws_row = 24, .ws_col = columns };
	int master, slave;
	ssize_t n;
	FILE *file;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, &window), 0);
	file = fdopen(slave, "w");
	assert_non_null(file);
	assert_true(table_print(TABLE(domains), rows, file));
	paragraph_print(file, "note", "one two three four five six");
	fclose(file);
	/* Until the other end's last word was read, which is an error. */
	while ((n = read(master, ret, size - 1)) > 0) {
		ret += n;
		size -= (size_t)n;
	}
	*ret = '\0';
	close(master);
}

/* No line is longer than the terminal, and nothing is lost. */
static void test_terminal(void **state)
{
	static const struct {
		unsigned short columns;
		const char *expected;
	} cases[] = {
		{ 80, "DOMAIN     TARGET  REASON\r\npolicy0  1800 MHz  utilisation\r\n"
		      "note       one two three four five six\r\n" },
		{ 29, "DOMAIN    TARGET REASON\r\npolicy0 1800 MHz utilisation\r\n"
		      "note       one two three four\r\n           five six\r\n" },
		{ 24, "DOMAIN    TARGET\r\n  REASON\r\npolicy0 1800 MHz\r\n  utilisation\r\n"
		      "note       one two three\r\n           four five six\r\n" },
	};

	setenv("NO_COLOR", "1", 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[512];

		print_to_terminal(cases[i].columns, text, sizeof(text));
		assert_string_equal(text, cases[i].expected);
	}
}

static void test_table_of_many_rows(void **state)
{
	static const struct table_column columns[] = { { "N", "n" } };
	static const struct table table = { columns, 1 };
	char rows[16000] = "[{\"n\": 7}";
	_cleanup_free_ char *text = NULL;

	for (int i = 1; i < 1000; i++)
		strcat(rows, ", {\"n\": 7}");
	text = print(&table, strcat(rows, "]"));
	assert_int_equal(strlen(text), 2 * 1001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	 cmocka_unit_test(test_cells),
		cmocka_unit_test(test_place),	 cmocka_unit_test(test_fit),
		cmocka_unit_test(test_terminal), cmocka_unit_test(test_table_of_many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
