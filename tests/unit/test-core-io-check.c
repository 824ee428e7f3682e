// SPDX-License-Identifier: GPL-2.0-only
/* The check of one boost, driven by hand: each transition, and the times between them. */
#include "io-check-run.h"

static void test_off(void **state)
{
	struct run run = begin(10000, 10000, 500000);

	io_check_init(&run.check);
	assert_false(look(&run));
	assert_int_equal(run.check.state, IO_CHECK_OFF);
	assert_false(io_check_grants(&run.check));
	assert_int_equal(run.check.calibration_permille, 1000);
	assert_int_equal(io_check_next_ns(&run.check, &run.policy, run.now_ns), UINT64_MAX);
}

/* A third more, as predicted: u = 25 %. */
static void test_pays(void **state)
{
	struct run run = begin(12000, 16000, 250000);

	assert_int_equal(run.check.state, IO_CHECK_BASELINE);
	assert_false(io_check_grants(&run.check));
	look_until_changed(&run, IO_CHECK_TRIAL);
	assert_true(io_check_grants(&run.check));
	look_until_changed(&run, IO_CHECK_PAID);
	assert_true(io_check_grants(&run.check));
	assert_in_range(run.now_ns - START_NS, 80 * NS_PER_MS, 150 * NS_PER_MS);
	assert_in_range(run.check.measured_ppm, 245000, 255000);
	assert_in_range(run.check.calibration_permille, 980, 1020);
	assert_int_equal(run.check.n_checks, 1);
	/* A result stays, and for long nobody needs to look. */
	assert_int_equal(io_check_next_ns(&run.check, &run.policy, run.now_ns),
			 run.now_ns + 32 * NS_PER_S);
	io_check_update(&run.check, &run.policy, run.count, 0, run.now_ns + 31 * NS_PER_S);
	assert_int_equal(run.check.state, IO_CHECK_PAID);
	io_check_begin(&run.check, run.now_ns);
	io_check_stop(&run.check);
	io_check_disturb(&run.check, run.now_ns, NS_PER_S);
	assert_int_equal(run.check.state, IO_CHECK_PAID);
}

/* Half of what was predicted is there, and is kept; twice as much asks for more. */
static void test_calibration(void **state)
{
	static const struct {
		uint32_t boosted_per_s, predicted_ppm, least_permille, most_permille;
	} cases[] = {
		{ 16000, 500000, 490, 510 },
		{ 16000, 125000, 1960, 2040 },
		{ 48000, 100000, 4000, 4000 }, /* 75 %: no more than fourfold is believed */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = begin(12000, cases[i].boosted_per_s, cases[i].predicted_ppm);

		look_until_changed(&run, IO_CHECK_TRIAL);
		look_until_changed(&run, IO_CHECK_PAID);
		assert_in_range(run.check.calibration_permille, cases[i].least_permille,
				cases[i].most_permille);
	}
}

static void test_does_not_pay(void **state)
{
	static const uint32_t boosted_per_s[] = { 12000, 11000, 12100, 0 };

	for (size_t i = 0; i < sizeof(boosted_per_s) / sizeof(boosted_per_s[0]); i++) {
		struct run run = begin(12000, boosted_per_s[i], 250000);

		look_until_changed(&run, IO_CHECK_TRIAL);
		look_until_changed(&run, IO_CHECK_UNPAID);
		assert_false(io_check_grants(&run.check));
		assert_int_equal(run.check.calibration_permille, 1000);
		assert_int_equal(run.check.n_checks, 1);
		assert_int_equal(run.check.retry_ns, run.now_ns + run.check.backoff_ns);
		assert_true(run.check.measured_ppm < 20000);
	}
}

/* A gain that is there but within the slack is none. */
static void test_gain_within_slack(void **state)
{
	struct run run = begin(100000, 101500, 100000);

	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_UNPAID);
	assert_in_range(run.check.measured_ppm, 14000, 16000);
	run = begin(100000, 105000, 100000);
	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_PAID);
}

