/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Random numbers of our own, so that a seed gives the same run with every C library: splitmix64
 * (Steele, Lea, Flood 2014). Integers only.
 */

#include <stdint.h>

struct sim_rng {
	uint64_t state;
};

/* stream separates the users of one seed, so that one's draws do not move the other's. */
void sim_rng_init(struct sim_rng *rng, uint64_t seed, uint64_t stream);

uint64_t sim_rng_next(struct sim_rng *rng);

/* 0…bound − 1; bound > 0. The bias of the modulus is below bound / 2^64. */
uint64_t sim_rng_below(struct sim_rng *rng, uint64_t bound);

/*
 * A value around mean with a coefficient of variation of variation_permille: the sum of four
 * uniform ones, which is close to a normal one and ends at 3.46 deviations; never below 0.
 */
uint64_t sim_rng_around(struct sim_rng *rng, uint64_t mean, uint32_t variation_permille);
