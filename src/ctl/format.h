/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Quantities, moments and names: parsed from the command line, where quantities are written as in
 * wakegov.conf(5), and formatted for people.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Parsers. False: it is none. */

/* Digits only. */
bool quantity_number(const char *text, uint64_t *ret);

/* "1.2GHz", "800MHz", "800000kHz"; the unit is needed. */
bool quantity_frequency(const char *text, uint64_t *ret_khz);

/* "200ms", "30s", "1h30m", "2d"; the unit is needed. */
bool quantity_duration_us(const char *text, uint64_t *ret_us);

/* "40%", up to 100. */
bool quantity_share(const char *text, uint64_t *ret_percent);

/* A moment on both clocks. */
struct moment {
	uint64_t monotonic_us; /* 0: before the boot */
	uint64_t realtime_us;
};

struct moment moment_now(void);

/*
 * "14:03", "14:03:07" or "14:03:07.042": the latest moment at that time of day; "2026-11-20 14:03":
 * the moment of that day; or "1h30m": so long ago, given what both clocks show now. Returns 0,
 * -ERANGE for what is still to come or was before 1970, and -EINVAL for anything else.
 */
int moment_parse(const char *text, const struct moment *now, struct moment *ret);

/*
 * Formatters. Each returns an allocated string that the caller frees, or NULL for lack of memory.
 * Where 0 means "not known" the string is "-".
 */

char *format_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "1800 MHz"; 0 is not known. */
char *format_frequency(uint64_t khz);

/* At most two units: "250 us", "9.5 ms", "1.2 s", "3 min 12 s", "3 h 12 min", "5 d 3 h". */
char *format_duration(uint64_t us);
/* Rounded to the second, so that a time that has just begun shows 10 min and not 9 min 59 s. */
char *format_left(uint64_t us);

/* "512 KiB", "2.1 MiB" */
char *format_size(uint64_t kib);

/* A cap or a floor as in a policy: "30%", "none", or a frequency as above. NULL gives "-". */
char *format_level(const char *level);

/*
 * A moment on CLOCK_MONOTONIC as time of day, "14:03:07.042", given what both clocks show now. That
 * clock stops while the machine sleeps, so moments before a sleep appear too late.
 */
char *format_time(uint64_t monotonic_us, const struct moment *now);

/* A moment on CLOCK_REALTIME, with its day: "11-20 14:03:07.042". */
char *format_wall_time(uint64_t realtime_us);

/* ", this command" of the process that asks, whose work may be the cause; else "". */
const char *format_own(uint64_t pid);

/* A copy of foreign text that is safe for a terminal (shared/text.h). NULL gives "-". */
char *format_clean(const char *text);

/* The same for JSON, which must be UTF-8: an argument, or a name in a recording. */
json_t *format_json(const char *text);
