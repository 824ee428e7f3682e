// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/print.h"
#include "shared/cleanup.h"

/* What a table of these columns prints of these rows; the caller frees. */
static char *print(const char *columns, size_t width, const char *rows)
{
	json_auto_t *list = json_loads(rows, 0, NULL), *of = json_loads(columns, 0, NULL);
	const struct table table = { of, json_array_size(of), width, 0 };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(list);
	assert_non_null(of);
	assert_int_equal(table_print(&table, list, file), json_array_size(list) > 0);
	fclose(file);
	return text;
}

TEST(test_table)
{
	static const char columns[] =
		"[[\"NAME\", \"{name}\"], [\"N\", \"{n}\"], [\"WHY\", \"{why}\"]]";
	_cleanup_free_ char *text = print(columns, 0,
					  "[{\"name\": \"\xc3\xa9t\xc3\xa9\", \"n\": 1000},"
					  " {\"name\": \"escape\\u001b\", \"n\": null},"
					  " {\"name\": \"\", \"n\": 1}]");
	_cleanup_free_ char *empty = print(columns, 0, "[]");

	assert_string_equal(text, "NAME        N  WHY\n"
				  "\xc3\xa9t\xc3\xa9      1000  -\n"
				  "escape?     -  -\n"
				  "-           1  -\n");
	assert_string_equal(empty, "");
}

