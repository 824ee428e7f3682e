/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Moments as people write them. */

#include <stdint.h>

/* The present time of a clock, in microseconds. */
uint64_t moment_monotonic_us(void);
uint64_t moment_realtime_us(void);

/* A moment on both clocks. */
struct moment {
	uint64_t monotonic_us; /* 0: before the boot */
	uint64_t realtime_us;
};

/*
 * "14:03", "14:03:07" or "14:03:07.042", the last time that it was so, "2026-11-20 14:03" likewise,
 * or "1h30m": so long ago, given what both clocks show now. Returns 0, -ERANGE for what is still to
 * come or was before 1970, and -EINVAL for anything else.
 */
int moment_parse(const char *text, const struct moment *now, struct moment *ret);
