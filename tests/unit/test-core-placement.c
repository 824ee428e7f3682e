// SPDX-License-Identifier: GPL-2.0-only
/* When the caches of a group are held, and when again after a release. */
#include "core/placement.h"

#include "test-core.h"

#define S 1000000000ULL

TEST(test_hold)
{
	struct placement placement = { 0 };

	assert_false(placement_holds(&placement, 0));
	placement_hold(&placement, 0x5, S);
	assert_true(placement_holds(&placement, 0));
	assert_false(placement_holds(&placement, 1));
	assert_true(placement_holds(&placement, 2));
	assert_false(placement_holds(&placement, PLACEMENT_CACHES_MAX));
	assert_false(placement_holds(&placement, PLACEMENT_NO_CACHE));
	/* One that comes online is held by the next fork; this is no new placement. */
	placement_hold(&placement, 0x7, 2 * S);
	assert_true(placement_holds(&placement, 1));
	assert_int_equal(placement.why, PLACEMENT_HELD);
}

TEST(test_release)
{
	struct placement placement = { 0 };

	placement_hold(&placement, 0x3, S);
	assert_true(placement_release(&placement, 0x2, PLACEMENT_FULL, 2 * S));
	assert_false(placement_release(&placement, 0x2, PLACEMENT_FULL, 2 * S));
	assert_int_equal(placement.held, 0x1);
	assert_int_equal(placement.why, PLACEMENT_FULL);
	placement_hold(&placement, 0x3, 3 * S - 1);
	assert_int_equal(placement.held, 0x1);
	placement_hold(&placement, 0x3, 3 * S);
	assert_int_equal(placement.held, 0x3);
	assert_true(placement_release(&placement, 0x1, PLACEMENT_OFFLINE, 3 * S));
	assert_int_equal(placement.why, PLACEMENT_OFFLINE);
	assert_int_equal(placement.held, 0x2);
}

/* Each wait is twice the last one, up to 64 s; after a placement that lasted, a second again. */
TEST(test_back_off)
{
	struct placement placement = { 0 };
	uint64_t now_ns = S, wait_ns = S;

	for (int i = 0; i < 9; i++) {
		placement_hold(&placement, 0x1, now_ns);
		assert_true(placement_release(&placement, 0x1, PLACEMENT_FULL, now_ns));
		placement_hold(&placement, 0x1, now_ns + wait_ns - 1);
		assert_int_equal(placement.held, 0);
		now_ns += wait_ns;
		wait_ns = wait_ns < 64 * S ? 2 * wait_ns : wait_ns;
	}
	placement_hold(&placement, 0x1, now_ns);
	now_ns += PLACEMENT_LASTED_NS;
	assert_true(placement_release(&placement, 0x1, PLACEMENT_FULL, now_ns));
	placement_hold(&placement, 0x1, now_ns + S);
	assert_int_equal(placement.held, 0x1);
}
