// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/decision.h"

/* These words are read by people and by programs: they don't change by accident. */
static void test_names(void **state)
{
	assert_string_equal(reason_name(REASON_IDLE), "idle");
	assert_string_equal(reason_name(REASON_UTILISATION), "utilisation");
	assert_string_equal(reason_name(REASON_IO_BOOST), "io-boost");
	assert_string_equal(limiter_name(LIMITER_NONE), "none");
	assert_string_equal(limiter_name(LIMITER_POLICY_MIN), "policy-min");
	assert_string_equal(limiter_name(LIMITER_POLICY_MAX), "policy-max");
	assert_string_equal(limiter_name(LIMITER_SCALING_MIN), "scaling-min");
	assert_string_equal(limiter_name(LIMITER_SCALING_MAX), "scaling-max");
	assert_string_equal(limiter_name(LIMITER_OVERRIDE_MIN), "override-min");
	assert_string_equal(limiter_name(LIMITER_OVERRIDE_MAX), "override-max");
	assert_string_equal(limiter_name(LIMITER_FROZEN), "frozen");
	assert_string_equal(timing_name(TIMING_NOW), "now");
	assert_string_equal(timing_name(TIMING_HELD), "held");
	assert_string_equal(timing_name(TIMING_RATE_LIMITED), "rate-limited");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
