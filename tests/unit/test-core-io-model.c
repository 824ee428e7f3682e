// SPDX-License-Identifier: GPL-2.0-only
/* What a faster clock brings: values worked out by hand, and the ends of every range. */
#include "test-core.h"

#include "core/io_model.h"
#include "core/opp.h"

/* 800 MHz to 2.4 GHz in steps of 200 MHz, the fastest CPUs. */
static struct topology_domain usual_domain(uint32_t capacity)
{
	struct topology_domain domain = { .name = "a", .capacity = capacity };

	for (uint32_t khz = 800000; khz <= 2400000; khz += 200000)
		domain.opp_khz[domain.n_opps++] = khz;
	return domain;
}

TEST(test_levels)
{
	struct topology_domain big = usual_domain(1024), little = usual_domain(512);
	struct topology_domain weak = { .capacity = 1, .n_opps = 2, .opp_khz = { 1, 2000000 } };

	assert_int_equal(io_level_at(&big, 2400000), IO_LEVEL_MAX);
	assert_int_equal(io_level_at(&big, 1200000), IO_LEVEL_MAX / 2);
	assert_int_equal(io_level_at(&little, 2400000), IO_LEVEL_MAX / 2);
	assert_int_equal(io_level_at(&little, 800000), 512 * 1024 / 3);
	/* Nothing is ever divided by the level of a CPU that stands still. */
	assert_int_equal(io_level_at(&weak, 1), 1);
	assert_int_equal(io_level_at(&big, 0), 1);
	/* 2^30 is a whole CPU in decay.h: the same scale. */
	assert_int_equal(io_level(1U << 30), IO_LEVEL_MAX);
}