/* By the unit in the key, or another. What a daemon of another version leaves out is not known. */
TEST(test_values)
{
	static const struct {
		const char *value, *unit, *text;
	} cases[] = {
		{ "\"30%\"", "a", "30%" },
		{ "\"30%\"", ":level", "30 %" },
		{ "\"1.2GHz\"", ":level", "1200 MHz" },
		{ "\"\"", "a", "-" },
		{ "\"x\\u001b\"", "a", "x?" },
		{ "\"ab\"", ":4", "ab  " },
		{ "341", "b", "341" },
		{ "9223372036854775807", "b", "9223372036854775807" },
		{ "-1", ":left", "0 us" },
		{ "1200499", "c_khz", "1200 MHz" },
		{ "0", "c_khz", "-" },
		{ "1200500", ":mhz", "1201" },
		{ "345", "d_permille", "35 %" },
		{ "0", "e_gain_permille", "+0 %" },
		{ "341", "f_us", "341 us" },
		{ "3210", "g_milli", "3.2" },
		{ "61400", "g_millidegrees", "61.4 \xc2\xb0\x43" },
		{ "341", "h_cap", "33 %" },
		{ "0", "uid", "root" },
		{ "1000", "uid", "user 1000" },
		{ "true", "i", "yes" },
		{ "12.34", "changes_per_s", "12.3" },
		{ "{\"a_khz\": 800000}", ":all", "a 800 MHz" },
		{ "{}", "a", NULL },
		{ "[1]", "a", NULL },
		{ "null", "a", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_auto_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
		_cleanup_free_ char *text = value_text(value, cases[i].unit);

		if (!cases[i].text)
			assert_null(text);
		else
			assert_string_equal(text, cases[i].text);
	}
}

/* What templates make of fields that are known, or not. NULL: of one that it needs nothing is
 * known. */
TEST(test_templates)
{
	static const char object[] =
		"{\"a\": 1, \"b\": null, \"no\": false, \"yes\": true, \"word\": \"one\","
		" \"in\": {\"khz\": 800000}, \"list\": [{\"comm\": \"a\", \"pid\": null}, {\"comm\": \"b\", \"pid\": null}],"
		" \"comm\": \"fio\", \"pid\": 812, \"who\": \"boost-off\", \"name\": \"off\"}";
	static const struct {
		const char *template, *text;
	} cases[] = {
		{ "a {a}", "a 1" },
		{ "{b}", NULL },
		{ "{gone}", NULL },
		{ "x[ {b}]", "x" },
		{ "x[ {b}| {a}]", "x 1" },
		{ "{b}|{gone}|{a}|x", "1" },
		{ "{?yes}x", "x" },
		{ "{?no}x", NULL },
		{ "{!no}x", "x" },
		{ "{?word=one}x", "x" },
		{ "{?word=two}x", NULL },
		{ "{?word^on}x", "x" },
		{ "{!gone=one}x", "x" },
		{ "{?a=1}[{!a=1}s]x", "x" },
		{ "{in.khz}, {list.1.comm}", "800 MHz, b" },
		{ "{list>who:; }", "a; b" },
		{ "{list.0>who}", "a" },
		{ "{>who}", "fio, pid 812" },
		{ "{who@limiters}", "turbo is switched off (off)" },
		{ "{word@limiters}", NULL },
		{ "\\[{a}\\]", "[1]" },
		{ "{more}", "of another" },
		{ "[{a", "1" },
		{ "", "" },
	};
	json_auto_t *of = json_loads(object, 0, NULL);
	json_auto_t *more = json_loads("{\"more\": \"of another\"}", 0, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = words_text(cases[i].template, of, more);

		if (!cases[i].text)
			assert_null(text);
		else if (!text || strcmp(text, cases[i].text))
			fail_msg("%s: %s", cases[i].template, text ?: "NULL");
	}
}

/* A reason with its task and limit; this command's own task is said to be that. */
TEST(test_reason)
{
	json_auto_t *whole = json_pack("{ss ss si ss ss}", "reason", "io-boost", "comm", "fio",
				       "pid", 812, "limiter", "policy-max", "timing", "held");
	json_auto_t *idle = json_pack("{ss ss ss}", "reason", "idle", "limiter", "none", "timing",
				      "now");
	json_auto_t *own = json_pack("{ss si ss ss si}", "reason", "floor", "pid", (int)getpid(),
				     "comm", "", "limiter", "own-cap", "capped_pid", 7);
	json_auto_t *none = json_object();
	_cleanup_free_ char *text[] = {
		words_fill("parts", "reason", whole, NULL),
		words_fill("parts", "reason", idle, NULL),
		words_fill("parts", "reason", own, NULL),
		words_fill("parts", "reason", none, NULL),
	};

	assert_string_equal(text[0], "io-boost (fio, pid 812), limited by policy-max, held");
	assert_string_equal(text[1], "idle");
	assert_non_null(strstr(text[2], ", this command), limited by the cap that pid 7 asks for"));
	assert_string_equal(text[3], "-");
}

/* A rule of no file is a hint's or an override's. */
TEST(test_place)
{
	_cleanup_free_ char *text =
		print("[[\"PLACE\", \"{>place}\"]]", 0,
		      "[{\"file\": \"w.conf\", \"line\": 7}, {\"file\": \"\", \"name\":"
		      " \"override-1\"}, {\"file\": \"\", \"rule\": \"hint/background\"}]");

	assert_string_equal(text, "PLACE\nw.conf:7\nan override\na hint\n");
}

/* Lines that are too long move together, and then the column loses its ends. */
TEST(test_fit)
{
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
		_cleanup_free_ char *text = print(
			"[[\"NAME\", \"{name}\"], [\"N\", \"{n}\"], [\"WHY\", \"{why}\"]]",
			cases[i].width,
			"[{\"name\": \"\xc3\xa9t\xc3\xa9\xc3\xa9s\", \"n\": 1000, \"why\": \"why\"}]");

		assert_string_equal(text, cases[i].expected);
	}
}

/* What a terminal of so many columns gets of the domains' table, and of a paragraph. */
static void print_to_terminal(unsigned short columns, char *ret, size_t size)
{
	json_auto_t *domains = json_loads("[[\"DOMAIN\", \"{name}\"], [\"TARGET\", \"{khz}\"],"
					  " [\"REASON\", \"{why}\"]]",
					  0, NULL);
	const struct table table = { domains, 3 };
	json_auto_t *rows = json_loads(
		"[{\"name\": \"policy0\", \"khz\": 1800000, \"why\": \"utilisation\"}]", 0, NULL);
	struct winsize window = { .ws_row = 24, .ws_col = columns };
	int master, slave;
	ssize_t n;
	FILE *file;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, &window), 0);
	file = fdopen(slave, "w");
	assert_non_null(file);
	assert_true(table_print(&table, rows, file));
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
TEST(test_terminal)
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
