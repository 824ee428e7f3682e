// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "ctl/moment.h"
#include "shared/cleanup.h"

#define S	  1000000ULL
#define MONOTONIC (100000 * S)						     /* a day and some */
#define REALTIME  ((20000 * 86400ULL + 14 * 3600 + 3 * 60 + 7) * S + 500000) /* 14:03:07.5 */

static void test_moments(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t ago_us;
	} cases[] = {
		{ "14:03:07", true, 500000 },
		{ "14:03:07.500", true, 0 },
		{ "14:03:06.250", true, 1250000 },
		/* later than now: it was yesterday */
		{ "14:03:08", true, 86399 * S + 500000 },
		{ "30s", true, 30 * S },
		{ "1.5h", true, 5400 * S },
		{ "99999s", true, 99999 * S },
		{ "100000s", false, 0 },
		{ "14:03", false, 0 },
		{ "24:00:00", false, 0 },
		{ "14:03:07.5", false, 0 },
		{ "14:03:07x", false, 0 },
		{ "", false, 0 },
		{ "soon", false, 0 },
	};

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t at_us = 0;
		bool good = moment_parse(cases[i].text, MONOTONIC, REALTIME, &at_us);

		if (good != cases[i].good || (good && MONOTONIC - at_us != cases[i].ago_us))
			print_message("'%s'\n", cases[i].text);
		assert_int_equal(good, cases[i].good);
		if (good)
			assert_int_equal(MONOTONIC - at_us, cases[i].ago_us);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