TEST(test_ratio_of_share)
{
	static const struct {
		uint32_t share_ppm, level, ratio;
	} cases[] = {
		{ 0, IO_LEVEL_MAX, 0 },
		{ 0, 1, 0 },
		{ 500000, 1, 1 },
		{ 500000, IO_LEVEL_MAX, IO_LEVEL_MAX },
		{ 250000, 300000, 100000 },
		{ 750000, 100000, 300000 },
		{ 1, 999999, 1 },
		{ 1, 999998, 0 },
		/* All of it the host's: as for 99.9 %. */
		{ IO_SHARE_MAX, 1000, 999000 },
		{ 999999, 1000, 999000 },
		{ 1000000, 1000, 999000 },
		{ UINT32_MAX, 1000, 999000 },
		{ 1000000, IO_LEVEL_MAX, 999 * IO_LEVEL_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(io_ratio_of_share(cases[i].share_ppm, cases[i].level),
				 cases[i].ratio);
}

TEST(test_share_of_ratio)
{
	static const struct {
		uint32_t ratio, level, share_ppm;
	} cases[] = {
		{ 0, 1, 0 },
		{ 0, IO_LEVEL_MAX, 0 },
		{ 1, 1, 500000 },
		{ 100000, 300000, 250000 },
		{ 300000, 100000, 750000 },
		{ 1, IO_LEVEL_MAX, 0 },
		{ UINT32_MAX, 1, 999999 },
		{ UINT32_MAX, UINT32_MAX, 500000 },
		{ 999 * IO_LEVEL_MAX, IO_LEVEL_MAX, 999000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(io_share_of_ratio(cases[i].ratio, cases[i].level),
				 cases[i].share_ppm);
}

/* Half of the time the host's at f: twice the clock saves a quarter, and X grows by a third. */
TEST(test_saved)
{
	static const struct {
		uint32_t ratio, from, to, saved_ppm;
	} cases[] = {
		{ 1000, 1000, 2000, 250000 },
		{ 1000, 1000, 4000, 375000 },
		{ 3000, 1000, 2000, 375000 },
		{ 1000, 1000, 1000, 0 },
		{ 1000, 2000, 1000, 0 },
		{ 0, 1, IO_LEVEL_MAX, 0 },
		{ UINT32_MAX, 1, IO_LEVEL_MAX, 999998 },
		{ UINT32_MAX, 1, UINT32_MAX, 999998 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(io_saved_ppm(cases[i].ratio, cases[i].from, cases[i].to),
				 cases[i].saved_ppm);
}

TEST(test_ratio_of_saved)
{
	assert_int_equal(io_ratio_of_saved(250000, 1000, 2000), 1000);
	assert_int_equal(io_ratio_of_saved(375000, 1000, 2000), 3000);
	assert_int_equal(io_ratio_of_saved(0, 1000, 2000), 0);
	/* No step, or one down, says nothing. */
	assert_int_equal(io_ratio_of_saved(250000, 1000, 1000), 0);
	assert_int_equal(io_ratio_of_saved(250000, 2000, 1000), 0);
	/* More than can be saved: as if all of it were the host's. */
	assert_int_equal(io_ratio_of_saved(500000, 1000, 2000), 999000);
	assert_int_equal(io_ratio_of_saved(1000000, 1000, 1001), 999000);
	assert_int_equal(io_ratio_of_saved(1000000, 1, UINT32_MAX), 999);
}

/* 50 µs + 50 µs at the highest; at half of it 100 µs + 50 µs: a third is lost. */
TEST(test_loss)
{
	assert_int_equal(io_loss_ppm(1000, 500, 1000), 333000);
	assert_in_range(io_loss_ppm(IO_LEVEL_MAX, IO_LEVEL_MAX / 2, IO_LEVEL_MAX), 333330, 333334);
	assert_int_equal(io_loss_ppm(0, 1, IO_LEVEL_MAX), 0);
	assert_int_equal(io_loss_ppm(1000, 1000, 1000), 0);
	assert_int_equal(io_loss_ppm(1000, 2000, 1000), 0);
	/* All is lost but what the levels are to each other. */
	assert_in_range(io_loss_ppm(UINT32_MAX, IO_LEVEL_MAX / 4, IO_LEVEL_MAX), 749700, 750000);
	assert_in_range(io_loss_ppm(UINT32_MAX, 1, IO_LEVEL_MAX), 999990, 1000000);
}

TEST(test_hold)
{
	assert_int_equal(io_ratio_hold(8000, 9000), 8000);
	assert_int_equal(io_ratio_hold(8000, 9001), 9001);
	assert_int_equal(io_ratio_hold(9000, 6000), 9000);
	assert_int_equal(io_ratio_hold(9000, 5999), 5999);
	assert_int_equal(io_ratio_hold(0, 0), 0);
	assert_int_equal(io_ratio_hold(0, 1), 1);
	assert_int_equal(io_ratio_hold(1, 0), 0);
	assert_int_equal(io_ratio_hold(UINT32_MAX, UINT32_MAX), UINT32_MAX);
	assert_int_equal(io_ratio_hold(UINT32_MAX / 2, UINT32_MAX), UINT32_MAX);
}

TEST(test_choose)
{
	/* With 10 µs of 100 the host's at 2.4 GHz: 90 + 24000 / MHz, so that 2.2 GHz lose 0.9 %. */
	const uint32_t tenth = IO_LEVEL_MAX / 9;
	static const struct {
		uint32_t slack_ppm, min_khz, max_khz, khz;
	} cases[] = {
		{ 20000, 800000, 2400000, 2000000 }, /* 2.0: 102 µs, 1.96 % */
		{ 19600, 800000, 2400000, 2200000 }, /* … which is 19607 */
		{ 9100, 800000, 2400000, 2200000 },  /* 2.2: 100.91 µs, 0.9 % */
		{ 9000, 800000, 2400000, 2400000 },  /* … which is 9009 */
		{ 0, 800000, 2400000, 2400000 },
		{ 166667, 800000, 2400000, 800000 }, /* 0.8: 120 µs */
		{ 166000, 800000, 2400000, 1000000 },
		{ 1000000, 800000, 2400000, 800000 },
		{ 1000000, 1300000, 2400000, 1400000 },
		{ 0, 800000, 1700000, 1600000 },     /* compared with what the limits allow */
		{ 20000, 800000, 1700000, 1400000 }, /* 107.14 µs over 105: 2.0 % */
		{ 0, 1200000, 1200000, 1200000 },
		{ 0, 1250000, 1350000, 1200000 }, /* no OPP within: the next below */
		{ 0, 100000, 200000, 800000 },
	};
	struct topology_domain domain = usual_domain(1024);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(io_choose_khz(&domain, tenth, cases[i].slack_ppm, cases[i].min_khz,
					       cases[i].max_khz),
				 cases[i].khz);
}

TEST(test_choose_extremes)
{
	struct topology_domain domain = usual_domain(1024), little = usual_domain(256);
	struct topology_domain one = { .capacity = 1024, .n_opps = 1, .opp_khz = { 1000000 } };

	/* Nothing to gain: the lowest, without any slack. */
	assert_int_equal(io_choose_khz(&domain, 0, 0, 0, UINT32_MAX), 800000);
	assert_int_equal(io_choose_khz(&domain, UINT32_MAX, 20000, 0, UINT32_MAX), 2400000);
	assert_int_equal(io_choose_khz(&one, UINT32_MAX, 0, 0, UINT32_MAX), 1000000);
	/* The same work is four times as long on a CPU of a quarter. */
	assert_int_equal(io_choose_khz(&domain, IO_LEVEL_MAX / 99, 10000, 0, UINT32_MAX), 1200000);
	assert_int_equal(io_choose_khz(&little, IO_LEVEL_MAX / 99, 10000, 0, UINT32_MAX), 2000000);
}
