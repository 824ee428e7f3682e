// SPDX-License-Identifier: GPL-2.0-only
/* Another policy for what a simulated machine did: nothing where it is the same, and what it says.
 */
#include "test-record.h"

#include "report/what_if.h"
#include "sim/result.h"

static struct test_recording recording;
static const char *rk3399_path;

static void record_sim(const char *spec)
{
	struct platform *platform = calloc(1, sizeof(*platform));
	struct workload *workload = calloc(1, sizeof(*workload));
	struct recorder *recorder = test_recorder_new(&recording);
	struct run_options options = {
		.seed = 1,
		.warm_up_ns = NS_PER_S / 10,
		.duration_ns = NS_PER_S,
		.recorder = recorder,
	};
	struct result result;
	char *message = NULL;

	assert_int_equal(platform_load(rk3399_path, platform, &message), 0);
	assert_int_equal(workload_parse(spec, platform, workload, &message), 0);
	assert_int_equal(result_run(platform, workload, sim_governor_find("wakegov"), NULL,
				    &options, &result),
			 0);
	assert_int_equal(recorder_end(recorder), 0);
	recorder_free(recorder);
	free(workload);
	free(platform);
}

/* What is asked of *ret has to be asked before the reader goes: it borrows the topology. */
static struct record_reader *run(const struct policy *policy, struct what_if *ret)
{
	struct record_reader *reader = test_reader_new(&recording);

	assert_int_equal(record_reader_begin(reader), 0);
	assert_int_equal(what_if_run(reader, policy, ret), 0);
	return reader;
}

static void test_same_policy(void **state)
{
	static const char *const specs[] = { "psyncx1", "psyncx12", "io_uring6x128", "busyx3",
					     "psyncx2:think=200us" };
	struct record_reader *reader;
	struct what_if what_if;
	struct policy policy;

	policy_init(&policy);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		record_sim(specs[i]);
		reader = run(&policy, &what_if);
		assert_int_equal(what_if.n_differences, 0);
		assert_int_equal(what_if.n_other, what_if.n_recorded);
		assert_true(what_if.n_recorded > 0);
		for (uint32_t d = 0; d < what_if.n_domains; d++)
			assert_memory_equal(&what_if.recorded[d], &what_if.other[d],
					    sizeof(what_if.other[d]));
		what_if_deinit(&what_if);
		record_reader_free(reader);
	}
}

/* 408 … 1416 MHz: a third of the time at one OPP and two thirds at another would show here. */
static void test_lower_limit(void **state)
{
	struct record_reader *reader;
	struct what_if what_if;
	struct policy policy;

	record_sim("psyncx12");
	policy_init(&policy);
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1000000 };
	reader = run(&policy, &what_if);
	assert_true(what_if.n_differences > 0);
	assert_int_equal(what_if.differences[0].recorded.reason, REASON_IO_BOOST);
	assert_int_equal(what_if.differences[0].recorded.domain,
			 what_if.differences[0].other.domain);
	for (uint32_t d = 0; d < what_if.n_domains; d++) {
		assert_true(opp_times_mean_khz(&what_if.recorded[d]) > 1100000);
		assert_in_range(opp_times_mean_khz(&what_if.other[d]), 408000, 1000000);
		/* The same time in all, but for the moment before the first decision of either. */
		assert_in_range(opp_times_total_ns(&what_if.other[d]),
				opp_times_total_ns(&what_if.recorded[d]) - NS_PER_S / 50,
				what_if.end_ns - what_if.begin_ns);
	}
	what_if_deinit(&what_if);
	record_reader_free(reader);
}

/* Windows and leases for which no sample was taken: they are made up, and boosts do not flicker. */
static void test_other_times(void **state)
{
	struct record_reader *reader;
	struct what_if what_if;
	struct policy policy;

	record_sim("psyncx12");
	policy_init(&policy);
	policy.io_boost.window_ns = 20 * NS_PER_MS;
	policy.io_boost.hold_ns = 4 * NS_PER_MS;
	reader = run(&policy, &what_if);
	for (uint32_t d = 0; d < what_if.n_domains; d++) {
		uint32_t recorded_khz = opp_times_mean_khz(&what_if.recorded[d]);

		assert_true(what_if.other[d].changes < 10);
		assert_in_range(opp_times_mean_khz(&what_if.other[d]), recorded_khz * 8 / 10,
				recorded_khz * 12 / 10);
	}
	what_if_deinit(&what_if);
	record_reader_free(reader);
}

/* Nobody is boosted who has to do more than a hundred thousand I/Os: what is left is utilisation.
 */
static void test_no_boost(void **state)
{
	struct record_reader *reader;
	struct what_if what_if;
	struct policy policy;

	record_sim("psyncx12");
	policy_init(&policy);
	policy.io_boost.min_rate_per_s = 100000;
	reader = run(&policy, &what_if);
	assert_int_not_equal(what_if.differences[0].other.reason, REASON_IO_BOOST);
	for (uint32_t d = 0; d < what_if.n_domains; d++)
		assert_in_range(opp_times_mean_khz(&what_if.other[d]), 408000, 600000);
	what_if_deinit(&what_if);
	record_reader_free(reader);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_policy),
		cmocka_unit_test(test_lower_limit),
		cmocka_unit_test(test_other_times),
		cmocka_unit_test(test_no_boost),
	};

	rk3399_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
