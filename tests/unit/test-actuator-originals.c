// SPDX-License-Identifier: GPL-2.0-only
#include "fake-cpufreq.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/originals.h"
#include "actuator/originals_parse.h"
#include "actuator/restore.h"

#define POLICY0 CONTROL_DIRECTORY "/policy0/"

static const char *run_dir;
static char boot_id[ORIGINALS_BOOT_ID_SIZE];

static const struct original two[] = {
	{ 0, CONTROL_GOVERNOR, "userspace", "userspace" },
	{ 0, CONTROL_SETSPEED, "600000", ORIGINALS_ANY },
};
static const struct original third = { 12, CONTROL_GOVERNOR, "schedutil", "userspace" };

static int set_up(void **state)
{
	run_dir = fake_run_dir("64k");
	return fake_reset(state) < 0 || originals_read_boot_id(boot_id) < 0;
}

static void path_of(const char *file, char ret_path[128])
{
	snprintf(ret_path, 128, "%s/%s", run_dir, file);
}

static size_t read_file(char ret_text[4096])
{
	char path[128];
	FILE *file;
	size_t n;

	path_of(ORIGINALS_FILE, path);
	file = fopen(path, "r");
	if (!file)
		return 0;
	n = fread(ret_text, 1, 4095, file);
	ret_text[n] = '\0';
	fclose(file);
	return n;
}

static void write_file(const char *text, size_t size)
{
	char path[128];
	FILE *file;

	path_of(ORIGINALS_FILE, path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void assert_opens_with(int expected)
{
	struct originals *originals = NULL;

	assert_int_equal(originals_open(run_dir, &originals), expected);
	assert_null(originals);
}

static struct originals *open_with(size_t n)
{
	struct originals *originals = NULL;

	assert_int_equal(originals_open(run_dir, &originals), 0);
	assert_int_equal(originals->n, n);
	return originals;
}

static void test_round_trip(void **state)
{
	struct originals *originals = open_with(0);
	const struct original *found;
	char text[4096], expected[4096];

	assert_int_equal(originals_add(originals, two, 2), 0);
	assert_int_equal(originals_add(originals, &third, 1), 0);
	originals_free(originals);

	read_file(text);
	snprintf(expected, sizeof(expected),
		 "wakegov originals 1\nboot %s\n" POLICY0
		 "scaling_governor userspace userspace\n" POLICY0
		 "scaling_setspeed 600000 *\n" CONTROL_DIRECTORY
		 "/policy12/scaling_governor schedutil userspace\nend 3\n",
		 boot_id);
	assert_string_equal(text, expected);

	originals = open_with(3);
	found = originals_find(originals, 0, CONTROL_SETSPEED);
	assert_non_null(found);
	assert_string_equal(found->value, "600000");
	assert_string_equal(found->put, ORIGINALS_ANY);
	assert_null(originals_find(originals, 1, CONTROL_GOVERNOR));

	assert_int_equal(originals_forget(originals, 0), 0);
	originals_free(originals);
	originals = open_with(1);
	assert_int_equal(originals_forget(originals, 12), 0);
	originals_free(originals);
	assert_int_equal(read_file(text), 0);
}

/* A crash between acquiring twice: what was there first stands, unless it is not ours any more. */
static void test_first_original_stands(void **state)
{
	const struct original again = { 12, CONTROL_GOVERNOR, "userspace", "userspace" };
	const struct original theirs = { 12, CONTROL_GOVERNOR, "performance", "userspace" };
	struct originals *originals = open_with(0);

	assert_int_equal(originals_add(originals, &third, 1), 0);
	assert_int_equal(originals_add(originals, &again, 1), 0);
	assert_int_equal(originals->n, 1);
	assert_string_equal(originals->entries[0].value, "schedutil");
	assert_int_equal(originals_add(originals, &theirs, 1), 0);
	assert_int_equal(originals->n, 1);
	assert_string_equal(originals->entries[0].value, "performance");
	originals_free(originals);
}

static void test_other_boot_is_ignored(void **state)
{
	struct originals *originals = open_with(0);
	char text[4096];
	size_t n;

	assert_int_equal(originals_add(originals, two, 2), 0);
	originals_free(originals);
	n = read_file(text);
	text[strlen("wakegov originals 1\nboot ")] ^= 1;
	write_file(text, n);
	originals_free(open_with(0));
}

static void test_truncated_anywhere(void **state)
{
	struct originals *originals = open_with(0);
	char text[4096];
	size_t n;

	assert_int_equal(originals_add(originals, two, 2), 0);
	originals_free(originals);
	n = read_file(text);
	for (size_t length = 0; length < n; length++) {
		write_file(text, length);
		assert_opens_with(-EBADMSG);
		assert_int_equal(restore_originals(run_dir, NULL, NULL), -EBADMSG);
	}
}

/* Any byte replaced: refused, or another value of the same form; never a crash. */
static void test_flipped_anywhere(void **state)
{
	struct originals *originals = open_with(0);
	char text[4096];
	size_t n;

	assert_int_equal(originals_add(originals, two, 2), 0);
	originals_free(originals);
	n = read_file(text);
	for (size_t at = 0; at < n; at++) {
		text[at] ^= 0x80;
		write_file(text, n);
		assert_opens_with(-EBADMSG);
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
	CONTROL_DIRECTORY "/policy1024/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy00/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy-1/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy 0/scaling_governor a userspace",
	CONTROL_DIRECTORY "/policy99999999999/scaling_governor a userspace",
	" " POLICY0 "scaling_governor a userspace",
	"",
};

static void test_bad_entries(void **state)
{
	char text[4096];

	for (size_t i = 0; i < sizeof(bad_entries) / sizeof(bad_entries[0]); i++) {
		snprintf(text, sizeof(text), ORIGINALS_HEADER "boot %s\n%s\nend 1\n", boot_id,
			 bad_entries[i]);
		write_file(text, strlen(text));
		assert_opens_with(-EBADMSG);
	}
}

#define GOOD POLICY0 "scaling_governor a userspace\n"

/* %s: the boot id */
static const char *const bad_files[] = {
	"wakegov originals 2\nboot %s\n" GOOD "end 1\n",
	"boot %s\n" GOOD "end 1\n",
	ORIGINALS_HEADER "boot %sa\n" GOOD "end 1\n",
	ORIGINALS_HEADER "boot  %s\n" GOOD "end 1\n",
	ORIGINALS_HEADER "boot %.35s/\n" GOOD "end 1\n",
	ORIGINALS_HEADER "boot %s\n" GOOD "end 2\n",
	ORIGINALS_HEADER "boot %s\n" GOOD "end 01\n",
	ORIGINALS_HEADER "boot %s\n" GOOD GOOD "end 2\n",
	ORIGINALS_HEADER "boot %s\n" GOOD "end 1\n\n",
	ORIGINALS_HEADER "boot %s\n" GOOD "end 1\nend 1\n",
	ORIGINALS_HEADER "boot %s\r\n" GOOD "end 1\n",
};

static void test_bad_files(void **state)
{
	static char text[ORIGINALS_SIZE_MAX + 2];

	for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), bad_files[i], boot_id);
#pragma GCC diagnostic pop
		write_file(text, strlen(text));
		assert_opens_with(-EBADMSG);
	}

	snprintf(text, sizeof(text), ORIGINALS_HEADER "boot %s\n" GOOD "end 1\n", boot_id);
	write_file(text, strlen(text) + 1);
	assert_opens_with(-EBADMSG);
	run_dir = fake_run_dir("2m");
	memset(text, '\n', sizeof(text));
	write_file(text, ORIGINALS_SIZE_MAX + 1);
	assert_opens_with(-EBADMSG);
	write_file(text, ORIGINALS_SIZE_MAX);
	assert_opens_with(-EBADMSG);
}

