/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Time and cycles. An emulated CPU runs no slower at a lower frequency, so cycles are made: a burn
 * spins until the integral of the CPU's frequency over time has reached the cycles asked for.
 */

#include <stdint.h>

struct freq_clock;

/*
 * Watches the frequency of every CPU. With constant_khz > 0 that is taken for every CPU and nothing
 * is loaded into the kernel. Returns 0 and *ret_clock, to be given to freq_clock_free(), or
 * -ENODEV: no CPU has cpufreq; else the error of loading or attaching the BPF program.
 */
int freq_clock_new(unsigned int constant_khz, struct freq_clock **ret_clock);
struct freq_clock *freq_clock_free(struct freq_clock *clock);

/* CLOCK_MONOTONIC, and a cheaper clock of the same unit and any origin. */
uint64_t freq_clock_now_ns(void);
uint64_t freq_clock_ticks_ns(const struct freq_clock *clock);

/* Spins for that many cycles of whichever CPU the thread is on. Returns at end_ticks_ns at latest.
 */
void freq_clock_burn(const struct freq_clock *clock, uint64_t cycles, uint64_t end_ticks_ns);

/* The frequency of the CPUs that one thread was on, over time. */
struct freq_mean {
	unsigned int cpu;
	uint64_t start_ns;
	uint64_t start_khz_ns;
	double khz_ns;
	double ns;
};

void freq_mean_start(struct freq_mean *mean, const struct freq_clock *clock);
/* To be called now and then; costs something only when the thread has moved to another CPU. */
void freq_mean_update(struct freq_mean *mean, const struct freq_clock *clock);
void freq_mean_stop(struct freq_mean *mean, const struct freq_clock *clock);
