// SPDX-License-Identifier: GPL-2.0-only
#include "fake-cpufreq.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/governor.h"

static struct saved_value found[TUNABLES_PER_GOVERNOR_MAX];
static char unsaved[256];

static int set_up(void **state)
{
	if (fake_reset(state) < 0)
		return -1;
	fake_policy(0, 1);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, NULL)

static int collect(uint32_t policy, const char *governor, size_t n_max)
{
	memset(found, 0, sizeof(found));
	return governor_collect_tunables(policy, governor, found, n_max, unsaved, sizeof(unsaved));
}

FIXTURE_TEST(test_none)
{
	assert_int_equal(collect(0, "schedutil", 4), 0);
	assert_int_equal(collect(0, "", 4), 0);
	assert_int_equal(collect(0, "..", 4), 0);
	assert_string_equal(unsaved, "");
}

FIXTURE_TEST(test_shared)
{
	fake_write("cpufreq/ondemand/up_threshold", "95");
	fake_write("cpufreq/ondemand/sampling_rate", "10000");
	assert_int_equal(collect(0, "ondemand", 4), 2);
	assert_int_equal(found[0].policy, CONTROL_SHARED);
	assert_string_equal(found[0].path, CONTROL_DIRECTORY "/ondemand/sampling_rate");
	assert_string_equal(found[0].value, "10000");
	assert_string_equal(found[1].path, CONTROL_DIRECTORY "/ondemand/up_threshold");
}

FIXTURE_TEST(test_per_policy)
{
	fake_write("cpufreq/policy0/schedutil/rate_limit_us", "7777");
	assert_int_equal(collect(0, "schedutil", 4), 1);
	assert_int_equal(found[0].policy, 0);
	assert_string_equal(found[0].path, CONTROL_DIRECTORY "/policy0/schedutil/rate_limit_us");
}

/* What holds nothing that could be put back is no loss; what does, is named. */
FIXTURE_TEST(test_what_is_not_kept)
{
	static const struct {
		const char *name, *value;
		mode_t mode;
		bool named;
	} cases[] = {
		{ "read_only", "1", 0444, false },
		{ "write_only", "1", 0200, false },
		{ "1234567890123456789012345678901", "1234567890123456789012345678901", 0644,
		  false },
		{ "12345678901234567890123456789012", "1", 0644, true },
		{ "too_long", "12345678901234567890123456789012", 0644, true },
		{ "much_too_long", "123456789012345678901234567890123456789012345678", 0644, true },
		{ "two_words", "1 2", 0644, true },
		{ "two_lines", "1\n2", 0644, true },
		{ "empty", "", 0644, true },
		{ "Capital", "1", 0644, true },
	};
	char path[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(NULL);
		snprintf(path, sizeof(path), "cpufreq/schedutil/%s", cases[i].name);
		fake_write(path, "%s", cases[i].value);
		snprintf(path, sizeof(path), FAKE_CPU "/cpufreq/schedutil/%s", cases[i].name);
		assert_int_equal(chmod(path, cases[i].mode), 0);
		assert_int_equal(collect(0, "schedutil", 4),
				 !cases[i].named && cases[i].mode == 0644);
		assert_string_equal(unsaved, cases[i].named ? cases[i].name : "");
	}
}

FIXTURE_TEST(test_bounds)
{
	char path[64];

	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "cpufreq/schedutil/tunable_%d", i);
		fake_write(path, "%d", i);
	}
	assert_int_equal(collect(0, "schedutil", 5), 5);
	assert_string_equal(unsaved, "");
	assert_int_equal(collect(0, "schedutil", 3), 3);
	assert_int_equal(strlen(unsaved), strlen("tunable_0, tunable_0"));
	assert_int_equal(collect(0, "schedutil", 0), 0);
	assert_int_equal(governor_collect_tunables(0, "schedutil", found, 0, unsaved, 16), 0);
	assert_int_equal(strlen(unsaved), 15);
}

static void make_link(const char *target, const char *path)
{
	char full[128];

	snprintf(full, sizeof(full), FAKE_CPU "/%s", path);
	assert_int_equal(symlink(target, full), 0);
}

/* No part of the path leads elsewhere. */
FIXTURE_TEST(test_symlinks)
{
	static const struct {
		const char *target, *link, *path;
	} links[] = {
		{ "../../elsewhere/rate_limit_us", "cpufreq/ondemand/rate_limit_us",
		  "/ondemand/rate_limit_us" },
		{ "../../elsewhere", "cpufreq/policy0/schedutil",
		  "/policy0/schedutil/rate_limit_us" },
		{ "../policy0", "cpufreq/policy7", "/policy7/scaling_governor" },
		{ "../elsewhere", "cpufreq/schedutil", "/schedutil/rate_limit_us" },
	};
	char path[CONTROL_PATH_SIZE], value[SAVED_VALUE_SIZE];

	fake_write("elsewhere/rate_limit_us", "1");
	fake_write("cpufreq/ondemand/up_threshold", "95");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		make_link(links[i].target, links[i].link);
		snprintf(path, sizeof(path), CONTROL_DIRECTORY "%s", links[i].path);
		assert_int_equal(control_write_path(path, "2"), -ELOOP);
		assert_int_equal(control_read_path(path, value, sizeof(value)), -ELOOP);
	}
	assert_int_equal(collect(0, "ondemand", 4), 1);
	assert_int_equal(collect(0, "schedutil", 4), -ELOOP);
	fake_assert("elsewhere/rate_limit_us", "1");
}
