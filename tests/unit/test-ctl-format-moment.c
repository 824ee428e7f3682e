// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "ctl/format.h"
#include "shared/cleanup.h"

#define S	  1000000ULL
#define MONOTONIC (100000 * S)						     /* a day and some */
#define REALTIME  ((20000 * 86400ULL + 14 * 3600 + 3 * 60 + 7) * S + 500000) /* 14:03:07.5 */

static void test_moments(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t ago_us;
	} cases[] = {
		{ "14:03:07", 0, 500000 },
		{ "14:03:07.500", 0, 0 },
		{ "14:03:06.250", 0, 1250000 },
		/* later than now: it was yesterday */
		{ "14:03:08", 0, 86399 * S + 500000 },
		{ "10:30", 0, (3 * 3600 + 33 * 60 + 7) * S + 500000 },
		{ "30s", 0, 30 * S },
		{ "1h", 0, 3600 * S },
		{ "1h30m", 0, 5400 * S },
		{ "1.5h", 0, 5400 * S },
		{ "99999s", 0, 99999 * S },
		/* before it was started: on the wall only */
		{ "100000s", 0, 100000 * S },
		{ "7d", 0, 7 * 86400 * S },
		{ "2024-10-04 14:03:07.500", 0, 0 },
		{ "2024-10-03 10:30", 0, (86400 + 3 * 3600 + 33 * 60 + 7) * S + 500000 },
		{ "2024-10-04 14:03:08", -ERANGE, 0 },
		{ "2024-10-04", -EINVAL, 0 },
		{ "2024-13-04 10:00", -EINVAL, 0 },
		{ "20001d", -ERANGE, 0 },
		{ "14:03", 0, 7 * S + 500000 },
		{ "24:00:00", -EINVAL, 0 },
		{ "14:03:07.5", -EINVAL, 0 },
		{ "14:03x", -EINVAL, 0 },
		{ "14:03.5", -EINVAL, 0 },
		{ "14:03:", -EINVAL, 0 },
		{ "14:03:07x", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "soon", -EINVAL, 0 },
	};

	const struct moment now = { MONOTONIC, REALTIME };

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct moment then = { 0 };
		int result = moment_parse(cases[i].text, &now, &then);

		if (result != cases[i].result ||
		    (!result && REALTIME - then.realtime_us != cases[i].ago_us))
			print_message("'%s'\n", cases[i].text);
		assert_int_equal(result, cases[i].result);
		if (result)
			continue;
		assert_int_equal(REALTIME - then.realtime_us, cases[i].ago_us);
		assert_int_equal(then.monotonic_us,
				 cases[i].ago_us < MONOTONIC ? MONOTONIC - cases[i].ago_us : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
