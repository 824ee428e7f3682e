// SPDX-License-Identifier: GPL-2.0-only
#include "test-query.h"

#include <stdlib.h>

#include "query/utf8.h"
#include "shared/cleanup.h"

#define BAD "\xef\xbf\xbd"

static void test_repair(void **state)
{
	static const struct {
		const char *text;
		const char *repaired;
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
		{ "\xc0\xaf", BAD BAD },		    /* overlong */
		{ "\xe0\x80\xaf", BAD BAD BAD },	    /* overlong */
		{ "\xf0\x80\x80\xaf", BAD BAD BAD BAD },    /* overlong */
		{ "\xed\xa0\x80", BAD BAD BAD },	    /* surrogate */
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },    /* beyond U+10FFFF */
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" }, /* U+10FFFF */
		{ "\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *repaired = utf8_repair(cases[i].text);

		assert_string_equal(repaired, cases[i].repaired);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_repair) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
