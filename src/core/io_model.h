/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The gain of a task with I/O from a higher frequency.
 *
 * Of the time of one I/O the device takes d, whatever the clock, and the host takes w / f: the work
 * of the task and of the interrupts that wake it, and its waits for a CPU. With s, the host's
 * share of the time at f, going from f to f' gives
 *
 *	X(f') / X(f) = 1 / (1 − s + s · f / f')
 *
 * which is Amdahl's law for the frequency. The *work ratio* ρ = w / d is the same at every f and on
 * every CPU, so ρ is stored; s = ρ / (ρ + f).
 *
 * f is a *level*: performance as capacity · 2^10, so that 2^20 is the fastest CPU at its highest
 * OPP and a task may move between CPUs of different capacity. Shares are in millionths (_ppm).
 * Results depend on ratios of levels only, not on the unit of frequency.
 */

#include <stdint.h>

#include "core/topology.h"

#define IO_PPM	     1000000U
#define IO_SHARE_MAX 999000U /* a device that takes no time would have an infinite ρ */
#define IO_LEVEL_MAX (1024U << 10)

static inline uint32_t io_ppm_of_percent(uint32_t percent)
{
	return percent * (IO_PPM / 100);
}

/* The level of a CPU whose utilisation accrues at level_q (wakegov/decay.h). */
static inline uint32_t io_level(uint32_t level_q)
{
	return level_q >> 10;
}

/* The level of a CPU of the domain at khz; never 0. */
uint32_t io_level_at(const struct topology_domain *domain, uint32_t khz);

/* ρ of a task whose share of host time is share_ppm at level; both directions. level > 0. */
uint32_t io_ratio_of_share(uint32_t share_ppm, uint32_t level);
uint32_t io_share_of_ratio(uint32_t ratio, uint32_t level);

/*
 * The share of the time of an I/O that a rise from one level to a higher one saves, u = s (1 −
 * f/f'): throughput grows by 1 / (1 − u). 0 when `to` is not above `from`.
 */
uint32_t io_saved_ppm(uint32_t ratio, uint32_t from, uint32_t to);

/* The inverse: the ρ that gives this saving. */
uint32_t io_ratio_of_saved(uint32_t saved_ppm, uint32_t from, uint32_t to);

/* The loss of throughput at `level` against `highest`: 1 − X(level) / X(highest). */
uint32_t io_loss_ppm(uint32_t ratio, uint32_t level, uint32_t highest);

/*
 * Hysteresis for ρ: returns the held value until the new one is an eighth above it or a third
 * below.
 */
uint32_t io_ratio_hold(uint32_t held, uint32_t now);

/*
 * The lowest OPP within [min_khz, max_khz] that loses at most slack_ppm of the throughput of the
 * highest within them.
 */
uint32_t io_choose_khz(const struct topology_domain *domain, uint32_t ratio, uint32_t slack_ppm,
		       uint32_t min_khz, uint32_t max_khz);
