// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tunables that the kernel frees when the last domain leaves their governor come back as they were:
 * what a real kernel cannot be made to do; tests/lab/actuator-undo.c has the rest.
 */
#include "fake-governors.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actuator/backend.h"
#include "actuator/saved.h"

#define RATE_LIMIT     "cpufreq/schedutil/rate_limit_us"
#define UP_THRESHOLD   "cpufreq/conservative/up_threshold"
#define DOWN_THRESHOLD "cpufreq/conservative/down_threshold"

static const struct topology_domain infos[2] = {
	{ .name = "policy0", .n_opps = 2, .opp_khz = { 400000, 1000000 }, .capacity = 1024 },
	{ .name = "policy2",
	  .first_cpu = 2,
	  .n_opps = 2,
	  .opp_khz = { 400000, 1000000 },
	  .capacity = 1024 },
};

static const char *run_dir;
static struct saved_values *saved;
static struct actuator_domain domains[2];
static char report[1024];

static int start(const char *governor, bool per_policy)
{
	run_dir = fake_run_dir("64k");
	if (fake_reset(NULL) < 0)
		return -1;
	report[0] = '\0';
	fake_governors(governor, per_policy);
	if (saved_open(run_dir, &saved) < 0)
		return -1;
	return actuator_domain_init(&domains[0], &infos[0], saved) < 0 ||
	       actuator_domain_init(&domains[1], &infos[1], saved) < 0;
}

static int set_up_shared(void **state)
{
	return start("schedutil", false);
}

static int set_up_own(void **state)
{
	return start("schedutil", true);
}

static int set_up_conservative(void **state)
{
	return start("conservative", false);
}

static int tear_down(void **state)
{
	actuator_domain_deinit(&domains[0]);
	actuator_domain_deinit(&domains[1]);
	saved = saved_free(saved);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up_shared, tear_down)

static void collect(void *userdata, const struct restore_result *result)
{
	size_t length = strlen(report);

	if (strncmp(result->name, "scaling_", 8) == 0)
		return;
	restore_describe(result, report + length, sizeof(report) - length - 1);
	strcat(report, "\n");
}

static size_t count_tunables(void)
{
	size_t n = 0;

	for (size_t i = 0; i < saved->n; i++)
		n += saved->entries[i].control == CONTROL_TUNABLE;
	return n;
}

static void acquire(int domain)
{
	assert_int_equal(backend_setspeed.acquire(&domains[domain]), ACTUATOR_DONE);
	assert_string_equal(domains[domain].unsaved, "");
}

static int release(int domain)
{
	return actuator_domain_release(&domains[domain], &backend_setspeed, collect, NULL);
}

static void assert_restore(int expected, const char *expected_report)
{
	report[0] = '\0';
	assert_int_equal(restore_saved(run_dir, collect, NULL), expected);
	assert_string_equal(report, expected_report);
}

static void assert_absent(const char *path)
{
	char full[128];

	snprintf(full, sizeof(full), FAKE_CPU "/%s", path);
	assert_int_equal(access(full, F_OK), -1);
}

static void assert_no_file(void)
{
	assert_int_equal(access("/run/" SAVED_FILE, F_OK), -1);
}

/* After the first domain is back it is the administrator's again. */
FIXTURE_TEST(test_changed_between_two_releases)
{
	fake_write(RATE_LIMIT, "7777");
	acquire(0);
	acquire(1);
	release(1);
	fake_write(RATE_LIMIT, "500");
	release(0);
	fake_assert(RATE_LIMIT, "500");
	assert_no_file();
}

FIXTURE_TEST(test_default_is_not_written)
{
	acquire(0);
	acquire(1);
	fake_fail_tunable("rate_limit_us", -EIO);
	assert_int_equal(release(0), ACTUATOR_DONE);
	assert_int_equal(release(1), ACTUATOR_DONE);
	fake_assert(RATE_LIMIT, "15");
	assert_string_equal(report, "");
	assert_no_file();
}

TEST_WITH(test_per_policy, set_up_own, tear_down)
{
	fake_write("cpufreq/policy0/schedutil/rate_limit_us", "7777");
	fake_write("cpufreq/policy2/schedutil/rate_limit_us", "500");
	acquire(0);
	acquire(1);
	assert_int_equal(count_tunables(), 2);
	release(0);
	fake_assert("cpufreq/policy0/schedutil/rate_limit_us", "7777");
	assert_absent("cpufreq/policy2/schedutil/rate_limit_us");
	release(1);
	fake_assert("cpufreq/policy2/schedutil/rate_limit_us", "500");
	assert_string_equal(report, "restored policy0 schedutil/rate_limit_us to 7777\n"
				    "restored policy2 schedutil/rate_limit_us to 500\n");
	assert_no_file();
}

