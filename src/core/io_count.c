// SPDX-License-Identifier: GPL-2.0-only
#include "core/io_count.h"

#include "core/io_model.h"

#define VARIATION_SQ 90000ULL /* 0.3², in millionths */
#define TIME_SHIFT   16	      /* to units of 65.536 µs: squares of them add up */
#define LOOKS_LEAST  4	      /* to say anything about what comes between them */

static void start(struct io_count *window, uint64_t count, uint64_t now_ns)
{
	*window = (struct io_count){
		.start_ns = now_ns,
		.start_count = count,
		.seen_ns = now_ns,
		.seen_count = count,
	};
}

bool io_count_look(struct io_count *window, uint64_t count, uint64_t now_ns)
{
	uint64_t n, t;

	if (!window->start_ns || count < window->seen_count) {
		start(window, count, now_ns);
		return false;
	}
	n = count - window->seen_count;
	t = (now_ns >> TIME_SHIFT) - (window->seen_ns >> TIME_SHIFT);
	window->looks++;
	window->sum_nn += n * n;
	window->sum_nt += n * t;
	window->sum_tt += t * t;
	window->seen_ns = now_ns;
	window->seen_count = count;
	return true;
}

static uint64_t square_root(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ULL << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

/* a · b / c without a · b, which squares of counts times a window are too large for. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return a / c * b + a % c * b / c;
}

/* Σ (nᵢ − r tᵢ)² with the rate r = n / t of the whole window. */
static uint64_t seen_variance(const struct io_count *window)
{
	uint64_t n = io_count_n(window);
	uint64_t t = (window->seen_ns >> TIME_SHIFT) - (window->start_ns >> TIME_SHIFT);
	uint64_t plus, minus;

	if (window->looks < LOOKS_LEAST || !t)
		return 0;
	plus = window->sum_nn + scale(scale(window->sum_tt, n, t), n, t);
	minus = 2 * scale(window->sum_nt, n, t);
	return plus > minus ? plus - minus : 0;
}

uint32_t io_count_deviation_ppm(const struct io_count *window)
{
	uint64_t n = io_count_n(window);
	uint64_t seen = seen_variance(window);
	uint64_t least = n * VARIATION_SQ / IO_PPM;
	uint64_t ppm;

	if (!n)
		return IO_PPM;
	ppm = seen > least ? square_root(seen) * IO_PPM / n
			   : square_root(VARIATION_SQ * IO_PPM / n);
	return ppm < IO_PPM ? ppm : IO_PPM;
}

/* n = 0.72 / g²: eight times the variance over the square of the difference. */
uint64_t io_count_to_tell(uint64_t by_ppm)
{
	if (by_ppm < 1000)
		by_ppm = 1000;
	return 8 * VARIATION_SQ * IO_PPM / (by_ppm * by_ppm);
}
