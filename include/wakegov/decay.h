/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Decayed utilisation, one implementation for the BPF side and the core.
 *
 * The series is the scheduler's: what ran one half-life ago counts half. The half-life is 32
 * periods of 1024 µs. Where PELT sums whole periods, this is the closed form
 *
 *	u(t + Δ) = level + (u(t) − level) · 2^(−Δ / half-life)
 *
 * for a CPU that ran at a constant level (0 when idle) during Δ, so that an interval gives the
 * same result however it is split. Integers only: utilisation is capacity · 2^20, factors are
 * 2^31. Short intervals take the exponential's first three terms, others a table whose steps
 * (32 µs) are joined by straight lines: both are off by less than 3 · 10^-7.
 */

#include <linux/types.h>

/*
 * The kernel's verifier checks a global function once, by its prototype, but a static one again in
 * each state of a call. A global one returns an integer and has at most five arguments.
 */
#ifdef __bpf__
#define VERIFIED_ONCE __attribute__((noinline))
#else
#define VERIFIED_ONCE static inline
#endif

#define DECAY_HALF_LIFE_NS 32768000ULL
#define DECAY_Q_SHIFT	   20
#define DECAY_Q(cap)	   ((__u32)(cap) << DECAY_Q_SHIFT) /* capacity 0…1024 → util_q */
#define DECAY_CAP(util_q)  ((__u32)(util_q) >> DECAY_Q_SHIFT)

#define DECAY_ONE	   (1ULL << 31)
#define DECAY_STEP_NS	   (DECAY_HALF_LIFE_NS / 1024)
#define DECAY_SHORT_NS	   (DECAY_HALF_LIFE_NS / 64)
#define DECAY_SLOPE_Q16	   2977044ULL /* ln 2 / half-life in ns, · 2^31 · 2^16 */

/* 2^31 · 2^(−i/32) */
static const __u32 decay_coarse[32] = {
	0x80000000, 0x7d41d96e, 0x7a92be8b, 0x77f25cce, 0x75606374, 0x72dc8374, 0x70666f76,
	0x6dfddbcc, 0x6ba27e65, 0x69540ec9, 0x6712460b, 0x64dcdec3, 0x62b39509, 0x60962665,
	0x5e8451d0, 0x5c7dd7a4, 0x5a82799a, 0x5891fac1, 0x56ac1f75, 0x54d0ad5a, 0x52ff6b55,
	0x51382182, 0x4f7a9930, 0x4dc69cdd, 0x4c1bf829, 0x4a7a77d4, 0x48e1e9ba, 0x47521cc6,
	0x45cae0f2, 0x444c0740, 0x42d561b4, 0x4166c34c,
};

/* 2^31 · 2^(−i/1024) */
static const __u32 decay_fine[32] = {
	0x80000000, 0x7fe9d3a9, 0x7fd3ab29, 0x7fbd8680, 0x7fa765ad, 0x7f9148af, 0x7f7b2f85,
	0x7f651a30, 0x7f4f08ae, 0x7f38faff, 0x7f22f122, 0x7f0ceb16, 0x7ef6e8da, 0x7ee0ea6f,
	0x7ecaefd3, 0x7eb4f906, 0x7e9f0606, 0x7e8916d5, 0x7e732b6f, 0x7e5d43d6, 0x7e476009,
	0x7e318006, 0x7e1ba3cd, 0x7e05cb5d, 0x7deff6b6, 0x7dda25d8, 0x7dc458c1, 0x7dae8f70,
	0x7d98c9e6, 0x7d830821, 0x7d6d4a22, 0x7d578fe6,
};

/*
 * delta_ns / DECAY_STEP_NS, for less than 2^30 ns. BPF has no wide multiplication with which a
 * compiler could replace the division. A shift divides by 2^8 of the 32000; multiplication by the
 * inverse of the remaining 125 is exact for so small a quotient.
 */
static inline __u64 decay_steps(__u64 delta_ns)
{
	return (delta_ns >> 8) * ((1ULL << 36) / 125 + 1) >> 36;
}

/* 2^31 · 2^(−delta_ns / half-life) by the tables */
VERIFIED_ONCE __u64 decay_by_table(__u64 delta_ns)
{
	__u64 steps, rest_ns, factor;

	if (delta_ns >= 31 * 1024 * DECAY_STEP_NS)
		return 0;
	steps = decay_steps(delta_ns);
	rest_ns = delta_ns - steps * DECAY_STEP_NS;
	factor = decay_coarse[(steps >> 5) & 31];
	factor = factor * decay_fine[steps & 31] >> 31;
	factor = factor * (DECAY_ONE - (rest_ns * DECAY_SLOPE_Q16 >> 16)) >> 31;
	return factor >> (steps >> 10);
}

/* 2^31 · 2^(−delta_ns / half-life) */
static inline __u64 decay_factor(__u64 delta_ns)
{
	__u64 x = delta_ns * DECAY_SLOPE_Q16 >> 16;

	/* Most intervals are short: 1 - x + x²/2 takes a third of the table's instructions. */
	return delta_ns < DECAY_SHORT_NS ? DECAY_ONE - x + (x * x >> 32) : decay_by_table(delta_ns);
}

/* What utilisation util_q becomes after delta_ns at level_q; it never leaves their interval. */
static inline __u32 decay_toward(__u32 util_q, __u32 level_q, __u64 delta_ns)
{
	__s64 apart_q = (__s64)level_q - util_q;

	return level_q - (apart_q * (__s64)decay_factor(delta_ns) >> 31);
}

/*
 * The level at which a running CPU accrues: capacity · frequency / highest frequency, so that a
 * task is not larger because its CPU is slower. An unknown frequency counts as the highest.
 */
static inline __u32 decay_level_q(__u32 capacity, __u32 freq_khz, __u32 max_khz)
{
	if (!freq_khz || freq_khz >= max_khz)
		return DECAY_Q(capacity);
	return (__u64)DECAY_Q(capacity) * freq_khz / max_khz;
}
