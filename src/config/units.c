// SPDX-License-Identifier: GPL-2.0-only
/* Reads quantities with a unit, such as 20ms, 1.5GHz and 80%, in exact decimal arithmetic. */
#include "config/units.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <string.h>

const struct policy_units policy_units_none = {
	.noun = "a whole number",
	.list = { { "", 1 } },
};

const struct policy_units policy_units_duration = {
	.noun = "a duration",
	.list = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", 60000000000 },
	},
};

const struct policy_units policy_units_frequency = {
	.noun = "a frequency",
	.list = { { "kHz", 1 }, { "MHz", 1000 }, { "GHz", 1000000 } },
};

const struct policy_units policy_units_share = {
	.noun = "a share",
	.list = { { "%", 1 } },
};

const struct policy_units policy_units_capacity = {
	.noun = "a capacity",
	.list = { { "/1024", 1 } },
};

const struct policy_units policy_units_size = {
	.noun = "a size",
	.list = { { "B", 1 }, { "KiB", 1024 }, { "MiB", 1024 * 1024 } },
};

const struct policy_units policy_units_rate = {
	.noun = "a rate",
	.list = { { "/s", 1 } },
};

const struct policy_units policy_units_power = {
	.noun = "a power",
	.list = { { "uW", 1 }, { "mW", 1000 }, { "W", 1000000 } },
};

const struct policy_units policy_units_group = {
	.noun = "a group of this machine, by name or number,",
	.list = { { "", 1 } },
};

/* Unlike isdigit(), does not depend on the locale. */
#define DIGITS "0123456789"

/* Reads number / divisor off *text; zeros at the end of the decimals do not count. */
static int read_number(const char **text, uint64_t *number, uint64_t *divisor)
{
	size_t n_digits = strspn(*text, DIGITS), n_decimals = 0;
	const char *c = *text, *end = c + n_digits;

	if (n_digits && *end == '.') {
		n_decimals = strspn(end + 1, DIGITS);
		end += 1 + n_decimals;
	}
	if (!n_digits || end[-1] == '.')
		return -EINVAL;
	*text = end;
	for (; n_decimals && end[-1] == '0'; n_decimals--)
		end--;
	for (; c < end; c++)
		if (*c != '.' && (__builtin_mul_overflow(*number, 10, number) ||
				  __builtin_add_overflow(*number, *c - '0', number)))
			return -ERANGE;
	for (; n_decimals; n_decimals--)
		if (__builtin_mul_overflow(*divisor, 10, divisor))
			return -EINVAL;
	return 0;
}

int policy_units_parse(const struct policy_units *units, const char *text, uint64_t *ret)
{
	const struct group *group;
	uint64_t number = 0, divisor = 1;
	unsigned __int128 product;
	int r, unit = 0;

	if (units == &policy_units_group && strspn(text, DIGITS) == 0) {
		group = getgrnam(text);
		if (!group)
			return -EINVAL;
		*ret = group->gr_gid;
		return 0;
	}
	r = read_number(&text, &number, &divisor);
	if (r < 0)
		return r;
	while (units->list[unit].name && strcmp(units->list[unit].name, text) != 0)
		unit++;
	if (!units->list[unit].name)
		return -EINVAL;
	product = (unsigned __int128)number * units->list[unit].scale;
	if (product % divisor)
		return -EINVAL;
	if (product / divisor > UINT64_MAX)
		return -ERANGE;
	*ret = product / divisor;
	return 0;
}
