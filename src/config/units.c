// SPDX-License-Identifier: GPL-2.0-only
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
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int read_digits(const char **text, uint64_t *number)
{
	if (!is_digit(**text))
		return -EINVAL;
	for (; is_digit(**text); ++*text)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, **text - '0', number))
			return -ERANGE;
	return 0;
}

/* Appends the decimals to *number and counts them, without zeros at the end. */
static int read_decimals(const char **text, uint64_t *number, unsigned int *ret_n_decimals)
{
	const char *first = *text, *last = first, *c;

	for (c = first; is_digit(*c); c++)
		if (*c != '0')
			last = c + 1;
	if (c == first)
		return -EINVAL;
	*text = c;

	*ret_n_decimals = last - first;
	for (c = first; c < last; c++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *c - '0', number))
			return -ERANGE;
	return 0;
}

static bool divide_either(uint64_t *a, uint64_t *b, uint64_t prime)
{
	uint64_t *divided = *a % prime == 0 ? a : b;

	if (*divided % prime)
		return false;
	*divided /= prime;
	return true;
}

/* number · scale / 10^n_decimals, or -EINVAL if that is no whole number. */
static int apply_scale(uint64_t number, uint64_t scale, unsigned int n_decimals, uint64_t *ret)
{
	/* 10 is 2 · 5, both prime: what divides the product divides one of its factors. */
	for (; n_decimals; n_decimals--)
		if (!divide_either(&scale, &number, 2) || !divide_either(&scale, &number, 5))
			return -EINVAL;
	if (__builtin_mul_overflow(number, scale, &number))
		return -ERANGE;
	*ret = number;
	return 0;
}

int policy_units_parse(const struct policy_units *units, const char *text, uint64_t *ret)
{
	const struct group *group;
	unsigned int n_decimals = 0;
	uint64_t number = 0;
	int r, unit = 0;

	if (units == &policy_units_group && !is_digit(*text)) {
		group = getgrnam(text);
		if (!group)
			return -EINVAL;
		*ret = group->gr_gid;
		return 0;
	}
	r = read_digits(&text, &number);
	if (r < 0)
		return r;
	if (*text == '.') {
		text++;
		r = read_decimals(&text, &number, &n_decimals);
		if (r < 0)
			return r;
	}
	while (units->list[unit].name && strcmp(units->list[unit].name, text) != 0)
		unit++;
	if (!units->list[unit].name)
		return -EINVAL;
	return apply_scale(number, units->list[unit].scale, n_decimals, ret);
}
