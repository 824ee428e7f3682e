// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frequency/frequency.h"

#define CORE	   0x5e
#define BROADWELL  0x4f
#define HASWELL_X  0x3f
#define SKYLAKE_X  0x55
#define KNIGHTS	   0x57
#define GOLDMONT   0x5c
#define SILVERMONT 0x37

/* The registers of a made-up CPU; one that is not named does not exist. */
struct fake {
	uint64_t registers[8][2]; /* number, value */
};

static int read_fake(void *userdata, uint32_t reg, uint64_t *ret)
{
	const struct fake *fake = userdata;

	for (size_t i = 0; i < 8 && fake->registers[i][0]; i++)
		if (fake->registers[i][0] == reg) {
			*ret = fake->registers[i][1];
			return 0;
		}
	return -EIO;
}

static uint32_t default_khz(uint32_t model, struct fake *fake)
{
	struct turbo turbo;
	const char *why;

	if (turbo_decode(model, read_fake, fake, &turbo, &why) < 0)
		return 0;
	return reference_choose(POLICY_REFERENCE_AUTO, &turbo, &why);
}

TEST(test_families)
{
	static struct {
		const char *name;
		uint32_t model;
		struct fake fake;
		uint32_t khz;
	} cases[] = {
		{ "core", CORE, { { { 0xce, 36 << 8 }, { 0x1ad, 0x25262728 } } }, 3700000 },
		{ "E5-2698v4",
		  BROADWELL,
		  { { { 0xce, 22 << 8 }, { 0x1ad, 0x21222424 } } },
		  3300000 },
		{ "E5-2670v3",
		  HASWELL_X,
		  { { { 0xce, 23 << 8 }, { 0x1ad, 0x1c1d1f1f } } },
		  2800000 },
		{ "two cores only", CORE, { { { 0xce, 20 << 8 }, { 0x1ad, 0x1c1d } } }, 2900000 },
		/* 2, 4, 8, … cores: the second group is the first of four */
		{ "Skylake-X",
		  SKYLAKE_X,
		  { { { 0xce, 21 << 8 }, { 0x1ad, 0x1e20222425 }, { 0x1ae, 0x1c10080402 } } },
		  3600000 },
		{ "Skylake-X, no group of four: by number of cores",
		  SKYLAKE_X,
		  { { { 0xce, 21 << 8 }, { 0x1ad, 0x22232425 }, { 0x1ae, 0x0302 } } },
		  3400000 },
		/* 16 with the first group, then one less */
		{ "Knights", KNIGHTS, { { { 0xce, 13 << 8 }, { 0x1ad, 0x20221000 } } }, 1500000 },
		{ "Knights, never less",
		  KNIGHTS,
		  { { { 0xce, 13 << 8 }, { 0x1ad, 0x1000 } } },
		  1600000 },
		{ "Goldmont",
		  GOLDMONT,
		  { { { 0xce, 11 << 8 }, { 0x1ad, 0x15161718 }, { 0x1ae, 0x04030201 } } },
		  2400000 },
		{ "Silvermont",
		  SILVERMONT,
		  { { { 0x66a, 16 << 16 }, { 0x66c, 0x16161618 }, { 0xcd, 0 } } },
		  24 * 83300 },
		{ "turbo off in firmware",
		  CORE,
		  { { { 0xce, 36 << 8 }, { 0x1ad, 0x25262728 }, { 0x1a0, 1ULL << 38 } } },
		  3600000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(default_khz(cases[i].model, &cases[i].fake), cases[i].khz);
	}
}

TEST(test_nonsense)
{
	static struct {
		struct fake fake;
		const char *why;
	} cases[] = {
		{ { { { 0xce, 0 }, { 0x1ad, 0x25262728 } } }, "no base" },
		{ { { { 0xce, 36 << 8 }, { 0x1ad, 0 } } }, "no turbo" },
		{ { { { 0xce, 41 << 8 }, { 0x1ad, 0x25262728 } } }, "base frequency above" },
		{ { { { 0xce, 36 << 8 } } }, "cannot be read" },
		{ { { { 0x1ad, 0x25262728 } } }, "cannot be read" },
		{ { { { 0x66a, 16 << 16 }, { 0x66c, 24 }, { 0xcd, 7 } } }, "no base" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct turbo turbo;
		const char *why = NULL;

		assert_true(turbo_decode(CORE, read_fake, &cases[i].fake, &turbo, &why) < 0);
		assert_non_null(strstr(why, cases[i].why));
	}
}

/*
 * As amd_set_max_freq_ratio() has it, in 1/1024 of the nominal frequency, by performance of CPPC:
 * the numbers of a Ryzen 9 5950X, whose highest performance is 166 with preferred cores, and of an
 * EPYC 7742.
 */
TEST(test_amd)
{
	static const struct {
		uint64_t nominal_perf, highest_perf;
		uint32_t nominal_khz;
	} cases[] = { { 115, 166, 3400000 }, { 169, 255, 2250000 }, { 255, 255, 2000000 } };
	struct turbo turbo;
	const char *why;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t numerator = cases[i].highest_perf, nominal = cases[i].nominal_perf;
		uint64_t ratio = ((numerator * 1024 / nominal) + 1024) >> 1;
		uint32_t highest_khz = cases[i].nominal_khz * numerator / nominal;

		assert_int_equal(turbo_of_amd(cases[i].nominal_khz, highest_khz, &turbo, &why), 0);
		assert_null(why);
		assert_int_equal(turbo.base_khz, cases[i].nominal_khz);
		assert_int_equal(turbo.one_khz, highest_khz);
		assert_true(abs((int)(turbo.four_khz - cases[i].nominal_khz * ratio / 1024)) <
			    (int)cases[i].nominal_khz / 512);
	}
	assert_int_equal(turbo_of_amd(0, 3400000, &turbo, &why), -ENODATA);
	assert_non_null(why);
	assert_int_equal(turbo_of_amd(3400000, 0, &turbo, &why), -ENODATA);
}

TEST(test_policy)
{
	static const struct turbo turbo = { 2200000, 3600000, 3300000 };
	static const struct {
		uint32_t policy;
		bool known;
		uint32_t khz;
		bool is_said;
	} cases[] = {
		{ POLICY_REFERENCE_AUTO, true, 3300000, false },
		{ POLICY_REFERENCE_TURBO_4C, true, 3300000, false },
		{ POLICY_REFERENCE_TURBO_1C, true, 3600000, false },
		{ POLICY_REFERENCE_BASE, true, 2200000, false },
		{ 2500000, true, 2500000, false },
		{ 2500000, false, 2500000, false },
		/* The highest OPP, and that it is not what was asked for. */
		{ POLICY_REFERENCE_AUTO, false, 0, false },
		{ POLICY_REFERENCE_TURBO_1C, false, 0, true },
		{ POLICY_REFERENCE_BASE, false, 0, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *why;

		assert_int_equal(
			reference_choose(cases[i].policy, cases[i].known ? &turbo : NULL, &why),
			cases[i].khz);
		assert_int_equal(why != NULL, cases[i].is_said);
	}
}
