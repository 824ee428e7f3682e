// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/format.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared/cleanup.h"
#include "shared/text.h"
#include "shared/time.h"

#define US_PER_MIN (60 * US_PER_S)
#define US_PER_H   (60 * US_PER_MIN)
#define US_PER_DAY (24 * US_PER_H)

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

static unsigned long long to_mhz(uint64_t khz)
{
	return khz / 1000 + (khz % 1000 >= 500);
}

char *format_frequency(uint64_t khz)
{
	return khz ? format_print("%llu MHz", to_mhz(khz)) : format_print("-");
}

char *format_frequency_range(uint64_t min_khz, uint64_t max_khz)
{
	if (!min_khz && !max_khz)
		return format_print("-");
	if (!min_khz)
		return format_print("?-%llu MHz", to_mhz(max_khz));
	if (!max_khz)
		return format_print("%llu-? MHz", to_mhz(min_khz));
	return format_print("%llu-%llu MHz", to_mhz(min_khz), to_mhz(max_khz));
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
	_cleanup_free_ char *time = format_time(realtime_us, &now);
	time_t seconds = (time_t)(realtime_us / US_PER_S);
	struct tm day;

	if (!localtime_r(&seconds, &day))
		return format_print("-");
	return format_print("%02d-%02d %s", day.tm_mon + 1, day.tm_mday, time);
}

char *format_task(const char *comm, uint64_t pid)
{
	_cleanup_free_ char *name = comm ? format_clean(comm) : NULL;

	if (name && pid)
		return format_print("%s, pid %llu", name, (unsigned long long)pid);
	if (pid)
		return format_print("pid %llu", (unsigned long long)pid);
	return format_print("%s", name ? name : "-");
}

char *format_reason(const char *reason, const char *comm, uint64_t pid, const char *limiter,
		    const char *timing)
{
	_cleanup_free_ char *task = format_task(comm, pid);
	bool by_task = comm || pid;
	bool limited = limiter && strcmp(limiter, "none") != 0;
	bool delayed = timing && strcmp(timing, "now") != 0;

	if (!task)
		return NULL;
	return format_print("%s%s%s%s%s%s%s%s", reason ? reason : "-", by_task ? " (" : "",
			    by_task ? task : "", by_task ? ")" : "", limited ? ", limited by " : "",
			    limited ? limiter : "", delayed ? ", " : "", delayed ? timing : "");
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
