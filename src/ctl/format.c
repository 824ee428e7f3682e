// SPDX-License-Identifier: GPL-2.0-only
/* Quantities and moments: parsed from the command line, and formatted for people. */
#include "ctl/format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/units.h"
#include "shared/cleanup.h"
#include "shared/text.h"
#include "shared/time.h"

#define US_PER_MIN (60 * US_PER_S)
#define US_PER_H   (60 * US_PER_MIN)
#define US_PER_DAY (24 * US_PER_H)
#define DIGITS	   "0123456789."
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

/* "2026-11-20 14:03", by the local calendar. */
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
	time_t seconds = (time_t)(now->realtime_us / US_PER_S);
	uint64_t age_us, of_day_us, realtime_us;
	struct tm day;

	if (parse_time_of_day(text, &of_day_us)) {
		/* How long ago the wall clock showed that: today, or else yesterday. */
		localtime_r(&seconds, &day);
		age_us = (uint64_t)((day.tm_hour * 60 + day.tm_min) * 60 + day.tm_sec) * US_PER_S +
			 now->realtime_us % US_PER_S;
		age_us += age_us >= of_day_us ? 0 : US_PER_DAY;
		age_us -= of_day_us;
	} else if (parse_date(text, &realtime_us)) {
		if (realtime_us > now->realtime_us)
			return -ERANGE;
		age_us = now->realtime_us - realtime_us;
	} else if (!quantity_duration_us(text, &age_us)) {
		return -EINVAL;
	}
	if (age_us >= now->realtime_us)
		return -ERANGE;
	ret->realtime_us = now->realtime_us - age_us;
	ret->monotonic_us = age_us < now->monotonic_us ? now->monotonic_us - age_us : 0;
	return 0;
}

char *format_print(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	return r < 0 ? NULL : text;
}

char *format_frequency(uint64_t khz)
{
	if (!khz)
		return format_print("-");
	return format_print("%llu MHz", khz / 1000ULL + (khz % 1000 >= 500));
}

/* Rounds down, so that 59.96 s does not become 60.0 s. */
static char *print_tenths(uint64_t us, uint64_t unit_us, const char *unit)
{
	unsigned long long tenths = us / (unit_us / 10);

	return format_print("%llu.%llu %s", tenths / 10, tenths % 10, unit);
}

static char *print_pair(uint64_t us, uint64_t large_us, const char *large, uint64_t small_us,
			const char *small)
{
	unsigned long long count = us / large_us, rest = us % large_us / small_us;

	return rest ? format_print("%llu %s %llu %s", count, large, rest, small)
		    : format_print("%llu %s", count, large);
}

char *format_duration(uint64_t us)
{
	if (us < US_PER_MS)
		return format_print("%llu us", (unsigned long long)us);
	if (us < US_PER_S)
		return print_tenths(us, US_PER_MS, "ms");
	if (us < US_PER_MIN)
		return print_tenths(us, US_PER_S, "s");
	if (us < US_PER_H)
		return print_pair(us, US_PER_MIN, "min", US_PER_S, "s");
	if (us < US_PER_DAY)
		return print_pair(us, US_PER_H, "h", US_PER_MIN, "min");
	return print_pair(us, US_PER_DAY, "d", US_PER_H, "h");
}

char *format_left(uint64_t us)
{
	return format_duration((us + US_PER_S / 2) / US_PER_S * US_PER_S);
}

char *format_size(uint64_t kib)
{
	if (kib < 1024)
		return format_print("%llu KiB", (unsigned long long)kib);
	return format_print("%.1f MiB", (double)kib / 1024);
}

char *format_level(const char *level)
{
	uint64_t khz, percent, us;

	if (level && quantity_frequency(level, &khz))
		return format_frequency(khz);
	if (level && quantity_duration_us(level, &us))
		return format_duration(us);
	if (level && quantity_share(level, &percent))
		return format_print("%llu %%", (unsigned long long)percent);
	return format_clean(level);
}

char *format_time(uint64_t monotonic_us, const struct moment *now)
{
	uint64_t realtime_us = now->realtime_us - now->monotonic_us + monotonic_us;
	time_t seconds = (time_t)(realtime_us / US_PER_S);
	struct tm day;

	if (!localtime_r(&seconds, &day))
		return format_print("-");
	return format_print("%02d:%02d:%02d.%03u", day.tm_hour, day.tm_min, day.tm_sec,
			    (unsigned int)(realtime_us % US_PER_S / US_PER_MS));
}

char *format_wall_time(uint64_t realtime_us)
{
	const struct moment now = { realtime_us, realtime_us };
	_cleanup_free_ char *of_day = format_time(realtime_us, &now);
	time_t seconds = (time_t)(realtime_us / US_PER_S), present = time(NULL);
	struct tm day, today;

	if (!localtime_r(&seconds, &day) || !localtime_r(&present, &today))
		return format_print("-");
	if (day.tm_yday == today.tm_yday && day.tm_year == today.tm_year)
		return take_ptr(of_day);
	return format_print("%02d-%02d %s", day.tm_mon + 1, day.tm_mday, of_day);
}

const char *format_own(uint64_t pid)
{
	return pid == (uint64_t)getpid() ? ", this command" : "";
}

char *format_clean(const char *text)
{
	char *clean = strdup(text ? text : "-");

	return clean ? text_clean(clean) : NULL;
}

json_t *format_json(const char *text)
{
	_cleanup_free_ char *clean = format_clean(text);

	return json_string(clean);
}
