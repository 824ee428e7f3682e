// SPDX-License-Identifier: GPL-2.0-only
/* How many, and how sure that is. */
#include "test-core.h"

#include "core/io_count.h"

#define LOOK_NS 10027008ULL /* 153 · 2^16: no remainder where times are cut */

/* n looks at a count that grows by each in turn. */
static void look(struct io_count *window, const uint64_t *each, uint32_t n_each, uint32_t n)
{
	uint64_t now_ns = LOOK_NS, count = 1000;

	*window = (struct io_count){ 0 };
	assert_false(io_count_look(window, count, now_ns));
	for (uint32_t i = 0; i < n; i++) {
		now_ns += LOOK_NS;
		count += each[i % n_each];
		assert_true(io_count_look(window, count, now_ns));
	}
}

static void test_counts(void **state)
{
	static const uint64_t each[] = { 100, 200 };
	struct io_count window;

	look(&window, each, 2, 6);
	assert_int_equal(io_count_n(&window), 900);
	assert_int_equal(io_count_ns(&window), 6 * LOOK_NS);
	assert_int_equal(window.looks, 6);
}

static void test_count_goes_back(void **state)
{
	static const uint64_t each[] = { 100 };
	struct io_count window;

	look(&window, each, 1, 6);
	/* As far as it had come is no way back; less is. */
	assert_true(io_count_look(&window, 1600, 8 * LOOK_NS));
	assert_false(io_count_look(&window, 1599, 9 * LOOK_NS));
	assert_int_equal(io_count_n(&window), 0);
	assert_int_equal(window.looks, 0);
	assert_true(io_count_look(&window, 1700, 10 * LOOK_NS));
	assert_int_equal(io_count_n(&window), 101);
	assert_int_equal(io_count_ns(&window), LOOK_NS);
}

/* As of I/Os that take their time independently: 0.3 / √n. */
static void test_steady_count(void **state)
{
	static const uint64_t hundred[] = { 100 }, nine[] = { 9 };
	struct io_count window;

	look(&window, hundred, 1, 9);
	assert_int_equal(io_count_deviation_ppm(&window), 10000);
	look(&window, nine, 1, 1);
	assert_int_equal(io_count_deviation_ppm(&window), 100000);
	look(&window, nine, 1, 0);
	assert_int_equal(io_count_deviation_ppm(&window), 1000000);
}

/* 50 and 150 in turn are 50 off each: √(10 · 2500) of 1000 are 15.8 %. */
static void test_unsteady_count(void **state)
{
	static const uint64_t each[] = { 50, 150 };
	struct io_count window;

	look(&window, each, 2, 10);
	assert_in_range(io_count_deviation_ppm(&window), 157000, 159000);
	/* Too few looks to say so. */
	look(&window, each, 2, 3);
	assert_in_range(io_count_deviation_ppm(&window), 18900, 19000);
}

/* Looks of different length at a steady count are no unsteadiness. */
static void test_uneven_looks(void **state)
{
	struct io_count window = { 0 };
	uint64_t now_ns = LOOK_NS, count = 0;

	io_count_look(&window, count, now_ns);
	for (uint32_t i = 0; i < 10; i++) {
		now_ns += (1 + i % 5) * LOOK_NS;
		count += (1 + i % 5) * 1000;
		io_count_look(&window, count, now_ns);
	}
	assert_int_equal(io_count_n(&window), 30000);
	assert_in_range(io_count_deviation_ppm(&window), 1, 2000);
}

static void test_nothing_counted(void **state)
{
	static const uint64_t none[] = { 0 };
	struct io_count window;

	look(&window, none, 1, 10);
	assert_int_equal(io_count_deviation_ppm(&window), 1000000);
}

/* Ten seconds at ten million a second, half of them in one look: nothing runs over. */
static void test_large_counts(void **state)
{
	static const uint64_t each[] = { 50000000, 0 };
	static const uint64_t even[] = { 100000000 };
	struct io_count window;

	look(&window, each, 2, 2);
	assert_in_range(io_count_deviation_ppm(&window), 1, 100);
	look(&window, each, 2, 100);
	assert_in_range(io_count_deviation_ppm(&window), 99000, 101000);
	look(&window, even, 1, 1000);
	assert_in_range(io_count_deviation_ppm(&window), 0, 10);
}

static void test_to_tell(void **state)
{
	assert_int_equal(io_count_to_tell(30000), 800);
	assert_int_equal(io_count_to_tell(1000000), 0);
	assert_int_equal(io_count_to_tell(20000), 1800);
	assert_int_equal(io_count_to_tell(1000), 720000);
	/* Nobody waits for less than a thousandth. */
	assert_int_equal(io_count_to_tell(0), 720000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	     cmocka_unit_test(test_count_goes_back),
		cmocka_unit_test(test_steady_count), cmocka_unit_test(test_unsteady_count),
		cmocka_unit_test(test_uneven_looks), cmocka_unit_test(test_nothing_counted),
		cmocka_unit_test(test_large_counts), cmocka_unit_test(test_to_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
