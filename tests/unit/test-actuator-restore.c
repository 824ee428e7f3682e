// SPDX-License-Identifier: GPL-2.0-only
#include "fake-cpufreq.h"
#include "saved-entry.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/saved.h"

#define POLICY(file) "cpufreq/policy0/scaling_" file

static const char *run_dir;
static char report[2048];

static int set_up(void **state)
{
	run_dir = fake_run_dir("64k");
	report[0] = '\0';
	if (fake_reset(state) < 0)
		return -1;
	fake_policy(0, 1);
	fake_policy(2, 3);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, NULL)

static void collect(void *userdata, const struct restore_result *result)
{
	size_t length = strlen(report);

	restore_describe(result, report + length, sizeof(report) - length - 1);
	strcat(report, "\n");
}

static void save(const struct saved_value *entries, size_t n)
{
	struct saved_values *saved = NULL;

	assert_int_equal(saved_open(run_dir, &saved), 0);
	assert_int_equal(saved_add(saved, entries, n), 0);
	saved_free(saved);
}

static void assert_restores(int expected, const char *expected_report)
{
	report[0] = '\0';
	assert_int_equal(restore_saved(run_dir, collect, NULL), expected);
	assert_string_equal(report, expected_report);
}

static size_t lines_kept(void)
{
	struct saved_values *saved = NULL;
	size_t n;

	assert_int_equal(saved_open(run_dir, &saved), 0);
	n = saved->n;
	saved_free(saved);
	return n;
}

static void assert_no_file(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/" SAVED_FILE, run_dir);
	assert_int_equal(access(path, F_OK), -1);
}

static const struct saved_value schedutil = SAVED(0, GOVERNOR, "schedutil", "userspace");
static const struct saved_value speed[] = {
	SAVED(0, GOVERNOR, "userspace", "userspace"),
	SAVED(0, SETSPEED, "600000", SAVED_ANY),
};

FIXTURE_TEST(test_without_file)
{
	assert_restores(0, "");
	assert_int_equal(restore_saved("/run/none", collect, NULL), 0);
}

/* The speed goes with the governor. */
FIXTURE_TEST(test_foreign_governor_keeps_its_speed)
{
	save(speed, 2);
	fake_write(POLICY("governor"), "performance");
	assert_restores(0,
			"left policy0 scaling_governor at performance: another program set it\n");
	fake_assert(POLICY("setspeed"), "1000000");
	assert_no_file();
}

/* One control fails, the rest goes on, the next run finishes. */
FIXTURE_TEST(test_failure_does_not_stop_the_rest)
{
	static const struct saved_value entries[] = {
		SAVED(0, GOVERNOR, "schedutil", "userspace"),
		SAVED(2, GOVERNOR, "schedutil", "userspace"),
	};

	save(entries, 2);
	fake_break(POLICY("governor"));
	fake_write("cpufreq/policy2/scaling_governor", "userspace");
	assert_restores(-EISDIR, "could not restore policy0 scaling_governor to schedutil: "
				 "Is a directory\n"
				 "restored policy2 scaling_governor to schedutil\n");
	assert_int_equal(lines_kept(), 1);

	assert_int_equal(rmdir(FAKE_CPU "/" POLICY("governor")), 0);
	fake_write(POLICY("governor"), "userspace");
	assert_restores(0, "restored policy0 scaling_governor to schedutil\n");
	assert_no_file();
}

FIXTURE_TEST(test_read_only_file)
{
	const char *path = FAKE_CPU "/" POLICY("governor");

	save(&schedutil, 1);
	fake_write(POLICY("governor"), "userspace");
	assert_int_equal(mount(path, path, "none", MS_BIND, NULL), 0);
	assert_int_equal(mount("none", path, "none", MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_restores(-EROFS, "could not restore policy0 scaling_governor to schedutil: "
				"Read-only file system\n");
	assert_int_equal(lines_kept(), 1);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

FIXTURE_TEST(test_domain_gone)
{
	static const struct saved_value gone = SAVED(7, GOVERNOR, "schedutil", "userspace");

	save(&gone, 1);
	assert_restores(0, "policy7 scaling_governor is gone: nothing to restore\n");
	assert_no_file();
}

/* Whatever names another file must not be followed there. */
FIXTURE_TEST(test_symlink_is_not_followed)
{
	const char *path = FAKE_CPU "/" POLICY("governor");

	save(&schedutil, 1);
	assert_int_equal(unlink(path), 0);
	fake_write("target", "userspace");
	assert_int_equal(symlink(FAKE_CPU "/target", path), 0);
	assert_restores(-ELOOP, "could not restore policy0 scaling_governor to schedutil: "
				"Too many levels of symbolic links\n");
	fake_assert("target", "userspace");
}

FIXTURE_TEST(test_domain_of_a_table)
{
	static const struct saved_value entries[] = {
		SAVED(0, GOVERNOR, "schedutil", "userspace"),
		SAVED(2, GOVERNOR, "schedutil", "userspace"),
	};
	struct saved_values *saved = NULL;

	save(entries, 2);
	fake_write(POLICY("governor"), "userspace");
	fake_write("cpufreq/policy2/scaling_governor", "userspace");
	assert_int_equal(saved_open(run_dir, &saved), 0);
	assert_int_equal(restore_domain(saved, 2, NULL, NULL), 0);
	saved_free(saved);
	fake_assert(POLICY("governor"), "userspace");
	fake_assert("cpufreq/policy2/scaling_governor", "schedutil");
	assert_int_equal(lines_kept(), 1);
}

FIXTURE_TEST(test_describe_offline)
{
	const struct restore_result result = {
		.policy = 2,
		.name = "scaling_governor",
		.outcome = RESTORE_OFFLINE,
		.value = "schedutil",
	};
	char text[256], small[8];

	restore_describe(&result, text, sizeof(text));
	assert_string_equal(text, "policy2 is offline: scaling_governor stays to be restored to "
				  "schedutil, by wakegovd --restore when a CPU of it is online");
	restore_describe(&result, small, sizeof(small));
	assert_string_equal(small, "policy2");
}