/* The restore itself is killed when the governor is back, and its tunables are not yet. */
FIXTURE_TEST(test_crash_of_restore)
{
	int status;
	pid_t pid;

	fake_write(RATE_LIMIT, "7777");
	acquire(0);
	acquire(1);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		fake_fail_tunable("rate_limit_us", FAKE_KILLED);
		restore_saved(run_dir, collect, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	fake_assert(RATE_LIMIT, "15");
	assert_restore(0, "restored schedutil/rate_limit_us to 7777\n");
	fake_assert(RATE_LIMIT, "7777");
	assert_no_file();
}

/* Started again without a restore: what was there first stands. */
FIXTURE_TEST(test_crash_and_start_again)
{
	fake_write(RATE_LIMIT, "7777");
	acquire(0);
	acquire(1);
	tear_down(state);
	assert_int_equal(saved_open(run_dir, &saved), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(actuator_domain_init(&domains[i], &infos[i], saved), 0);
	acquire(0);
	acquire(1);
	release(0);
	release(1);
	fake_assert(RATE_LIMIT, "7777");
}

FIXTURE_TEST(test_never_lost_nor_changed)
{
	fake_write(RATE_LIMIT, "7777");
	acquire(0);
	assert_restore(0, "");
	fake_assert(RATE_LIMIT, "7777");
	assert_no_file();
}

FIXTURE_TEST(test_all_yielded)
{
	acquire(0);
	acquire(1);
	fake_govern(0, "performance");
	fake_govern(2, "performance");
	backend_setspeed.verify(&domains[0]);
	backend_setspeed.verify(&domains[1]);
	assert_int_equal(count_tunables(), 1);
	release(0);
	assert_int_equal(count_tunables(), 1);
	release(1);
	assert_int_equal(count_tunables(), 0);
	assert_no_file();
}

/* One yielded to another governor: the last one of ours still brings them back. */
FIXTURE_TEST(test_one_yielded)
{
	fake_write(RATE_LIMIT, "7777");
	acquire(0);
	acquire(1);
	fake_govern(0, "performance");
	backend_setspeed.verify(&domains[0]);
	release(0);
	release(1);
	fake_assert(RATE_LIMIT, "7777");
}

/* One fails, the rest goes on; it is told once, stays, and the next run finishes. */
TEST_WITH(test_failure, set_up_conservative, tear_down)
{
	fake_write(UP_THRESHOLD, "90");
	fake_write(DOWN_THRESHOLD, "30");
	acquire(0);
	acquire(1);
	fake_fail_tunable("down_threshold", -EIO);
	assert_restore(-EIO, "restored conservative/up_threshold to 90\n"
			     "could not restore conservative/down_threshold to 30: "
			     "Input/output error\n");
	fake_assert(UP_THRESHOLD, "90");
	fake_assert("cpufreq/policy2/scaling_governor", "conservative");
	assert_restore(-EIO, "could not restore conservative/down_threshold to 30: "
			     "Input/output error\n");
	fake_fail_tunable(NULL, 0);
	assert_restore(0, "restored conservative/down_threshold to 30\n");
	fake_assert(DOWN_THRESHOLD, "30");
	assert_no_file();
}

FIXTURE_TEST(test_changed_after_failure)
{
	fake_write(RATE_LIMIT, "7777");
	acquire(0);
	acquire(1);
	fake_fail_tunable("rate_limit_us", -EINVAL);
	assert_int_equal(release(0), -EINVAL);
	assert_int_equal(release(1), ACTUATOR_DONE);
	fake_fail_tunable(NULL, 0);
	fake_write(RATE_LIMIT, "500");
	assert_restore(0, "left schedutil/rate_limit_us at 500: another program set it\n");
	fake_assert(RATE_LIMIT, "500");
	assert_no_file();
}

FIXTURE_TEST(test_gone)
{
	fake_write("cpufreq/schedutil/another", "1");
	acquire(0);
	assert_int_equal(count_tunables(), 2);
	unlink(FAKE_CPU "/cpufreq/schedutil/another");
	acquire(1);
	release(0);
	release(1);
	assert_string_equal(report, "schedutil/another is gone: nothing to restore\n");
	assert_no_file();
}

FIXTURE_TEST(test_unsaved_is_told)
{
	fake_write("cpufreq/schedutil/target_loads", "85 1000000:90");
	assert_int_equal(backend_setspeed.acquire(&domains[0]), ACTUATOR_DONE);
	assert_string_equal(
		domains[0].unsaved,
		"tunables of schedutil that cannot be saved, and can be at the kernel's "
		"defaults afterwards: target_loads");
	assert_int_equal(count_tunables(), 1);
}
