// SPDX-License-Identifier: GPL-2.0-only
/* Foreign text: for every code point, and for whatever bytes there are. Mistyped words. */
#include "test.h"

#include <stdbool.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/text.h"
#include "varlink/reply.h"

#define ROUNDS	   200000
#define LENGTH_MAX 24

static size_t encode(uint32_t code, char ret[5])
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	ret[n] = '\0';
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		ret[i] = (char)(0x80 | (code & 0x3f));
	ret[0] = (char)(n == 1 ? code : (0xf00u >> n & 0xff) | code);
	return n;
}

TEST(test_every_code_point)
{
	for (uint32_t code = 1; code <= 0x10ffff; code++) {
		struct text_character c;
		char text[5], copy[5];
		size_t n = encode(code, text);

		strcpy(copy, text);
		c = text_first(text, n);
		if (code >= 0xd800 && code <= 0xdfff) {
			assert_int_equal(c.kind, TEXT_INVALID);
			continue;
		}
		assert_int_equal(c.code, code);
		assert_int_equal(c.length, n);
		assert_string_equal(text_clean(copy), c.kind == TEXT_PLAIN ? text : "?");
		/* Cut anywhere it is none. */
		for (size_t cut = 1; cut < n; cut++)
			assert_int_equal(text_first(text, cut).kind, TEXT_INVALID);
	}
	assert_int_equal(text_first("", 0).kind, TEXT_END);
	assert_int_equal(text_first("", 1).kind, TEXT_UNSAFE);
}

/* What a terminal, a reader of lines or a reader of text would obey; and what none does. */
TEST(test_unsafe)
{
	static const uint32_t codes[] = { 0x1,	  '\n',	  0x1b,	  0x7f,	  0x80,	   0x9b,   0x9f,
					  0xad,	  0x61c,  0x200b, 0x200f, 0x2028,  0x202a, 0x202e,
					  0x2066, 0x2069, 0xfeff, 0xfffe, 0x1ffff, 0xe0041 };
	static const char *const plain[] = { "kworker/0:1H", "\xc3\xa9t\xc3\xa9",
					     "\xe2\x82\xac", "\xf0\x9f\x98\x80",
					     "\xe6\xbc\xa2", " ~" };
	char text[16];

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		assert_int_equal(text_first(text, encode(codes[i], text)).kind, TEXT_UNSAFE);
		assert_string_equal(text_clean(text), "?");
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		strcpy(text, plain[i]);
		assert_string_equal(text_clean(text), plain[i]);
	}
}

TEST(test_invalid)
{
	static const struct {
		const char *text;
		const char *clean;
	} cases[] = {
		{ "a\xff"
		  "b",
		  "a?b" },
		{ "cut\xe2\x82", "cut??" },
		{ "\xc3(", "?(" },
		{ "\xc0\xaf", "??" },
		{ "\xe0\x80\xaf", "???" },
		{ "\xed\xa0\x80", "???" },
		{ "\xf4\x90\x80\x80", "????" },
		{ "x\xc2\x9b[31m\n", "x?[31m?" },
		{ "\xe2\x80\xae"
		  "fdp.exe",
		  "?fdp.exe" },
	};
	char text[32];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		strcpy(text, cases[i].text);
		assert_string_equal(text_clean(text), cases[i].clean);
	}
}

/* Bytes as they come, more often those with which something begins. */
static size_t make_bytes(char ret[LENGTH_MAX + 1])
{
	static const char liked[] = "\x1b\n\"\\<&\xc2\x9b\xe2\x80\xae\xf0\x9f\x98\x80\xff\x7f";
	size_t length = (size_t)rand() % (LENGTH_MAX + 1);

	for (size_t i = 0; i < length; i++)
		ret[i] = (char)(rand() % 2 ? liked[rand() % (sizeof(liked) - 1)]
					   : 1 + rand() % 255);
	ret[length] = '\0';
	return length;
}

static void assert_plain(const char *text)
{
	struct text_character c;

	for (size_t left = strlen(text); (c = text_first(text, left)).kind != TEXT_END;
	     text += c.length, left -= c.length)
		assert_int_equal(c.kind, TEXT_PLAIN);
}

/* Our JSON of it: plain throughout, and as jansson reads it again what was there. */
static void assert_json(const char *text)
{
	struct buffer buffer = { .max = 4096 };
	struct json_out out;
	json_t *value, *expected = json_string(text);

	json_out_init(&out, &buffer);
	field_text(&out, NULL, text);
	assert_int_equal(json_out_flush(&out), 0);
	assert_int_equal(buffer_append(&buffer, "", 1), 0);
	assert_plain(buffer_bytes(&buffer));
	value = json_loads(buffer_bytes(&buffer), JSON_DECODE_ANY, NULL);
	assert_true(json_is_string(value));
	/* jansson makes no string of what is not UTF-8. */
	assert_true(!expected || json_equal(value, expected));
	json_decref(value);
	json_decref(expected);
	buffer_deinit(&buffer);
}

TEST(test_whatever_bytes)
{
	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		char text[LENGTH_MAX + 1], clean[LENGTH_MAX + 1], twice[LENGTH_MAX + 1];
		size_t length = make_bytes(text);

		assert_plain(text_clean(strcpy(clean, text)));
		assert_in_range(strlen(clean), 0, length);
		strcpy(twice, clean);
		assert_string_equal(text_clean(twice), clean);
		assert_json(text);
	}
}

TEST(test_closest)
{
	static const char *const names[] = { "hold",	      "holds",
					     "slack",	      "max-frequency",
					     "min-frequency", "a-word-of-more-than-32-characters",
					     "status",	      "tasks",
					     "decisions",     "reload" };
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
		{ "a-word-of-more-than-32-charactres", NULL },
		{ "a-word-of-more-than-32-char", "a-word-of-more-than-32-characters" },
		{ "maxfreq", "max-frequency" },
		{ "min_freq", "min-frequency" },
		{ "MaxFrequency", "max-frequency" },
		{ "max-frequencyx", "max-frequency" },
		{ "ma", NULL },
		{ "freq", NULL },
		{ "stauts", "status" },
		{ "stat", "status" },
		{ "statuss", "status" },
		{ "Status", "status" },
		{ "task", "tasks" },
		{ "taks", "tasks" },
		{ "desicions", "decisions" },
		{ "rload", "reload" },
		{ "start", NULL },
		{ "stop", NULL },
		{ "tatussssss", NULL },
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
