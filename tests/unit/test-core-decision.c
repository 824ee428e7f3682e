// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/decision.h"

static void test_log(void **state)
{
	struct decision_log *log = decision_log_new(4);
	struct decision decision = { .domain = 1 };

	assert_int_equal(decision_log_total(log), 0);
	assert_null(decision_log_at(log, 0));
	for (uint32_t n = 1; n <= 11; n++) {
		uint32_t kept = n < 4 ? n : 4;

		decision.target_khz = n;
		decision_log_add(log, &decision, n * 10);
		assert_int_equal(decision_log_total(log), n);
		for (uint32_t i = 0; i < kept; i++) {
			const struct decision_entry *entry = decision_log_at(log, i);

			assert_int_equal(entry->decision.target_khz, n - kept + 1 + i);
			assert_int_equal(entry->read_back_khz, (n - kept + 1 + i) * 10);
		}
		assert_null(decision_log_at(log, kept));
	}
	assert_null(decision_log_free(log));
	assert_null(decision_log_free(NULL));
}

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
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
