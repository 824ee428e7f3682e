// SPDX-License-Identifier: GPL-2.0-only
#include <time.h>

#include "frequency/counters.h"
#include "shared/time.h"

#define LEAST_TIME_NS (50 * NS_PER_MS) /* over less, the rate is off by more than the clocks */

static uint64_t read_tsc(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

void counter_clock_start(struct counter_clock *clock, uint32_t base_khz)
{
	clock->base_khz = base_khz;
	clock->start_tsc = read_tsc();
	clock->start_ns = time_of_clock_ns(CLOCK_MONOTONIC_RAW);
}

uint32_t counter_clock_khz(struct counter_clock *clock)
{
	uint64_t passed_ns;

	if (clock->base_khz)
		return clock->base_khz;
	passed_ns = time_of_clock_ns(CLOCK_MONOTONIC_RAW) - clock->start_ns;
	if (passed_ns < LEAST_TIME_NS)
		return 0;
	clock->base_khz = (double)(read_tsc() - clock->start_tsc) * NS_PER_MS / passed_ns;
	return clock->base_khz;
}
