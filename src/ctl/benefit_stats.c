// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/benefit.h"

#include <math.h>

/* Sebastiano Vigna's splitmix64. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void benefit_order(uint64_t seed, uint32_t n_pairs, bool *ret_with_first)
{
	/* For an odd number, chance also decides which kind has the additional one. */
	uint32_t n_first = (n_pairs + (next_random(&seed) & 1)) / 2;

	for (uint32_t i = 0; i < n_pairs; i++)
		ret_with_first[i] = i < n_first;
	for (uint32_t i = n_pairs; i > 1; i--) {
		uint32_t j = next_random(&seed) % i;
		bool kept = ret_with_first[i - 1];

		ret_with_first[i - 1] = ret_with_first[j];
		ret_with_first[j] = kept;
	}
}

void benefit_add(struct benefit_sums *sums, double with, double without)
{
	double d = log(with / without);

	sums->n++;
	sums->sum += d;
	sums->squares += d * d;
}

double benefit_student(uint32_t freedom)
{
	const double tails = 0.01, normal = -2.5758293035489;
	double n = freedom, a = 1 / (n - 0.5), b = 48 / (a * a), x = normal, y = x * x;
	double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * n;

	if (freedom == 1)
		return 1 / tan(tails * M_PI_2);
	if (freedom == 2)
		return sqrt(2 / (tails * (2 - tails)) - 2);
	if (pow(d * tails, 2 / n) <= 0.05 + a) {
		y = pow(d * tails, 2 / n);
		y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) *
			     y -
		     1) * (n + 1) /
			    (n + 2) +
		    1 / y;
		return sqrt(n * y);
	}
	if (freedom < 5)
		c += 0.3 * (n - 4.5) * (x + 0.6);
	c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
	y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
	return sqrt(n * expm1(a * y * y));
}

bool benefit_ratio(const struct benefit_sums *sums, struct benefit_ratio *ret)
{
	double n = sums->n, mean = sums->sum / n, variance, half;

	if (sums->n < BENEFIT_PAIRS_LEAST)
		return false;
	variance = (sums->squares - n * mean * mean) / (n - 1);
	half = variance > 0 ? benefit_student(sums->n - 1) * sqrt(variance / n) : 0;
	*ret = (struct benefit_ratio){ exp(mean), exp(mean - half), exp(mean + half) };
	return true;
}

/* Inside its bucket it lies as the ranks do: the wake-ups there are taken to be spread evenly. */
double benefit_wakeup_p99_us(const uint64_t counts[WAKEGOV_WAKEUP_BUCKETS])
{
	double n = 0, before = 0, rank, begin_ns, end_ns;
	uint32_t i;

	for (i = 0; i < WAKEGOV_WAKEUP_BUCKETS; i++)
		n += (double)counts[i];
	if (n < BENEFIT_WAKEUPS_LEAST)
		return 0;
	rank = 0.99 * n;
	for (i = 0; before + (double)counts[i] < rank; i++)
		before += (double)counts[i];
	begin_ns = (double)wakegov_wakeup_begin_ns(i);
	end_ns = (double)wakegov_wakeup_begin_ns(i + 1);
	return (begin_ns + (end_ns - begin_ns) * (rank - before) / (double)counts[i]) / 1000;
}
