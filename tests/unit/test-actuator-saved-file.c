// SPDX-License-Identifier: GPL-2.0-only
/* A line that we did not write: the file is refused, and nothing is restored. */
#include "test-actuator-saved.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/saved.h"
#include "shared/cleanup.h"

#define POLICY0		   CONTROL_DIRECTORY "/policy0/"

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, NULL)

/* Any byte replaced: refused, or another value of the same form; never a crash. */
FIXTURE_TEST(test_flipped_anywhere)
{
	char text[4096];
	size_t n = save_three(text);

	for (size_t at = 0; at < n; at++) {
		text[at] ^= 0x80;
		test_write_bytes(SAVED_PATH, text, n);
		assert_opens_with(-EBADMSG);
		assert_int_equal(restore_saved(run_dir, NULL, NULL), -EBADMSG);
		text[at] ^= 0x80;
	}
}

static const char *const bad_entries[] = {
	"/etc/passwd root userspace",
	"/sys/devices/system/cpu/cpufreq/policy0/../../../../../etc/passwd a userspace",
	"/sys/devices/system/cpu/cpufreq/policy0/../policy1/scaling_governor a userspace",
	"/sys/devices/system/cpu/cpufreq/policy0//scaling_governor a userspace",
	POLICY0 "scaling_driver a userspace",
	POLICY0 "scaling_governor/ a userspace",
	POLICY0 "scaling_governor",
	POLICY0 "scaling_governor a",
	POLICY0 "scaling_governor  userspace",
	POLICY0 "scaling_governor a userspace ",
	POLICY0 "scaling_governor a userspace b",
	POLICY0 "scaling_governor\ta userspace",
	POLICY0 "scaling_governor ../a userspace",
	POLICY0 "scaling_governor sixteen-letters- userspace",
	POLICY0 "scaling_governor a sixteen-letters-",
	POLICY0 "scaling_setspeed 0x927c0 *",
	POLICY0 "scaling_setspeed -1 *",
	POLICY0 "scaling_setspeed 12345678901 *",
	POLICY0 "scaling_setspeed <unsupported> *",
	POLICY0 "scaling_max_freq a *",
	POLICY0 "scaling_max_freq 1 **",
	POLICY0 "scaling_governor a userspace*",
	POLICY0 "energy_performance_preference default power**",
	CONTROL_DIRECTORY "/policy1024/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy00/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy-1/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy 0/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy99999999999/scaling_governor a userspace",
	" " POLICY0 "scaling_governor a userspace",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 7777",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us  *",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 7777 * 1",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 77\t77 *",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 77\303\27477 *",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 12345678901234567890123456789012 *",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 1 12345678901234567890123456789012",
	CONTROL_DIRECTORY "/schedutil/thirty_two_letters_are_one_too___ 1 *",
	CONTROL_DIRECTORY "/sixteen-letters-/rate_limit_us 1 *",
	CONTROL_DIRECTORY "/schedutil/../policy0/scaling_governor 1 *",
	CONTROL_DIRECTORY "/schedutil/./rate_limit_us 1 *",
	CONTROL_DIRECTORY "/schedutil//rate_limit_us 1 *",
	CONTROL_DIRECTORY "//schedutil/rate_limit_us 1 *",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us/ 1 *",
	CONTROL_DIRECTORY "/schedutil/a/b 1 *",
	CONTROL_DIRECTORY "/schedutil/.. 1 *",
	CONTROL_DIRECTORY "/schedutil/. 1 *",
	CONTROL_DIRECTORY "/../online 1 *",
	CONTROL_DIRECTORY "/./boost 1 *",
	CONTROL_DIRECTORY "/boost 1 *",
	CONTROL_DIRECTORY "/Schedutil/rate_limit_us 1 *",
	CONTROL_DIRECTORY "/schedutil/Rate_limit_us 1 *",
	CONTROL_DIRECTORY "/schedutil/rate.limit.us 1 *",
	CONTROL_DIRECTORY "/policy0/scaling_driver 1 *",
	CONTROL_DIRECTORY "/policy0/boost 1 *",
	CONTROL_DIRECTORY "/policyx/rate_limit_us 1 *",
	CONTROL_DIRECTORY "/stats/reset 1 *",
	POLICY0 "stats/reset 1 *",
	POLICY0 "policy2/scaling_governor 1 *",
	POLICY0 "../schedutil/rate_limit_us 1 *",
	POLICY0 "schedutil/../rate_limit_us 1 *",
	CONTROL_DIRECTORY "/policy00/schedutil/rate_limit_us 1 *",
	CONTROL_DIRECTORY "/policy+1/schedutil/rate_limit_us 1 *",
	CONTROL_DIRECTORY "/policy1024/schedutil/rate_limit_us 1 *",
	CONTROL_DIRECTORY "/policy4294967295/schedutil/rate_limit_us 1 *",
	" " CONTROL_DIRECTORY "/schedutil/rate_limit_us 1 *",
	"/etc/schedutil/rate_limit_us 1 *",
	POLICY0 "pm_qos_resume_latency_us 0 50",
	CONTROL_CPUS "/cpu3/power/pm_qos_resume_latency_us 0 50",
	"",
};

