// SPDX-License-Identifier: GPL-2.0-only
/* Clamps give the same by a schedutil that adds its margin after it clamps. */
#include "test.h"

#include <stdlib.h>

#include "actuator/task.h"

static int clamp(int util, struct uclamp to)
{
	if (util > to.max_cap)
		util = to.max_cap;
	return util < to.min_cap ? to.min_cap : util;
}

/* map_util_perf(); no OPP is above 1024. */
static int with_margin(int util)
{
	util += util / 4;
	return util < UCLAMP_MOST ? util : UCLAMP_MOST;
}

/* Linux 6.8 and later, by sugov_effective_cpu_perf(). */
static int new_perf(int util, struct uclamp to)
{
	return clamp(with_margin(util), to);
}

/* Before, by uclamp_rq_util_with() and get_next_freq(). */
static int old_perf(int util, struct uclamp to)
{
	return with_margin(clamp(util, to));
}

TEST(test_same_on_both)
{
	static const struct uclamp wanted[] = {
		{ 0, 1024 },  { 0, 410 },  { 512, 1024 }, { 1024, 1024 }, { 0, 1 },
		{ 307, 307 }, { 1, 1024 }, { 717, 1000 }, { 512, 512 },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct uclamp written = uclamp_less_margin(wanted[i], false);

		assert_true(uclamp_equals(uclamp_less_margin(wanted[i], true), wanted[i]));
		assert_true(written.min_cap <= written.max_cap && written.max_cap <= UCLAMP_MOST);
		for (int util = 0; util <= 1024; util++)
			assert_true(abs(old_perf(util, written) - new_perf(util, wanted[i])) <= 2);
	}
}

/* No clamp is none there too, so that it is written as the kernel's default and is not restored. */
TEST(test_none_stays_none)
{
	const struct uclamp none = { UCLAMP_LEAST, UCLAMP_MOST };

	assert_true(uclamp_equals(uclamp_less_margin(none, false), none));
}
