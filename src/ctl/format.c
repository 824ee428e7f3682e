// SPDX-License-Identifier: GPL-2.0-only
/* Quantities and moments: parsed from the command line, and formatted for people. */
#include "ctl/print.h"

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

/* "14:03:07.250", the last time that a clock showed it, or "2026-11-20 14:03". */
static bool parse_wall(const char *text, uint64_t now_us, uint64_t *ret_realtime_us)
{
	static const char *const formats[] = { "%T", "%R", "%F %T", "%F %R" };
	time_t seconds = (time_t)(now_us / US_PER_S), then;
	unsigned int thousandth = 0;
	const char *end = NULL;
	struct tm day;
	int n = 0;
	size_t i;

	for (i = 0; (!end || *end) && i < ARRAY_SIZE(formats); i++) {
		localtime_r(&seconds, &day);
		day.tm_sec = 0;
		end = strptime(text, formats[i], &day);
		/* Behind seconds. */
		if (end && i % 2 == 0 && sscanf(end, ".%3u%n", &thousandth, &n) == 1 && n == 4)
			end += n;
	}
	if (!end || *end)
		return false;
	day.tm_isdst = -1;
	then = mktime(&day);
	/* Without a day it is today, or else yesterday. */
	if (i <= 2 && (uint64_t)then * US_PER_S + thousandth * 1000ULL > now_us) {
		day.tm_mday--;
		day.tm_isdst = -1;
		then = mktime(&day);
	}
	*ret_realtime_us = (uint64_t)then * US_PER_S + thousandth * 1000ULL;
	return then >= 0;
}

int moment_parse(const char *text, const struct moment *now, struct moment *ret)
{
	uint64_t age_us, realtime_us;

	if (parse_wall(text, now->realtime_us, &realtime_us)) {
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
