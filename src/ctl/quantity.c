// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/units.h"
#include "shared/time.h"

#define DIGITS	   "0123456789."
#define US_PER_DAY (24 * 3600 * US_PER_S)
#define PART_SIZE  32 /* "1h" of "1h30m" */

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

struct moment moment_now(void)
{
	return (struct moment){ time_now_ns() / NS_PER_US,
				time_of_clock_ns(CLOCK_REALTIME) / NS_PER_US };
}

/* Time since midnight, if text is a time of day. */
static bool parse_time_of_day(const char *text, uint64_t *ret_us)
{
	unsigned int hour, minute, second = 0, thousandth = 0;
	int to_minute = 0, n = 0, with_fraction = 0;

	if (sscanf(text, "%2u:%2u%n:%2u%n", &hour, &minute, &to_minute, &second, &n) < 2 ||
	    hour > 23 || minute > 59 || second > 60)
		return false;
	if (!n)
		n = to_minute;
	if (n > to_minute && text[n] == '.' &&
	    (sscanf(text + n, ".%3u%n", &thousandth, &with_fraction) != 1 || with_fraction != 4))
		return false;
	*ret_us = ((hour * 60ULL + minute) * 60 + second) * US_PER_S + thousandth * 1000ULL;
	return !text[n + with_fraction];
}

/* How long ago the wall clock showed that. */
static uint64_t age_of(uint64_t of_day_us, uint64_t now_realtime_us)
{
	time_t seconds = (time_t)(now_realtime_us / US_PER_S);
	uint64_t now_us;
	struct tm day;

	localtime_r(&seconds, &day);
	now_us = (uint64_t)((day.tm_hour * 60 + day.tm_min) * 60 + day.tm_sec) * US_PER_S +
		 now_realtime_us % US_PER_S;
	return now_us >= of_day_us ? now_us - of_day_us : now_us + US_PER_DAY - of_day_us;
}

/* One day before, by the local calendar. */
static bool parse_date(const char *text, uint64_t *ret_realtime_us)
{
	struct tm day = { .tm_isdst = -1 };
	uint64_t of_day_us;
	time_t then;
	int n = 0;

	if (sscanf(text, "%4d-%2d-%2d %n", &day.tm_year, &day.tm_mon, &day.tm_mday, &n) != 3 ||
	    !n || !parse_time_of_day(text + n, &of_day_us) || day.tm_year < 1970 ||
	    day.tm_mon < 1 || day.tm_mon > 12 || day.tm_mday < 1 || day.tm_mday > 31)
		return false;
	day.tm_year -= 1900;
	day.tm_mon--;
	/* A day may have 23 hours, so the time is not added to midnight. */
	day.tm_hour = (int)(of_day_us / US_PER_S / 3600);
	day.tm_min = (int)(of_day_us / US_PER_S / 60 % 60);
	day.tm_sec = (int)(of_day_us / US_PER_S % 60);
	then = mktime(&day);
	*ret_realtime_us = (uint64_t)then * US_PER_S + of_day_us % US_PER_S;
	return then >= 0;
}

int moment_parse(const char *text, const struct moment *now, struct moment *ret)
{
	uint64_t age_us, of_day_us, realtime_us;

	if (parse_time_of_day(text, &of_day_us))
		age_us = age_of(of_day_us, now->realtime_us);
	else if (parse_date(text, &realtime_us) && realtime_us <= now->realtime_us)
		age_us = now->realtime_us - realtime_us;
	else if (parse_date(text, &realtime_us))
		return -ERANGE;
	else if (!quantity_duration_us(text, &age_us))
		return -EINVAL;
	if (age_us >= now->realtime_us)
		return -ERANGE;
	ret->realtime_us = now->realtime_us - age_us;
	ret->monotonic_us = age_us < now->monotonic_us ? now->monotonic_us - age_us : 0;
	return 0;
}
