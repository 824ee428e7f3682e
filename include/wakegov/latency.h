/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A histogram of times, four buckets to each doubling from 1 us on: a quantile of it is at most a
 * quarter above the number itself. The first bucket has what is shorter, the last what is longer.
 */

#include <linux/types.h>

#include "wakegov/verified.h"

#define WAKEGOV_LATENCIES	  96 /* up to 14 s */
#define WAKEGOV_LATENCY_LEAST_LOG 10

static inline __u32 wakegov_latency_log2(__u64 number)
{
	__u32 log = 0;

	for (__u32 step = 32; step; step /= 2)
		if (number >> step) {
			number >>= step;
			log += step;
		}
	return log;
}

VERIFIED_ONCE __u32 wakegov_latency_bucket(__u64 ns)
{
	__u32 log, bucket;

	if (ns >> WAKEGOV_LATENCY_LEAST_LOG == 0)
		return 0;
	log = wakegov_latency_log2(ns);
	bucket = 1 + (log - WAKEGOV_LATENCY_LEAST_LOG) * 4 + (ns >> (log - 2) & 3);
	return bucket < WAKEGOV_LATENCIES ? bucket : WAKEGOV_LATENCIES - 1;
}

/* What is in the bucket is shorter than that. */
static inline __u64 wakegov_latency_end_ns(__u32 bucket)
{
	__u32 quarters = bucket % 4;

	return (4ULL + quarters) << (WAKEGOV_LATENCY_LEAST_LOG - 2 + bucket / 4);
}
