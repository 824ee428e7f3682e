/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Parses quantities and moments on the command line. Quantities are written as in wakegov.conf(5).
 * False: it is none.
 */

#include <stdbool.h>
#include <stdint.h>

/* Digits only. */
bool quantity_number(const char *text, uint64_t *ret);

/* "1.2GHz", "800MHz", "800000kHz"; the unit is needed. */
bool quantity_frequency(const char *text, uint64_t *ret_khz);

/* "200ms", "30s", "1h30m", "2d"; the unit is needed. */
bool quantity_duration_us(const char *text, uint64_t *ret_us);

/* "40%", up to 100. */
bool quantity_share(const char *text, uint64_t *ret_percent);

/*
 * The last number of the last line of text that is not blank, in what a program printed:
 * "IOPS=12.5k, BW=48.8M" gives 48800000. k, M and G behind it are 10³, 10⁶ and 10⁹; digits of a
 * word (sda1) are no number.
 */
bool quantity_last_number(const char *text, double *ret);

/* A moment on both clocks. */
struct moment {
	uint64_t monotonic_us; /* 0: before the boot */
	uint64_t realtime_us;
};

struct moment moment_now(void);

/*
 * "14:03", "14:03:07" or "14:03:07.042", the last time that it was so, "2026-11-20 14:03" likewise,
 * or "1h30m": so long ago, given what both clocks show now. Returns 0, -ERANGE for what is still to
 * come or was before 1970, and -EINVAL for anything else.
 */
int moment_parse(const char *text, const struct moment *now, struct moment *ret);