FIXTURE_TEST(test_bad_entries)
{
	char text[4096];

	for (size_t i = 0; i < ARRAY_SIZE(bad_entries); i++) {
		snprintf(text, sizeof(text), SAVED_HEADER "boot %s\n%s\nend 1\n", boot_id,
			 bad_entries[i]);
		test_write(SAVED_PATH, text);
		assert_opens_with(-EBADMSG);
	}
}

static const char *const good_entries[] = {
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 7777 *",
	CONTROL_DIRECTORY "/schedutil/rate_limit_us 7777 15",
	CONTROL_DIRECTORY "/ondemand/up-threshold_2 -1:a,b *",
	CONTROL_DIRECTORY "/fifteen_letters/thirty_one_letters_are_not_many -1 *",
	POLICY0 "schedutil/rate_limit_us 7777 *",
	POLICY0 "energy_performance_preference balance_performance power*",
	CONTROL_DIRECTORY "/policy1023/schedutil/rate_limit_us 7777 *",
};

FIXTURE_TEST(test_good_entries)
{
	char text[4096], again[4096];

	for (size_t i = 0; i < ARRAY_SIZE(good_entries); i++) {
		struct saved_values *saved;

		snprintf(text, sizeof(text), SAVED_HEADER "boot %s\n%s\nend 1\n", boot_id,
			 good_entries[i]);
		test_write(SAVED_PATH, text);
		saved = open_with(1);
		assert_int_equal(saved_save(saved), 0);
		saved_free(saved);
		read_file(again);
		assert_string_equal(again, text);
	}
}

#define GOOD	POLICY0 "scaling_governor a userspace\n"
#define TUNABLE CONTROL_DIRECTORY "/schedutil/rate_limit_us 7777 *\n"

static const char *const bad_files[] = {
	GOOD GOOD "end 2\n",
	TUNABLE TUNABLE "end 2\n",
	GOOD TUNABLE "end 1\n",
};

FIXTURE_TEST(test_bad_files)
{
	char text[1024];

	for (size_t i = 0; i < ARRAY_SIZE(bad_files); i++) {
		snprintf(text, sizeof(text), SAVED_HEADER "boot %s\n%s", boot_id, bad_files[i]);
		test_write(SAVED_PATH, text);
		assert_opens_with(-EBADMSG);
	}
	snprintf(text, sizeof(text), "wakegov originals 1\nboot %s\nend 0\n", boot_id);
	test_write(SAVED_PATH, text);
	assert_opens_with(-EPROTONOSUPPORT);
}

FIXTURE_TEST(test_too_many)
{
	FILE *file;

	run_dir = fake_run_dir("4m");
	for (size_t n = SAVED_MAX; n <= SAVED_MAX + 1; n++) {
		file = fopen(SAVED_PATH, "w");
		assert_non_null(file);
		fprintf(file, SAVED_HEADER "boot %s\n", boot_id);
		for (size_t i = 0; i < n; i++)
			fprintf(file, CONTROL_DIRECTORY "/schedutil/tunable_%zu 1 *\n", i);
		fprintf(file, "end %zu\n", n);
		assert_int_equal(fclose(file), 0);
		if (n > SAVED_MAX)
			assert_opens_with(-EBADMSG);
		else
			saved_free(open_with(n));
	}
}
