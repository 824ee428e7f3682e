// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "ctl/format.h"
#include "shared/cleanup.h"

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

static void test_numbers(void **state)
{
	static const struct quantity_case cases[] = {
		{ "0", true, 0 }, { "812", true, 812 }, { "", false },	  { "-1", false },
		{ "1x", false },  { " 1", false },	{ "0x1", false },
	};

	check(quantity_number, cases, ARRAY_SIZE(cases));
}

static void test_frequencies(void **state)
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

static void test_times(void **state)
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

static void test_shares(void **state)
{
	static const struct quantity_case cases[] = {
		{ "100%", true, 100 }, { "40%", true, 40 }, { "0%", true, 0 },
		{ "101%", false },     { "40", false },
	};

	check(quantity_share, cases, ARRAY_SIZE(cases));
}

static void test_last_number(void **state)
{
	static const struct {
		const char *text;
		bool is_one;
		double number;
	} cases[] = {
		{ "1234\n", true, 1234 },
		{ "1234", true, 1234 },
		{ "17\nIOPS=12.5k, BW=48.8M\n\n  \n", true, 48800000 },
		{ "read: IOPS=12.5k\n", true, 12500 },
		{ "99.5 requests/s on sda1\n", true, 99.5 },
		{ "took 0.125s\n", true, 0.125 },
		{ "5\nnone here\n", false },
		{ "sda1 md127\n", false },
		{ "", false },
		{ "\n\n", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double number = -1;

		assert_int_equal(quantity_last_number(cases[i].text, &number), cases[i].is_one);
		assert_true(!cases[i].is_one || number == cases[i].number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	    cmocka_unit_test(test_frequencies),
		cmocka_unit_test(test_times),	    cmocka_unit_test(test_shares),
		cmocka_unit_test(test_last_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
