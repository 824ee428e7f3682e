/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Moments, as people give them. */

#include <stdint.h>

/* What a clock shows, in microseconds. */
uint64_t moment_monotonic_us(void);
uint64_t moment_realtime_us(void);

/*
 * "14:03", "14:03:07" or "14:03:07.042", the last time that it was so, or "1h30m": so long ago. In
 * CLOCK_MONOTONIC, given what both clocks show now. Returns 0, -ERANGE for what was before the
 * machine was started, and -EINVAL for anything else.
 */
int moment_parse(const char *text, uint64_t now_monotonic_us, uint64_t now_realtime_us,
		 uint64_t *ret_monotonic_us);
