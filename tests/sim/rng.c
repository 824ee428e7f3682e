// SPDX-License-Identifier: GPL-2.0-only
#include "sim/rng.h"

void sim_rng_init(struct sim_rng *rng, uint64_t seed, uint64_t stream)
{
	rng->state = seed;
	rng->state = sim_rng_next(rng) + stream;
	rng->state = sim_rng_next(rng);
}

uint64_t sim_rng_next(struct sim_rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint64_t sim_rng_below(struct sim_rng *rng, uint64_t bound)
{
	return sim_rng_next(rng) % bound;
}

uint64_t sim_rng_around(struct sim_rng *rng, uint64_t mean, uint32_t variation_permille)
{
	uint64_t bits = sim_rng_next(rng);
	int64_t sum = 0, off;

	for (int i = 0; i < 4; i++, bits >>= 16)
		sum += bits & 0xffff;
	/* The sum has a mean of 2 and a deviation of 1/√3, both · 2^16. */
	off = (sum - 2 * 0xffff) * 1732 / 1000;
	off = (int64_t)mean * variation_permille / 1000 * off / 0x10000;
	return off < -(int64_t)mean ? 0 : mean + off;
}
