/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A window over a growing count, looked at now and then: how many, and how sure that is.
 *
 * I/Os that took their time independently of each other would make a count of n deviate by 0.3 √n
 * (0.3 is the coefficient of variation of the time of one I/O). Devices that pause, collect garbage
 * or are paced do worse; how much is seen from one look to the next. The larger of both counts.
 */

#include <stdbool.h>
#include <stdint.h>

struct io_count {
	uint64_t start_ns; /* 0: it starts with the next look */
	uint64_t start_count;
	uint64_t seen_ns;
	uint64_t seen_count;
	uint32_t looks;
	uint64_t sum_nn; /* of the squares of what came between two looks … */
	uint64_t sum_nt; /* … of its products with the time between them … */
	uint64_t sum_tt; /* … and of the squares of that; times in 64 µs */
};

/* One more look. False when the window starts here, as it also does when the count went back. */
bool io_count_look(struct io_count *window, uint64_t count, uint64_t now_ns);

static inline uint64_t io_count_n(const struct io_count *window)
{
	return window->seen_count - window->start_count;
}

static inline uint64_t io_count_ns(const struct io_count *window)
{
	return window->seen_ns - window->start_ns;
}

/* The standard deviation of the count, relative to it, in millionths. */
uint32_t io_count_deviation_ppm(const struct io_count *window);

/* Counts that differ by `by_ppm` are told apart by two deviations with so many I/Os in each. */
uint64_t io_count_to_tell(uint64_t by_ppm);
