// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <string.h>

#include "shared/cleanup.h"
#include "varlink/reply.h"

#define BAD "\xef\xbf\xbd"

/* What is written through text, in quotes. */
static void assert_text(const char *text, const char *inside)
{
	struct buffer buffer = { .max = 4096 };
	char expected[256];
	struct json_out out;

	snprintf(expected, sizeof(expected), "\"%s\"", inside);
	json_out_init(&out, &buffer);
	field_text(&out, NULL, text);
	assert_int_equal(json_out_flush(&out), 0);
	assert_int_equal(buffer.length, strlen(expected));
	assert_memory_equal(buffer_bytes(&buffer), expected, buffer.length);
	buffer_deinit(&buffer);
}

TEST(test_text)
{
	static const struct {
		const char *text;
		const char *inside;
	} cases[] = {
		{ "", "" },
		{ "fio", "fio" },
		{ "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9" },
		{ "\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\x80", BAD },
		{ "a\xff"
		  "b",
		  "a" BAD "b" },
		{ "cut\xc3", "cut" BAD },
		{ "cut\xe2\x82", "cut" BAD BAD },
		{ "\xc3(", BAD "(" },
		{ "\xc0\xaf", BAD BAD },		  /* overlong */
		{ "\xe0\x80\xaf", BAD BAD BAD },	  /* overlong */
		{ "\xf0\x80\x80\xaf", BAD BAD BAD BAD },  /* overlong */
		{ "\xed\xa0\x80", BAD BAD BAD },	  /* surrogate */
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },  /* beyond U+10FFFF */
		{ "\xf4\x8f\xbf\xbf", "\\udbff\\udfff" }, /* U+10FFFF is no character */
		{ "\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD },
		{ "say \"x\\y\"", "say \\\"x\\\\y\\\"" },
		{ "\x1b[31m\n\x7f", "\\u001b[31m\\u000a\\u007f" },
		{ "\xc2\x9b\xe2\x80\xae", "\\u009b\\u202e" },
		{ "\xf3\xa0\x81\x81", "\\udb40\\udc41" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_text(cases[i].text, cases[i].inside);
}

static void write_all(struct json_out *out, const char *text)
{
	json_out_open(out, '{');
	json_out_key(out, "list");
	json_out_open(out, '[');
	field_count(out, NULL, 0);
	field_count(out, NULL, INT64_MAX);
	field_count(out, NULL, UINT64_MAX);
	field_text(out, NULL, text);
	field_null(out, NULL);
	field_bool(out, NULL, true);
	json_out_open(out, '{');
	json_out_close(out, '}');
	json_out_open(out, '[');
	field_count(out, NULL, 1);
	field_count(out, NULL, 2);
	json_out_close(out, ']');
	json_out_close(out, ']');
	json_out_key(out, "no");
	field_bool(out, NULL, false);
	json_out_close(out, '}');
}

#define ALL(text)                                                                      \
	"{\"list\":[0,9223372036854775807,9223372036854775807,\"" text "\",null,true," \
	"{},[1,2]],\"no\":false}"

TEST(test_commas)
{
	struct buffer buffer = { .max = 4096 };
	struct json_out out;

	json_out_init(&out, &buffer);
	write_all(&out, "x");
	assert_int_equal(json_out_flush(&out), 0);
	assert_int_equal(buffer.length, strlen(ALL("x")));
	assert_memory_equal(buffer_bytes(&buffer), ALL("x"), buffer.length);
	buffer_deinit(&buffer);
}

/* Whatever lies across the end of the scratch space comes through whole. */
TEST(test_sizes)
{
	char text[3000];

	for (size_t length = 900; length < sizeof(text); length++) {
		struct buffer buffer = { .max = 8192 };
		struct json_out out;

		memset(text, 'x', length);
		text[length] = '\0';
		json_out_init(&out, &buffer);
		write_all(&out, text);
		assert_int_equal(json_out_flush(&out), 0);
		assert_int_equal(buffer.length, strlen(ALL("")) + length);
		assert_memory_equal(buffer_bytes(&buffer) + buffer.length - 4, "lse}", 4);
		buffer_deinit(&buffer);
	}
}

TEST(test_full_buffer)
{
	struct buffer buffer = { .max = 2000 };
	struct json_out out;

	json_out_init(&out, &buffer);
	for (int i = 0; i < 100; i++)
		write_all(&out, "x");
	assert_int_equal(json_out_flush(&out), -EMSGSIZE);
	assert_in_range(buffer.length, 0, 2000);
	buffer_deinit(&buffer);
}

TEST(test_nobody_wants_to_know)
{
	struct json_out out;

	json_out_init(&out, NULL);
	for (int i = 0; i < 100; i++)
		write_all(&out, "x");
	assert_int_equal(json_out_flush(&out), 0);
}
