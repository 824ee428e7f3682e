/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A histogram of wake-up latencies, fine enough to compare two 99th percentiles: the numbers of
 * nanoseconds up to 63 have a bucket each, and each doubling from there on has 32.
 */

#include "wakegov/latency.h"

#define WAKEGOV_WAKEUP_BUCKETS 960 /* up to 17 s; the last has what is longer */
#define WAKEGOV_WAKEUP_LOG     5

static inline __u32 wakegov_wakeup_bucket(__u64 ns)
{
	__u32 log = wakegov_latency_log2(ns);
	__u32 shift = log > WAKEGOV_WAKEUP_LOG ? log - WAKEGOV_WAKEUP_LOG : 0;
	__u32 bucket = (shift << WAKEGOV_WAKEUP_LOG) + (ns >> shift);

	return bucket < WAKEGOV_WAKEUP_BUCKETS ? bucket : WAKEGOV_WAKEUP_BUCKETS - 1;
}

/* What is in the bucket is as long as that, or longer. */
static inline __u64 wakegov_wakeup_begin_ns(__u32 bucket)
{
	__u32 doublings = bucket >> WAKEGOV_WAKEUP_LOG;
	__u32 shift = doublings ? doublings - 1 : 0;

	return (__u64)(bucket - (shift << WAKEGOV_WAKEUP_LOG)) << shift;
}
