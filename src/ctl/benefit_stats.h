/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The order of blocks in a switchback experiment, and its result. Blocks come in adjacent pairs,
 * one of each kind, so that anything that drifts slower than a pair cancels in d = ln(with /
 * without).
 */

#include <stdbool.h>
#include <stdint.h>

#include "wakegov/wakeups.h"

#define BENEFIT_PAIRS_LEAST 3
#define BENEFIT_PAIRS_MAX   4096

/*
 * Decides, by seed, in which pairs the block with wakegov comes first: in half of them (for an odd
 * number, one more or less).
 */
void benefit_order(uint64_t seed, uint32_t n_pairs, bool *ret_with_first);

/* Sums over n pairs. All zero: none yet. */
struct benefit_sums {
	uint32_t n;
	double sum;
	double squares;
};

/* Both are above 0. */
void benefit_add(struct benefit_sums *sums, double with, double without);

/*
 * with / without, and its interval of 99 %. An answer has about eight figures; of a hundred answers
 * where nothing differs, few may claim a difference in any.
 */
struct benefit_ratio {
	double ratio;
	double low;
	double high;
};

/* False: there are too few pairs. */
bool benefit_ratio(const struct benefit_sums *sums, struct benefit_ratio *ret);

/*
 * The 99.5 % quantile of Student's t (Biometrika 6, 1908) with this number of degrees of freedom,
 * for an interval of 99 %. By G. W. Hill's algorithm 396, CACM 13 (10), 1970.
 */
double benefit_student(uint32_t freedom);

/* With fewer a hundredth of them is less than one. */
#define BENEFIT_WAKEUPS_LEAST 100

/* Their 99th percentile in us, from the counts of wakeups.h. 0: there are too few for one. */
double benefit_wakeup_p99_us(const uint64_t counts[WAKEGOV_WAKEUP_BUCKETS]);
