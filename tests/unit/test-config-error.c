// SPDX-License-Identifier: GPL-2.0-only
#include "test-config.h"

#include "config/error.h"

struct text_case {
	const char *text;
	int bad; /* offset of the first bad byte, -1: none */
};

static const struct text_case texts[] = {
	{ "", -1 },
	{ "plain\ttext ~", -1 },
	{ "\xc2\xa0 \xdf\xbf", -1 },
	{ "\xe0\xa0\x80 \xe2\x82\xac \xed\x9f\xbf \xef\xbf\xbf", -1 },
	{ "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", -1 },
	{ "a\x01", 1 },
	{ "a\x1b[31m", 1 },
	{ "ab\rc", 2 },
	{ "\x7f", 0 },
	{ "a\x80", 1 },	       /* continuation without a start */
	{ "\xc0\xaf", 0 },     /* overlong / */
	{ "\xc1\xbf", 0 },     /* overlong */
	{ "\xe0\x9f\xbf", 0 }, /* overlong in three bytes */
	{ "\xf0\x8f\xbf\xbf", 0 },
	{ "\xed\xa0\x80", 0 },	   /* surrogate */
	{ "\xf4\x90\x80\x80", 0 }, /* over U+10FFFF */
	{ "\xf5\x80\x80\x80", 0 },
	{ "\xff\xfe", 0 },
	{ "x\xc2", 1 }, /* cut off */
	{ "x\xe2\x82", 1 },
	{ "x\xf0\x90\x80", 1 },
	{ "x\xe2\x82x", 1 },
	{ "caf\xe9", 3 }, /* Latin-1 */
};

TEST(test_find_bad_byte)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct text_case *c = &texts[i];
		const char *bad = policy_text_find_bad_byte(c->text, strlen(c->text));

		if ((bad ? bad - c->text : -1) != c->bad)
			print_message("case %zu\n", i);
		assert_int_equal(bad ? bad - c->text : -1, c->bad);
	}
	assert_int_equal(policy_text_find_bad_byte("ab\0c", 4)[1], 'c');

	/* The character would be whole if the line went on. */
	assert_non_null(policy_text_find_bad_byte("x\xe2\x82\xac", 3));
	assert_non_null(policy_text_find_bad_byte("x\xe2\x82\xac", 2));
	assert_null(policy_text_find_bad_byte("x\xe2\x82\xac", 4));
}

TEST(test_escape)
{
	char shown[POLICY_TEXT_SIZE], text[POLICY_TEXT_SHOWN_MAX + 2];

	policy_text_escape("1.5 GHz", shown);
	assert_string_equal(shown, "1.5 GHz");
	policy_text_escape("\t\x1b\x7f\xc2\xb5", shown);
	assert_string_equal(shown, "\\x09\\x1b\\x7f\\xc2\\xb5");

	memset(text, 'x', sizeof(text));
	text[POLICY_TEXT_SHOWN_MAX] = '\0';
	policy_text_escape(text, shown);
	assert_string_equal(shown, text);

	/* The longest outcome fits to the byte. */
	memset(text, '\xff', sizeof(text));
	text[POLICY_TEXT_SHOWN_MAX + 1] = '\0';
	policy_text_escape(text, shown);
	assert_int_equal(strlen(shown) + 1, sizeof(shown));
	assert_string_equal(shown + sizeof(shown) - sizeof("\\xff..."), "\\xff...");
}
