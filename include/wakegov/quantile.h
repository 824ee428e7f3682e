/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The 90th percentile of a stream of numbers, in two words. A number above the estimate raises it
 * by nine steps, one below lowers it by one step, so it settles where one number in ten is above.
 * It never moves past the number that moves it. A step is a 256th of the estimate. In a row of
 * numbers on one side that chance makes once in a hundred times, each further number doubles the
 * step, up to an 8th: so it follows a change in some dozens of numbers. After Ma, Muthukrishnan and
 * Sandler, "Frugal streaming for estimating quantiles" (2013), with relative steps.
 */

#include <linux/types.h>

struct wakegov_quantile {
	__u64 value; /* 0: no number came yet */
	__u32 above; /* numbers in a row that were above … */
	__u32 below; /* … and below */
};

#define WAKEGOV_QUANTILE_STEP_LOG    8
#define WAKEGOV_QUANTILE_DOUBLE_MOST 5
/* log 0.01 / log 0.1, and log 0.01 / log 0.9 */
#define WAKEGOV_QUANTILE_ABOVE 2
#define WAKEGOV_QUANTILE_BELOW 44

/* The step after `row` numbers on one side; chance is the length of a row that chance explains. */
static inline __u64 wakegov_quantile_step(__u64 value, __u32 row, __u32 chance)
{
	__u32 more = row > chance ? row - chance : 0;

	if (more > WAKEGOV_QUANTILE_DOUBLE_MOST)
		more = WAKEGOV_QUANTILE_DOUBLE_MOST;
	return (value >> (WAKEGOV_QUANTILE_STEP_LOG - more)) + 1;
}

static inline void wakegov_quantile_add(struct wakegov_quantile *quantile, __u64 number)
{
	__u64 value = quantile->value, step;

	if (!value) {
		/* One number says little: a lower one counts at once as a row beyond chance. */
		quantile->value = number;
		quantile->below = WAKEGOV_QUANTILE_BELOW + WAKEGOV_QUANTILE_DOUBLE_MOST;
	} else if (number > value) {
		quantile->below = 0;
		step = wakegov_quantile_step(value, ++quantile->above, WAKEGOV_QUANTILE_ABOVE);
		quantile->value = number - value > 9 * step ? value + 9 * step : number;
	} else if (number < value) {
		quantile->above = 0;
		step = wakegov_quantile_step(value, ++quantile->below, WAKEGOV_QUANTILE_BELOW);
		quantile->value = value - number > step ? value - step : number;
	}
}
