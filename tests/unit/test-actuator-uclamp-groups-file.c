// SPDX-License-Identifier: GPL-2.0-only
/* The file that says how to put cgroups back: what is not as we wrote it is refused whole. */
#include "test-core.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "actuator/uclamp_groups.h"

static char directory[] = "/tmp/wakegov-groups-XXXXXX";
static char path[sizeof(directory) + 16];
static struct group_file *files;
static size_t n_files;

static const struct group_file saved[] = {
	{ .cgroup = "/no/such/a group\nmin 1 0 0 0 /by\\x2da\\012",
	  .end = UCLAMP_GROUP_MAX,
	  .inode = 1ULL << 40,
	  .own = 7777,
	  .was = 10000,
	  .put = 2998 },
	{ .cgroup = "/no/such/b", .end = UCLAMP_GROUP_MIN, .inode = 7, .own = 0, .put = 996 },
};

static int set_up_all(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/groups", directory);
	return 0;
}

static int tear_down_all(void **state)
{
	return rmdir(directory);
}

static int tear_down(void **state)
{
	free(files);
	files = NULL;
	n_files = 0;
	return group_files_save(directory, NULL, 0);
}

static int load(void)
{
	return group_files_load(directory, &files, &n_files);
}

static void append(const char *line)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs(line, file);
	assert_int_equal(fclose(file), 0);
}

static void test_round_trip(void **state)
{
	assert_int_equal(group_files_save(directory, saved, 2), 0);
	assert_int_equal(load(), 0);
	assert_int_equal(n_files, 2);
	for (size_t i = 0; i < n_files; i++) {
		assert_string_equal(files[i].cgroup, saved[i].cgroup);
		assert_int_equal(files[i].end, saved[i].end);
		assert_int_equal(files[i].inode, saved[i].inode);
		assert_int_equal(files[i].own, saved[i].own);
		assert_int_equal(files[i].was, saved[i].was);
		assert_int_equal(files[i].put, saved[i].put);
	}
}

static void test_no_file(void **state)
{
	assert_int_equal(load(), 0);
	assert_int_equal(n_files, 0);
	assert_int_equal(uclamp_groups_restore(directory, NULL, NULL), 0);
}

static void test_damaged(void **state)
{
	static const char *const lines[] = {
		"max 7 10000 10000 2998 relative\n", "mid 7 10000 10000 2998 /a\n",
		"max 7 10001 10000 2998 /a\n",	     "max 7 10000 2998 /a\n",
		"max 7 10000 10000 2998\n",	     "\n",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(group_files_save(directory, saved, 1), 0);
		append(lines[i]);
		assert_int_equal(load(), -EBADMSG);
		assert_null(files);
	}
}

/* A path as it was written before paths were escaped. */
static void test_plain_backslash(void **state)
{
	assert_int_equal(group_files_save(directory, saved, 1), 0);
	append("max 7 10000 10000 2998 /system.slice/by\\x2duuid.mount\n");
	assert_int_equal(load(), 0);
	assert_int_equal(n_files, 2);
	assert_string_equal(files[1].cgroup, "/system.slice/by\\x2duuid.mount");
}

static void test_too_many(void **state)
{
	assert_int_equal(group_files_save(directory, saved, 1), 0);
	for (int i = 1; i < UCLAMP_GROUPS_MAX; i++)
		append("max 7 10000 10000 2998 /a\n");
	assert_int_equal(load(), 0);
	assert_int_equal(n_files, UCLAMP_GROUPS_MAX);
	free(files);
	files = NULL;
	append("max 7 10000 10000 2998 /a\n");
	assert_int_equal(load(), -EBADMSG);
}

static int n_told;

static void hear(void *userdata, const struct restore_result *result)
{
	assert_int_equal(result->outcome, RESTORE_GONE);
	n_told++;
}

static void test_groups_that_are_gone(void **state)
{
	n_told = 0;
	assert_int_equal(group_files_save(directory, saved, 2), 0);
	assert_int_equal(uclamp_groups_restore(directory, hear, NULL), 0);
	assert_int_equal(n_told, 2);
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_round_trip, tear_down),
		cmocka_unit_test_teardown(test_no_file, tear_down),
		cmocka_unit_test_teardown(test_damaged, tear_down),
		cmocka_unit_test_teardown(test_plain_backslash, tear_down),
		cmocka_unit_test_teardown(test_too_many, tear_down),
		cmocka_unit_test_teardown(test_groups_that_are_gone, tear_down),
	};

	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
