// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "core/decision_log.h"

static void test_log(void **state)
{
	struct decision_log *log = decision_log_new(4);
	struct decision decision = { .domain = 1 };
	struct explanation explanation = { 0 };

	assert_int_equal(decision_log_total(log), 0);
	assert_null(decision_log_at(log, 0));
	for (uint32_t n = 1; n <= 11; n++) {
		uint32_t kept = n < 4 ? n : 4;

		decision.target_khz = n;
		explanation.scaling_max_khz = n;
		decision_log_add(log, &decision, n * 10, &explanation);
		assert_int_equal(decision_log_total(log), n);
		for (uint32_t i = 0; i < kept; i++) {
			const struct decision_entry *entry = decision_log_at(log, i);

			assert_int_equal(entry->decision.target_khz, n - kept + 1 + i);
			assert_int_equal(entry->read_back_khz, (n - kept + 1 + i) * 10);
			assert_int_equal(entry->explanation.scaling_max_khz, n - kept + 1 + i);
		}
		assert_null(decision_log_at(log, kept));
	}
	assert_null(decision_log_free(log));
	assert_null(decision_log_free(NULL));
}

static void test_find(void **state)
{
	const struct explanation explanation = { 0 };
	struct decision_log *log = decision_log_new(4);

	for (uint32_t n = 1; n <= 6; n++) {
		const struct decision decision = { .domain = n % 2,
						   .now_ns = n * 10,
						   .target_khz = n };

		decision_log_add(log, &decision, 0, &explanation);
	}
	/* 3 to 6 are there. */
	assert_int_equal(decision_log_find(log, 1, 59)->decision.target_khz, 5);
	assert_int_equal(decision_log_find(log, 0, UINT64_MAX)->decision.target_khz, 6);
	assert_int_equal(decision_log_find(log, 1, 30)->decision.target_khz, 3);
	assert_null(decision_log_find(log, 1, 29));
	assert_null(decision_log_find(log, 2, UINT64_MAX));
	decision_log_free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
