// SPDX-License-Identifier: GPL-2.0-only
/* How deeply a CPU may sleep: written, saved, put back to the letter, and left to another program.
 */
#include "fake-cpufreq.h"
#include "saved-entry.h"

#include <errno.h>
#include <string.h>

#include "actuator/power_controls.h"
#include "actuator/restore.h"

#define FILE_OF(cpu) "cpu" #cpu "/power/pm_qos_resume_latency_us"

static const char *run_dir;
static struct saved_values *saved;
static char told[512];

static void note(void *userdata, const struct restore_result *result)
{
	restore_describe(result, told, sizeof(told));
}

static int set_up(void **state)
{
	fake_reset(NULL);
	fake_write(FILE_OF(0), "0");
	fake_write(FILE_OF(3), "0");
	run_dir = fake_run_dir("64k");
	told[0] = '\0';
	return saved_open(run_dir, &saved);
}

static int tear_down(void **state)
{
	saved = saved_free(saved);
	return 0;
}

/* As by a daemon that was killed: what is left is what the file says. */
static int killed_and_restored(void)
{
	return restore_saved(run_dir, note, NULL);
}

static void test_limited_and_put_back(void **state)
{
	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_DONE);
	fake_assert(FILE_OF(3), "50");
	fake_assert(FILE_OF(0), "0");
	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_UNCHANGED);
	assert_int_equal(restore_resume_latency(saved, 3), RESTORE_DONE);
	fake_assert(FILE_OF(3), "0");
	assert_int_equal(saved->n, 0);
}

/* The kernel's "n/a" is 0 us, and its "0" is no limit. */
static void test_texts(void **state)
{
	static const struct {
		const char *before;
		uint32_t us;
		const char *during;
	} rows[] = {
		{ "0", 0, "n/a" },   { "0", 1, "1" },	   { "70", 0, "n/a" },
		{ "70", 50, "50" },  { "70", 70, "70" },   { "70", 100, "70" },
		{ "n/a", 0, "n/a" }, { "n/a", 50, "n/a" }, { "0", 1000000, "1000000" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool changes = strcmp(rows[i].before, rows[i].during) != 0;

		fake_write(FILE_OF(0), "%s", rows[i].before);
		assert_int_equal(resume_latency_limit(saved, 0, rows[i].us),
				 changes ? RESUME_LATENCY_DONE : RESUME_LATENCY_UNCHANGED);
		fake_assert(FILE_OF(0), rows[i].during);
		assert_int_equal(saved->n, changes);
		assert_int_equal(killed_and_restored(), 0);
		fake_assert(FILE_OF(0), rows[i].before);
		tear_down(NULL);
		assert_int_equal(saved_open(run_dir, &saved), 0);
	}
}

static void test_another_limit(void **state)
{
	fake_write(FILE_OF(0), "70");
	assert_int_equal(resume_latency_limit(saved, 0, 10), RESUME_LATENCY_DONE);
	assert_int_equal(resume_latency_limit(saved, 0, 50), RESUME_LATENCY_DONE);
	fake_assert(FILE_OF(0), "50");
	/* More than what stood there before us needs nothing of ours. */
	assert_int_equal(resume_latency_limit(saved, 0, 100), RESUME_LATENCY_UNCHANGED);
	fake_assert(FILE_OF(0), "70");
	assert_int_equal(saved->n, 0);
}

static void test_somebody_else(void **state)
{
	assert_int_equal(resume_latency_limit(saved, 0, 50), RESUME_LATENCY_DONE);
	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_DONE);
	fake_write(FILE_OF(0), "20");
	fake_write(FILE_OF(3), "0");
	assert_int_equal(resume_latency_limit(saved, 0, 50), RESUME_LATENCY_FOREIGN);
	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_FOREIGN);
	assert_int_equal(saved->n, 0);
	assert_int_equal(killed_and_restored(), 0);
	fake_assert(FILE_OF(0), "20");
	fake_assert(FILE_OF(3), "0");

	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_DONE);
	fake_write(FILE_OF(3), "n/a");
	assert_int_equal(restore_resume_latency(saved, 3), RESTORE_TAKEN_OVER);
	fake_assert(FILE_OF(3), "n/a");
}

static void test_what_is_told(void **state)
{
	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_DONE);
	assert_int_equal(killed_and_restored(), 0);
	assert_string_equal(told, "restored pm_qos_resume_latency_us of CPU 3 to 0");
	saved_free(saved);
	assert_int_equal(saved_open(run_dir, &saved), 0);
	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_DONE);
	fake_write(FILE_OF(3), "20");
	assert_int_equal(restore_resume_latencies(saved, note, NULL), 0);
	assert_string_equal(told,
			    "left pm_qos_resume_latency_us of CPU 3 at 20: another program set "
			    "it");
}

/* A CPU's limit and a domain of the same number are nothing to each other. */
static void test_beside_a_domain(void **state)
{
	const struct saved_value max = SAVED(0, MAX_FREQ, "1800000", "900000");

	fake_policy(0, 3);
	fake_write("cpufreq/policy0/scaling_max_freq", "900000");
	assert_int_equal(saved_add(saved, &max, 1), 0);
	assert_int_equal(resume_latency_limit(saved, 0, 50), RESUME_LATENCY_DONE);
	assert_int_equal(restore_domain(saved, 0, NULL, NULL), 0);
	fake_assert("cpufreq/policy0/scaling_max_freq", "1800000");
	fake_assert(FILE_OF(0), "50");
	assert_int_equal(killed_and_restored(), 0);
	fake_assert(FILE_OF(0), "0");
}

/* Without room in the file of saved values, nothing is written. */
static void test_faults(void **state)
{
	assert_int_equal(resume_latency_limit(saved, 7, 50), -ENOENT);
	fake_fill(run_dir);
	assert_int_equal(resume_latency_limit(saved, 3, 50), -ENOSPC);
	fake_assert(FILE_OF(3), "0");
	fake_empty(run_dir);
	fake_write(FILE_OF(3), "what is this");
	assert_int_equal(resume_latency_limit(saved, 3, 50), RESUME_LATENCY_UNCHANGED);
	fake_assert(FILE_OF(3), "what is this");
	assert_int_equal(saved->n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_limited_and_put_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_somebody_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_beside_a_domain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
	};

	fake_enter_or_skip();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
