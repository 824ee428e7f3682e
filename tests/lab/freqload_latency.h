/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A histogram of latencies: 64 buckets per octave, so a percentile is exact to 1.6 %. */

#include <stdint.h>

#define LATENCY_BUCKETS (64 * 60)

struct latency {
	uint64_t count;
	uint64_t buckets[LATENCY_BUCKETS];
};

void latency_add(struct latency *latency, uint64_t ns);
void latency_merge(struct latency *into, const struct latency *from);
/* The latency that `share` (0…1) of the samples do not exceed, in µs; 0 when there are none. */
double latency_percentile_us(const struct latency *latency, double share);
