// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt-app computes by ldexp(), four calls a loop. With this as LD_PRELOAD a loop takes
 * FREQLOAD_LOOP_CYCLES (default 36000, 20 us at 1800 MHz) of whichever CPU it runs on, as all of
 * freqload's work does, so that rt-app is slower at a lower frequency in an emulated machine, too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freqload_clock.h"

#define CALLS_PER_LOOP 4

static struct freq_clock *clock_of_cpus;
static uint64_t loop_cycles = 36000;

__attribute__((constructor)) static void start(void)
{
	const char *cycles = getenv("FREQLOAD_LOOP_CYCLES");
	int r = freq_clock_new(0, &clock_of_cpus);

	if (cycles)
		loop_cycles = strtoull(cycles, NULL, 10);
	if (r == 0)
		return;
	fprintf(stderr, "freqload: cannot watch the frequency: %s\n", strerror(-r));
	_Exit(EXIT_FAILURE);
}

double ldexp(double value, int exponent)
{
	static __thread unsigned int calls;

	if (++calls % CALLS_PER_LOOP == 0)
		freq_clock_burn(clock_of_cpus, loop_cycles, UINT64_MAX);
	return value;
}
