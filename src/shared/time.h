/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL
#define US_PER_MS 1000ULL
#define US_PER_S  1000000ULL

static inline uint64_t time_of_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(). */
static inline uint64_t time_now_ns(void)
{
	return time_of_clock_ns(CLOCK_MONOTONIC);
}
