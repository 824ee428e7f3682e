// SPDX-License-Identifier: GPL-2.0-only
/* The estimate by which responses go: of ten numbers nine are at most as large. */
#include "test-core.h"

#include <stdbool.h>

#include "wakegov/quantile.h"

#define N     20000
#define SHORT 600000 /* ns */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void add_some(struct wakegov_quantile *quantile, uint64_t number, int n)
{
	for (int i = 0; i < n; i++)
		wakegov_quantile_add(quantile, number);
}

/* What does not vary is its own quantile, from the first number on. */
TEST(test_constant)
{
	struct wakegov_quantile quantile = { 0 };

	for (int i = 0; i < 100; i++) {
		wakegov_quantile_add(&quantile, SHORT);
		assert_int_equal(quantile.value, SHORT);
	}
}

/* Of numbers between 0 and a million, and of the squares of these, about one of ten is above. */
TEST(test_one_of_ten)
{
	for (int squared = 0; squared < 2; squared++) {
		struct wakegov_quantile quantile = { 0 };
		uint32_t seed = 1, n_above = 0;

		for (int i = 0; i < N; i++) {
			uint64_t number = next_random(&seed) % 1000000 + 1;

			if (squared)
				number = number * number / 1000000 + 1;
			n_above += number > quantile.value;
			wakegov_quantile_add(&quantile, number);
		}
		assert_in_range(n_above, N / 13, N / 7);
	}
}

/* Where one of five is long, they are what counts; where one of fifty is, the short ones are. */
TEST(test_two_kinds)
{
	static const struct {
		uint32_t one_of;
		uint64_t least, most;
	} rows[] = { { 5, 6 * SHORT, 8 * SHORT }, { 50, SHORT, 2 * SHORT } };

	for (size_t row = 0; row < 2; row++) {
		struct wakegov_quantile quantile = { 0 };
		uint32_t seed = 7, n_right = 0;

		for (int i = 0; i < N; i++) {
			bool is_long = next_random(&seed) % rows[row].one_of == 0;

			wakegov_quantile_add(&quantile, is_long ? 8 * SHORT : SHORT);
			n_right += quantile.value >= rows[row].least &&
				   quantile.value <= rows[row].most;
		}
		assert_in_range(n_right, N * 9 / 10, N);
	}
}

/* The start of a program is long, and soon forgotten; later chance has to be told from a change. */
TEST(test_follows)
{
	struct wakegov_quantile quantile = { 0 };

	wakegov_quantile_add(&quantile, 100000000);
	add_some(&quantile, SHORT, 40);
	assert_int_equal(quantile.value, SHORT);
	add_some(&quantile, 10 * SHORT, 1);
	assert_in_range(quantile.value, SHORT + 1, SHORT * 11 / 10);
	add_some(&quantile, 10 * SHORT, 9);
	assert_int_equal(quantile.value, 10 * SHORT);
	add_some(&quantile, SHORT, 10);
	assert_in_range(quantile.value, 9 * SHORT, 10 * SHORT);
	add_some(&quantile, SHORT, 60);
	assert_int_equal(quantile.value, SHORT);
}

/* Each step of a row: by a 256th of what it is, and twice as much with each one that is no chance.
 */
TEST(test_steps)
{
	static const uint64_t up[] = { 103519, 107164, 114706, 130843,
				       167644, 261946, 556642, 1182871 };
	static const struct {
		int n;
		uint64_t value;
	} down[] = {
		{ 1, 996093 },	{ 44, 841780 }, { 45, 835203 }, { 46, 822152 }, { 47, 796459 },
		{ 48, 746680 }, { 49, 653344 }, { 50, 571675 }, { 51, 500215 },
	};
	struct wakegov_quantile quantile = { .value = 100000 };

	for (size_t i = 0; i < sizeof(up) / sizeof(up[0]); i++) {
		wakegov_quantile_add(&quantile, NS_PER_S);
		assert_int_equal(quantile.value, up[i]);
	}
	for (size_t i = 0; i < sizeof(down) / sizeof(down[0]); i++) {
		quantile = (struct wakegov_quantile){ .value = 1000000 };
		add_some(&quantile, 1, down[i].n);
		assert_int_equal(quantile.value, down[i].value);
	}
}

/* The smallest and the largest numbers that there are. */
TEST(test_extremes)
{
	struct wakegov_quantile quantile = { 0 };

	add_some(&quantile, 0, 3);
	assert_int_equal(quantile.value, 0);
	add_some(&quantile, 1, 3);
	assert_int_equal(quantile.value, 1);
	add_some(&quantile, UINT64_MAX / 1024, 1000);
	assert_int_equal(quantile.value, UINT64_MAX / 1024);
	add_some(&quantile, 0, 1000);
	assert_int_equal(quantile.value, 0);
}
