// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/quantity.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/units.h"

#define DIGITS	  "0123456789."
#define PART_SIZE 32 /* "1h" of "1h30m" */

/* Longer units than a policy has; people type m for minutes. */
static const struct policy_units time_units = {
	.noun = "a time",
	.list = {
		{ "us", 1 },
		{ "ms", 1000 },
		{ "s", 1000000 },
		{ "m", 60000000 },
		{ "min", 60000000 },
		{ "h", 3600000000 },
		{ "d", 86400000000 },
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
	char part[PART_SIZE];
	uint64_t us;

	*ret_us = 0;
	do {
		size_t length = strspn(text, DIGITS);

		length += strcspn(text + length, DIGITS);
		if (length >= sizeof(part))
			return false;
		memcpy(part, text, length);
		part[length] = '\0';
		if (policy_units_parse(&time_units, part, &us) < 0 ||
		    __builtin_add_overflow(*ret_us, us, ret_us))
			return false;
		text += length;
	} while (*text);
	return *ret_us <= INT64_MAX;
}

bool quantity_share(const char *text, uint64_t *ret_percent)
{
	return policy_units_parse(&policy_units_share, text, ret_percent) == 0 &&
	       *ret_percent <= 100;
}

static double scale_of(char suffix)
{
	switch (suffix) {
	case 'k':
	case 'K':
		return 1e3;
	case 'M':
		return 1e6;
	case 'G':
		return 1e9;
	default:
		return 1;
	}
}

bool quantity_last_number(const char *text, double *ret)
{
	size_t end = strlen(text), begin;
	bool found = false;
	char before = ' ';

	while (end && isspace((unsigned char)text[end - 1]))
		end--;
	for (begin = end; begin && text[begin - 1] != '\n'; begin--)
		;
	for (const char *at = text + begin; at < text + end; at++) {
		char *after;

		if (isdigit((unsigned char)*at) && !isalnum((unsigned char)before)) {
			*ret = strtod(at, &after);
			*ret *= scale_of(*after);
			found = true;
			at = after - 1;
		}
		before = *at;
	}
	return found;
}