static void test_files_of_others(void **state)
{
	struct originals *originals = open_with(0);
	char path[128], elsewhere[128];

	assert_int_equal(originals_add(originals, two, 2), 0);
	originals_free(originals);
	path_of(ORIGINALS_FILE, path);

	assert_int_equal(chmod(path, 0664), 0);
	assert_opens_with(-EPERM);
	assert_int_equal(chmod(path, 0646), 0);
	assert_opens_with(-EPERM);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chown(path, 1, 0), 0);
	assert_opens_with(-EPERM);

	assert_int_equal(chown(path, 0, 0), 0);
	path_of("elsewhere", elsewhere);
	assert_int_equal(rename(path, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, path), 0);
	assert_opens_with(-EBADMSG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_opens_with(-EBADMSG);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_opens_with(-EBADMSG);
}

static void test_no_directory(void **state)
{
	struct originals *originals = NULL;

	assert_int_equal(originals_open("/run/none", &originals), -ENOENT);
	assert_null(originals);
}

static void test_full_disk_keeps_the_file(void **state)
{
	struct originals *originals = open_with(0);
	char before[4096], after[4096];

	assert_int_equal(originals_add(originals, two, 2), 0);
	read_file(before);
	fake_fill(run_dir);
	assert_int_equal(originals_add(originals, &third, 1), -ENOSPC);
	assert_int_equal(originals->n, 2);
	read_file(after);
	assert_string_equal(before, after);

	fake_empty(run_dir);
	assert_int_equal(originals_add(originals, &third, 1), 0);
	originals_free(originals);
	originals_free(open_with(3));
}

/* A temporary file of a run that crashed, or a trap: it is neither followed nor in the way. */
static void test_left_over_temporary(void **state)
{
	struct originals *originals = open_with(0);
	char path[128];
	struct stat st;

	path_of(ORIGINALS_FILE ".new", path);
	assert_int_equal(symlink("/run/target", path), 0);
	assert_int_equal(originals_add(originals, two, 2), 0);
	assert_int_equal(lstat("/run/target", &st), -1);
	assert_int_equal(lstat(path, &st), -1);
	originals_free(originals);
	originals_free(open_with(2));
}

static void test_full_table(void **state)
{
	struct originals *originals;

	run_dir = fake_run_dir("2m");
	originals = open_with(0);
	for (uint32_t policy = 0; policy < 1024; policy += 256) {
		static struct original entries[256 * CONTROL_N];

		for (uint32_t i = 0; i < 256 * CONTROL_N; i++) {
			entries[i] = (struct original){ policy + i / CONTROL_N, i % CONTROL_N,
							"1234567890", "1234567890" };
		}
		assert_int_equal(originals_add(originals, entries, 256 * CONTROL_N), 0);
	}
	assert_int_equal(originals_add(originals, &third, 1), -E2BIG);
	originals_free(originals);
	originals_free(open_with(4096));
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_first_original_stands),
		TEST(test_other_boot_is_ignored),
		TEST(test_truncated_anywhere),
		TEST(test_flipped_anywhere),
		TEST(test_bad_entries),
		TEST(test_bad_files),
		TEST(test_files_of_others),
		TEST(test_no_directory),
		TEST(test_full_disk_keeps_the_file),
		TEST(test_left_over_temporary),
		TEST(test_full_table),
	};

	fake_enter_or_skip();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
