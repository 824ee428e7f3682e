// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/quantity.h"

#include "policy/units.h"

#define CAP_MAX 1024

/* Longer ones than a policy has; on a command line people write m for minutes. */
static const struct policy_units time_units = {
	.noun = "a time",
	.list = {
		{ "ms", 1000 },
		{ "s", 1000000 },
		{ "m", 60000000 },
		{ "min", 60000000 },
		{ "h", 3600000000 },
	},
};

bool quantity_number(const char *text, uint64_t *ret)
{
	return policy_units_parse(&policy_units_none, text, ret) == 0;
}

bool quantity_frequency(const char *text, uint64_t *ret_khz)
{
	return policy_units_parse(&policy_units_frequency, text, ret_khz) == 0 && *ret_khz &&
	       *ret_khz <= UINT32_MAX;
}

bool quantity_duration_us(const char *text, uint64_t *ret_us)
{
	return policy_units_parse(&time_units, text, ret_us) == 0 && *ret_us <= INT64_MAX;
}

bool quantity_cap(const char *text, uint64_t *ret_cap)
{
	uint64_t percent;

	if (policy_units_parse(&policy_units_share, text, &percent) < 0 || percent > 100)
		return false;
	*ret_cap = (percent * CAP_MAX + 50) / 100;
	return true;
}
