// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/print.h"
#include "shared/cleanup.h"

static void assert_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

TEST(test_frequency)
{
	assert_text(format_frequency(0), "-");
	assert_text(format_frequency(1), "0 MHz");
	assert_text(format_frequency(1800000), "1800 MHz");
	assert_text(format_frequency(1799499), "1799 MHz");
	assert_text(format_frequency(1799500), "1800 MHz");
	assert_text(format_frequency(UINT64_MAX), "18446744073709552 MHz");
}

TEST(test_duration)
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

TEST(test_size)
{
	assert_text(format_size(0), "0 KiB");
	assert_text(format_size(1023), "1023 KiB");
	assert_text(format_size(1024), "1.0 MiB");
	assert_text(format_size(2150), "2.1 MiB");
}

TEST(test_time)
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

TEST(test_clean)
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

struct quantity_case {
	const char *text;
	bool good;
	uint64_t value;
};

static void check(bool (*read)(const char *text, uint64_t *ret), const struct quantity_case *cases,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 0;
		bool good = read(cases[i].text, &value);

		if (good != cases[i].good || (good && value != cases[i].value))
			print_message("'%s'\n", cases[i].text);
		assert_int_equal(good, cases[i].good);
		if (good)
			assert_int_equal(value, cases[i].value);
	}
}

TEST(test_numbers)
{
	static const struct quantity_case cases[] = {
		{ "0", true, 0 }, { "812", true, 812 }, { "", false },	  { "-1", false },
		{ "1x", false },  { " 1", false },	{ "0x1", false },
	};

	check(quantity_number, cases, ARRAY_SIZE(cases));
}

TEST(test_frequencies)
{
	static const struct quantity_case cases[] = {
		{ "1.2GHz", true, 1200000 },
		{ "800MHz", true, 800000 },
		{ "800000kHz", true, 800000 },
		{ "1200000", false },
		{ "0MHz", false },
		{ "9999GHz", false },
		{ "1.2 GHz", false },
	};

	check(quantity_frequency, cases, ARRAY_SIZE(cases));
}

TEST(test_times)
{
	static const struct quantity_case cases[] = {
		{ "10m", true, 600000000 },
		{ "10min", true, 600000000 },
		{ "30s", true, 30000000 },
		{ "1.5h", true, 5400000000 },
		{ "200ms", true, 200000 },
		{ "700us", true, 700 },
		{ "10", false },
		{ "1h30m", true, 5400000000 },
		{ "2d", true, 172800000000 },
		{ "48h", true, 172800000000 },
		{ "1m500ms", true, 60500000 },
		{ "1h30", false },
		{ "h30m", false },
		{ "", false },
		{ "9223372036854775ms9223372036854775ms", false },
		{ "10 m", false },
		{ "18446744073709551615h", false },
	};

	check(quantity_duration_us, cases, ARRAY_SIZE(cases));
}

TEST(test_shares)
{
	static const struct quantity_case cases[] = {
		{ "100%", true, 100 }, { "40%", true, 40 }, { "0%", true, 0 },
		{ "101%", false },     { "40", false },
	};

	check(quantity_share, cases, ARRAY_SIZE(cases));
}

#define S	  1000000ULL
#define MONOTONIC (100000 * S)						     /* a day and some */
#define REALTIME  ((20000 * 86400ULL + 14 * 3600 + 3 * 60 + 7) * S + 500000) /* 14:03:07.5 */

TEST(test_moments)
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
