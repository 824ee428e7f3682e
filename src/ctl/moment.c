// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/moment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "ctl/quantity.h"
#include "shared/time.h"

#define US_PER_DAY (24 * 3600 * US_PER_S)

uint64_t moment_monotonic_us(void)
{
	return time_now_ns() / NS_PER_US;
}

uint64_t moment_realtime_us(void)
{
	return time_of_clock_ns(CLOCK_REALTIME) / NS_PER_US;
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
