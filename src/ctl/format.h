/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Quantities and names as people read them. Each returns an allocated string that the caller
 * frees, or NULL for lack of memory. Where 0 means "not known" the string is "-".
 */

#include <jansson.h>
#include <stdint.h>

#include "ctl/quantity.h"

char *format_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "1800 MHz"; 0 is not known. */
char *format_frequency(uint64_t khz);

/* "800-3600 MHz"; either may be 0, not known */
char *format_frequency_range(uint64_t min_khz, uint64_t max_khz);

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

/* "fio, pid 812"; comm may be NULL, pid 0. */
char *format_task(const char *comm, uint64_t pid);

/*
 * "io-boost (fio, pid 812), limited by policy-max, held". All may be NULL or 0; limiter "none" and
 * timing "now" are left out.
 */
char *format_reason(const char *reason, const char *comm, uint64_t pid, const char *limiter,
		    const char *timing);

/* A copy of foreign text that is safe for a terminal (shared/text.h). NULL gives "-". */
char *format_clean(const char *text);

/* The same for JSON, which must be UTF-8: an argument, or a name in a recording. */
json_t *format_json(const char *text);
