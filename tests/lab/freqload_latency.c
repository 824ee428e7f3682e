// SPDX-License-Identifier: GPL-2.0-only
#include "freqload_work.h"

#include <math.h>

/* Below 64 ns a bucket per ns; above, the six bits after the leading one. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int octave;

	if (ns < 64)
		return (unsigned int)ns;

	octave = 63 - (unsigned int)__builtin_clzll(ns) - 6;
	return (octave + 1) * 64 + (unsigned int)((ns >> octave) & 63);
}

static double middle_of(unsigned int bucket)
{
	unsigned int octave;

	if (bucket < 64)
		return bucket;

	octave = bucket / 64 - 1;
	return ldexp(64.5 + bucket % 64, (int)octave);
}

void latency_add(struct latency *latency, uint64_t ns)
{
	latency->buckets[bucket_of(ns)]++;
	latency->count++;
}

void latency_merge(struct latency *into, const struct latency *from)
{
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
	into->count += from->count;
}

double latency_percentile_us(const struct latency *latency, double share)
{
	uint64_t wanted = (uint64_t)ceil(share * (double)latency->count), seen = 0;
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS && latency->count > 0; i++) {
		seen += latency->buckets[i];
		if (seen >= wanted)
			return middle_of(i) / 1000;
	}

	return 0;
}
