// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "test-config.h"

#include "config/units.h"

struct unit_case {
	const struct policy_units *units;
	const char *text;
	int error;
	uint64_t number;
};

#define NONE	  (&policy_units_none)
#define DURATION  (&policy_units_duration)
#define FREQUENCY (&policy_units_frequency)
#define SHARE	  (&policy_units_share)
#define SIZE	  (&policy_units_size)
#define RATE	  (&policy_units_rate)

static const struct unit_case cases[] = {
	{ NONE, "0", 0, 0 },
	{ NONE, "16", 0, 16 },
	{ NONE, "007", 0, 7 },
	{ NONE, "3.0", 0, 3 },
	{ NONE, "18446744073709551615", 0, UINT64_MAX },
	{ NONE, "18446744073709551616", -ERANGE },
	{ NONE, "99999999999999999999999", -ERANGE },
	{ NONE, "3.5", -EINVAL },
	{ NONE, "", -EINVAL },
	{ NONE, "-1", -EINVAL },
	{ NONE, "+1", -EINVAL },
	{ NONE, " 1", -EINVAL },
	{ NONE, "1 ", -EINVAL },
	{ NONE, "1k", -EINVAL },
	{ NONE, "0x10", -EINVAL },
	{ NONE, "1e3", -EINVAL },
	{ NONE, "1,000", -EINVAL },
	{ NONE, "nan", -EINVAL },
	{ NONE, "inf", -EINVAL },

	{ DURATION, "1ns", 0, 1 },
	{ DURATION, "1us", 0, 1000 },
	{ DURATION, "1ms", 0, 1000000 },
	{ DURATION, "1s", 0, 1000000000 },
	{ DURATION, "1min", 0, 60000000000 },
	{ DURATION, "2.5ms", 0, 2500000 },
	{ DURATION, "0.000001ms", 0, 1 },
	{ DURATION, "0.0000001ms", -EINVAL },
	{ DURATION, "0.05min", 0, 3000000000 },
	{ DURATION, "0.00000000005min", 0, 3 },
	{ DURATION, "0.00000000001min", -EINVAL },
	{ DURATION, "1.50000000000000000000000000000000s", 0, 1500000000 },
	{ DURATION, "0.5ns", -EINVAL },
	{ DURATION, "1.0ns", 0, 1 },
	{ DURATION, "18446744073709551615ns", 0, UINT64_MAX },
	{ DURATION, "18446744073709551615us", -ERANGE },
	{ DURATION, "1.8446744073709551616s", -ERANGE },
	{ DURATION, "20", -EINVAL },
	{ DURATION, "20 ms", -EINVAL },
	{ DURATION, "20MS", -EINVAL },
	{ DURATION, "20m", -EINVAL },
	{ DURATION, "20msec", -EINVAL },
	{ DURATION, "20\xc2\xb5s", -EINVAL },
	{ DURATION, ".5ms", -EINVAL },
	{ DURATION, "5.ms", -EINVAL },
	{ DURATION, "5..0ms", -EINVAL },
	{ DURATION, "1.2.3ms", -EINVAL },
	{ DURATION, "1,5ms", -EINVAL },
	{ DURATION, "ms", -EINVAL },
	{ DURATION, "1ms1us", -EINVAL },

	{ FREQUENCY, "0.1GHz", 0, 100000 },
	{ FREQUENCY, "0.3GHz", 0, 300000 },
	{ FREQUENCY, "1.5GHz", 0, 1500000 },
	{ FREQUENCY, "2.345678GHz", 0, 2345678 },
	{ FREQUENCY, "2.3456789GHz", -EINVAL },
	{ FREQUENCY, "800MHz", 0, 800000 },
	{ FREQUENCY, "1333.333MHz", 0, 1333333 },
	{ FREQUENCY, "1333.3333MHz", -EINVAL },
	{ FREQUENCY, "1200000kHz", 0, 1200000 },
	{ FREQUENCY, "1200000", -EINVAL },
	{ FREQUENCY, "1.5Ghz", -EINVAL },
	{ FREQUENCY, "1000000000Hz", -EINVAL },

	{ SHARE, "80%", 0, 80 },
	{ SHARE, "80", -EINVAL },
	{ SHARE, "12.5%", -EINVAL },
	{ SHARE, "80%%", -EINVAL },

	{ SIZE, "17B", 0, 17 },
	{ SIZE, "64KiB", 0, 65536 },
	{ SIZE, "1.5KiB", 0, 1536 },
	{ SIZE, "0.0009765625KiB", 0, 1 },
	{ SIZE, "0.1KiB", -EINVAL },
	{ SIZE, "16MiB", 0, 16777216 },
	{ SIZE, "64KB", -EINVAL },
	{ SIZE, "64K", -EINVAL },

	{ RATE, "1000/s", 0, 1000 },
	{ RATE, "1000", -EINVAL },
	{ RATE, "1000/min", -EINVAL },
};

TEST(test_parse)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct unit_case *c = &cases[i];
		uint64_t number = 0xdead;
		int r = policy_units_parse(c->units, c->text, &number);

		if (r != c->error)
			print_message("%s '%s'\n", c->units->noun, c->text);
		assert_int_equal(r, c->error);
		assert_int_equal(number, r < 0 ? 0xdead : c->number);
	}
}