/* 40 ms and 32 I/Os at least; and as many I/Os as the prediction takes to be seen. */
static void test_baseline_length(void **state)
{
	static const struct {
		uint32_t rate_per_s, predicted_ppm;
		uint64_t least_ns, most_ns;
	} cases[] = {
		/* No look tells anything before 40 ms. */
		{ 1000000, 900000, 40 * NS_PER_MS, 51 * NS_PER_MS },
		/* 3 % takes 800 I/Os. */
		{ 10000, 30000, 80 * NS_PER_MS, 91 * NS_PER_MS },
		/* 32 I/Os at 100/s. */
		{ 100, 900000, 320 * NS_PER_MS, 331 * NS_PER_MS },
		/* More than there is time for: the window's length will have to do. */
		{ 1000, 30000, 500 * NS_PER_MS, 511 * NS_PER_MS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = begin(cases[i].rate_per_s, cases[i].rate_per_s,
				       cases[i].predicted_ppm);

		/* The first look starts the window. */
		assert_false(look(&run));
		assert_in_range(look_until_changed(&run, IO_CHECK_TRIAL), cases[i].least_ns,
				cases[i].most_ns);
	}
}

/* 30 % would have shown in 45 ms; to be sure of 6 % takes a little longer. */
static void test_trial_extended(void **state)
{
	struct run run = begin(5000, 5000 * 100 / 94, 300000);
	uint64_t trial_ns;

	look_until_changed(&run, IO_CHECK_TRIAL);
	trial_ns = look_until_changed(&run, IO_CHECK_PAID);
	assert_in_range(trial_ns, 55 * NS_PER_MS, 300 * NS_PER_MS);
	assert_in_range(run.check.measured_ppm, 55000, 65000);
}

/* What was in flight at the old level does not count. */
static void test_settles_before_trial(void **state)
{
	struct run run = begin(10000, 20000, 500000);
	uint64_t trial_ns;

	look_until_changed(&run, IO_CHECK_TRIAL);
	trial_ns = run.now_ns;
	assert_int_equal(io_check_next_ns(&run.check, &run.policy, trial_ns), trial_ns + SETTLE_NS);
	assert_false(io_check_update(&run.check, &run.policy, run.count + 1000000, 500000,
				     trial_ns + SETTLE_NS - 1));
	assert_int_equal(run.check.window.start_ns, 0);
	look(&run);
	assert_int_equal(run.check.window.start_ns, trial_ns + SETTLE_NS);
}

static void test_disturb(void **state)
{
	struct run run = begin(12000, 16000, 250000);

	for (int i = 0; i < 4; i++)
		look(&run);
	io_check_disturb(&run.check, run.now_ns, 100 * NS_PER_MS);
	assert_int_equal(run.check.state, IO_CHECK_BASELINE);
	assert_int_equal(io_check_next_ns(&run.check, &run.policy, run.now_ns),
			 run.now_ns + 100 * NS_PER_MS);
	look_until_changed(&run, IO_CHECK_TRIAL);
	/* In a trial, too, and what was granted for it is not any more. */
	io_check_disturb(&run.check, run.now_ns, 100 * NS_PER_MS);
	assert_int_equal(run.check.state, IO_CHECK_BASELINE);
	assert_false(io_check_grants(&run.check));
	/* Twice as fast as before, boosted or not: the baseline is a new one. */
	run.rate_per_s = 24000;
	run.boosted_per_s = 24000;
	look_until_changed(&run, IO_CHECK_TRIAL);
	look_until_changed(&run, IO_CHECK_UNPAID);
}

static void test_stop(void **state)
{
	struct run run = begin(12000, 16000, 250000);

	io_check_stop(&run.check);
	assert_int_equal(run.check.state, IO_CHECK_OFF);
	io_check_begin(&run.check, run.now_ns);
	look_until_changed(&run, IO_CHECK_TRIAL);
	io_check_stop(&run.check);
	assert_int_equal(run.check.state, IO_CHECK_OFF);
	assert_int_equal(run.check.n_checks, 0);
}

static void test_begin_keeps_what_runs(void **state)
{
	struct run run = begin(12000, 16000, 250000);

	look_until_changed(&run, IO_CHECK_TRIAL);
	io_check_begin(&run.check, run.now_ns);
	assert_int_equal(run.check.state, IO_CHECK_TRIAL);
}

/* A device that starts to count from 0 again is looked at from there. */
static void test_counter_goes_back(void **state)
{
	struct run run = begin(12000, 12000, 250000);
	uint64_t seen_ns;

	run.count = 1ULL << 40;
	for (int i = 0; i < 4; i++)
		look(&run);
	run.count = 0;
	look(&run);
	assert_int_equal(run.check.window.start_ns, run.now_ns);
	seen_ns = run.now_ns;
	look_until_changed(&run, IO_CHECK_TRIAL);
	assert_in_range(run.now_ns - seen_ns, 40 * NS_PER_MS, 51 * NS_PER_MS);
	for (int i = 0; i < 4; i++)
		look(&run);
	run.count = 0;
	look_until_changed(&run, IO_CHECK_UNPAID);
	assert_true(run.check.measured_ppm < 20000);
}

/* At the slack or below it there is nothing to try, however long it takes. */
static void test_prediction_below_slack(void **state)
{
	struct run run = begin(12000, 16000, 20000);

	for (int i = 0; i < 1000; i++)
		assert_false(look(&run));
	assert_int_equal(run.check.state, IO_CHECK_BASELINE);
	run.predicted_ppm = 20001;
	look_until_changed(&run, IO_CHECK_TRIAL);
	/* One that comes and goes has no baseline where it is gone. */
	run = begin(12000, 16000, 250000);
	for (int i = 0; i < 100; i++) {
		run.predicted_ppm = i % 4 ? 250000 : 0;
		assert_false(look(&run));
	}
}

/* The mean of what was predicted while the baseline was taken. */
static void test_prediction_is_a_mean(void **state)
{
	struct run run = begin(100000, 150000, 250000);
	int i = 0;

	do
		run.predicted_ppm = i++ % 2 ? 100000 : 300000;
	while (!look(&run));
	assert_int_equal(run.check.state, IO_CHECK_TRIAL);
	assert_in_range(run.check.predicted_ppm, 150000, 250000);
}

/* I/O that ends: no window lasts for ever, and nothing is divided by what was not done. */
static void test_no_io(void **state)
{
	struct run run = begin(0, 0, 250000);

	for (int i = 0; i < 1000; i++)
		assert_false(look(&run));
	assert_int_equal(run.check.state, IO_CHECK_BASELINE);
	run = begin(12000, 0, 250000);
	look_until_changed(&run, IO_CHECK_TRIAL);
	assert_true(look_until_changed(&run, IO_CHECK_UNPAID) <= 520 * NS_PER_MS);
	assert_int_equal(run.check.measured_ppm, 0);
	/* Half a second of trial, in vain: 0.4 s more than it must be, twentyfold. */
	assert_in_range(run.check.backoff_ns, 8 * NS_PER_S, 9 * NS_PER_S);
}

/* Any time may be late: what is asked for is ahead of it. */
static void test_next_is_ahead(void **state)
{
	struct run run = begin(12000, 12000, 250000);
	struct test_random random = { 1 };

	for (int i = 0; i < 20000; i++) {
		run.now_ns += test_random_below(&random, 2) * test_random_below(&random, NS_PER_S);
		if (test_random_below(&random, 50) == 0)
			io_check_disturb(&run.check, run.now_ns,
					 test_random_below(&random, NS_PER_S));
		if (test_random_below(&random, 50) == 0)
			io_check_restart(&run.check, run.now_ns);
		assert_true(io_check_next_ns(&run.check, &run.policy, run.now_ns) > run.now_ns);
		look(&run);
	}
	assert_true(run.check.n_checks > 10);
}

static void test_moved(void **state)
{
	assert_false(io_check_moved(100000, 100000));
	assert_false(io_check_moved(100000, 130000));
	assert_true(io_check_moved(100000, 150000));
	assert_true(io_check_moved(150000, 100000));
	assert_false(io_check_moved(0, 5000));
	assert_true(io_check_moved(0, 10000));
	assert_true(io_check_moved(0, UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_pays),
		cmocka_unit_test(test_calibration),
		cmocka_unit_test(test_does_not_pay),
		cmocka_unit_test(test_gain_within_slack),
		cmocka_unit_test(test_baseline_length),
		cmocka_unit_test(test_trial_extended),
		cmocka_unit_test(test_settles_before_trial),
		cmocka_unit_test(test_disturb),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_begin_keeps_what_runs),
		cmocka_unit_test(test_counter_goes_back),
		cmocka_unit_test(test_prediction_below_slack),
		cmocka_unit_test(test_prediction_is_a_mean),
		cmocka_unit_test(test_no_io),
		cmocka_unit_test(test_next_is_ahead),
		cmocka_unit_test(test_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
