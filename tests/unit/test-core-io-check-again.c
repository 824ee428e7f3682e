// SPDX-License-Identifier: GPL-2.0-only
/* What follows a check: for how long its result holds, and when it is made again. */
#include "io-check-run.h"

/* How long until the next look, in s, of each confirmation after the other. */
static void assert_trusted(struct run *run, const uint32_t *for_s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		look_until_changed(run, IO_CHECK_TRIAL);
		look_until_changed(run, IO_CHECK_PAID);
		assert_int_equal(run->check.retry_ns - run->now_ns, for_s[i] * NS_PER_S);
		look_until_changed(run, IO_CHECK_BASELINE);
		assert_false(io_check_grants(&run->check));
	}
}

/* A gain as large as predicted is hardly chance; one that is not is soon looked at again. */
static void test_trust(void **state)
{
	struct run expected = begin(12000, 16000, 250000), large = begin(12000, 16000, 100000);

	assert_trusted(&expected, (uint32_t[]){ 32, 64, 64 }, 3);
	assert_trusted(&large, (uint32_t[]){ 4, 8, 16, 32, 64, 64 }, 6);
	/* What was chance ends with the next look, and counts for nothing after it. */
	large.boosted_per_s = large.rate_per_s;
	look_until_changed(&large, IO_CHECK_TRIAL);
	look_until_changed(&large, IO_CHECK_UNPAID);
	large.boosted_per_s = 16000;
	look_until_changed(&large, IO_CHECK_BASELINE);
	assert_trusted(&large, (uint32_t[]){ 4 }, 1);
}

/* 1, 2, 4 … 64, 64 seconds; and 1 again after one that paid. */
static void test_back_off(void **state)
{
	static const uint64_t backoff_s[] = { 1, 2, 4, 8, 16, 32, 64, 64, 64 };
	struct run run = begin(12000, 12000, 250000);

	for (size_t i = 0; i < sizeof(backoff_s) / sizeof(backoff_s[0]); i++) {
		look_until_changed(&run, IO_CHECK_TRIAL);
		look_until_changed(&run, IO_CHECK_UNPAID);
		assert_int_equal(run.check.backoff_ns, backoff_s[i] * NS_PER_S);
		assert_int_equal(look_until_changed(&run, IO_CHECK_BASELINE),
				 backoff_s[i] * NS_PER_S);
	}
	run.boosted_per_s = 16000;
	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_PAID);
	io_check_restart(&run.check, run.now_ns);
	run.boosted_per_s = 12000;
	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_UNPAID);
	assert_int_equal(run.check.backoff_ns, NS_PER_S);
}

/* A device so unsteady that a trial cannot tell: a gain is believed when it is seen twice. */
static void test_unsteady(void **state)
{
	struct run run = begin(2000, 2700, 500000);

	run.swing_percent = 80;
	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_BASELINE);
	assert_in_range(run.check.measured_ppm, 125000, 300000);
	assert_true(run.check.suggested);
	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_PAID);
	assert_false(run.check.suggested);
	/* None is not. */
	run = begin(2000, 2000, 500000);
	run.swing_percent = 80;
	for (int i = 0; i < 3; i++) {
		look_until_changed(&run, IO_CHECK_TRIAL);
		look_until_changed(&run, IO_CHECK_UNPAID);
		assert_false(run.check.suggested);
		look_until_changed(&run, IO_CHECK_BASELINE);
	}
}

/* A baseline that just shows what was predicted cannot show the half of it that comes true. */
static void test_short_baseline(void **state)
{
	struct run run = begin(3570, 3780, 97000);

	look_until_changed(&run, IO_CHECK_TRIAL);
	assert_in_range(look_until_changed(&run, IO_CHECK_BASELINE), 100 * NS_PER_MS,
			300 * NS_PER_MS);
	assert_true(run.check.suggested);
	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_PAID);
}

/* Where the two cross, the longest pause holds. */
static void test_back_off_limits_cross(void **state)
{
	struct run run = begin(12000, 12000, 250000);

	run.policy.backoff_min_ns = 10 * NS_PER_S;
	run.policy.backoff_max_ns = 3 * NS_PER_S;
	for (int i = 0; i < 3; i++) {
		look_until_changed(&run, IO_CHECK_TRIAL);
		look_until_changed(&run, IO_CHECK_UNPAID);
		assert_int_equal(run.check.backoff_ns, 3 * NS_PER_S);
		look_until_changed(&run, IO_CHECK_BASELINE);
	}
}

static void test_pause_is_kept(void **state)
{
	struct run run = begin(12000, 12000, 250000);
	uint64_t retry_ns;

	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_UNPAID);
	retry_ns = run.check.retry_ns;
	io_check_begin(&run.check, run.now_ns);
	io_check_stop(&run.check);
	io_check_disturb(&run.check, run.now_ns, NS_PER_S);
	assert_false(io_check_update(&run.check, &run.policy, run.count, 250000, retry_ns - 1));
	assert_int_equal(run.check.state, IO_CHECK_UNPAID);
	assert_int_equal(io_check_next_ns(&run.check, &run.policy, retry_ns - 1), retry_ns);
	io_check_update(&run.check, &run.policy, run.count, 250000, retry_ns);
	assert_int_equal(run.check.state, IO_CHECK_BASELINE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_back_off),
		cmocka_unit_test(test_unsteady),
		cmocka_unit_test(test_short_baseline),
		cmocka_unit_test(test_back_off_limits_cross),
		cmocka_unit_test(test_pause_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
