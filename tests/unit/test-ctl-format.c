// SPDX-License-Identifier: GPL-2.0-only
#include "test-varlink.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/format.h"
#include "shared/cleanup.h"

static void assert_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

static void test_frequency(void **state)
{
	assert_text(format_frequency(0), "-");
	assert_text(format_frequency(1), "0 MHz");
	assert_text(format_frequency(1800000), "1800 MHz");
	assert_text(format_frequency(1799499), "1799 MHz");
	assert_text(format_frequency(1799500), "1800 MHz");
	assert_text(format_frequency(UINT64_MAX), "18446744073709552 MHz");
}

static void test_frequency_range(void **state)
{
	assert_text(format_frequency_range(800000, 3600000), "800-3600 MHz");
	assert_text(format_frequency_range(0, 3600000), "?-3600 MHz");
	assert_text(format_frequency_range(800000, 0), "800-? MHz");
	assert_text(format_frequency_range(0, 0), "-");
}

static void test_duration(void **state)
{
	static const struct {
		uint64_t us;
		const char *text;
	} cases[] = {
		{ 0, "0 us" },
		{ 999, "999 us" },
		{ 1000, "1.0 ms" },
		{ 9599, "9.5 ms" },
		{ 999999, "999.9 ms" },
		{ 1000000, "1.0 s" },
		{ 59999999, "59.9 s" },
		{ 60000000, "1 min" },
		{ 3599999999, "59 min 59 s" },
		{ 3600000000, "1 h" },
		{ 86399999999, "23 h 59 min" },
		{ 86400000000, "1 d" },
		{ 90000000000, "1 d 1 h" },
		{ UINT64_MAX, "213503982 d 8 h" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_text(format_duration(cases[i].us), cases[i].text);
}

static void test_size(void **state)
{
	assert_text(format_size(0), "0 KiB");
	assert_text(format_size(1023), "1023 KiB");
	assert_text(format_size(1024), "1.0 MiB");
	assert_text(format_size(2150), "2.1 MiB");
}

static void test_time(void **state)
{
	/* 1970-01-01 01:00:00.500 is now, at 100 s on the monotonic clock. */
	const struct moment now = { 100000000, 3600500000 };

	setenv("TZ", "UTC", 1);
	tzset();
	assert_text(format_time(100000000, &now), "01:00:00.500");
	assert_text(format_time(99000000, &now), "00:59:59.500");
	assert_text(format_time(99999999, &now), "01:00:00.499");
	assert_text(format_wall_time(3600500000), "01-01 01:00:00.500");
}

static void test_task(void **state)
{
	assert_text(format_task("fio", 812), "fio, pid 812");
	assert_text(format_task(NULL, 812), "pid 812");
	assert_text(format_task("fio", 0), "fio");
	assert_text(format_task(NULL, 0), "-");
}

static void test_reason(void **state)
{
	assert_text(format_reason("io-boost", "fio", 812, "policy-max", "held"),
		    "io-boost (fio, pid 812), limited by policy-max, held");
	assert_text(format_reason("idle", NULL, 0, "none", "now"), "idle");
	assert_text(format_reason("idle", NULL, 0, NULL, NULL), "idle");
	assert_text(format_reason(NULL, NULL, 0, NULL, NULL), "-");
}

static void test_clean(void **state)
{
	assert_text(format_clean(NULL), "-");
	assert_text(format_clean("plain \xc3\xa9\xe2\x82\xac"), "plain \xc3\xa9\xe2\x82\xac");
	assert_text(format_clean("\x1b[31m\n\t\x7f"), "?[31m???");
	/* U+009B begins an escape sequence on its own; U+00A0 does nothing. */
	assert_text(format_clean("\xc2\x9b"
				 "1m\xc2\xa0"),
		    "?1m\xc2\xa0");
	/* U+202E turns round what follows. */
	assert_text(format_clean("\xc2 \xe2\x80\xae"
				 "fdp"),
		    "? ?fdp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequency), cmocka_unit_test(test_frequency_range),
		cmocka_unit_test(test_duration),  cmocka_unit_test(test_size),
		cmocka_unit_test(test_time),	  cmocka_unit_test(test_task),
		cmocka_unit_test(test_reason),	  cmocka_unit_test(test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
