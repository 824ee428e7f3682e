// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/replace.h"

static char path[] = "/tmp/test-replace-XXXXXX";
static int directory;

static int set_up(void **state)
{
	directory = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return directory < 0;
}

static int tear_down(void **state)
{
	int r = replace_remove(directory, "file");

	close(directory);
	return r || rmdir(path);
}

static int put_text(FILE *file, const void *data)
{
	return fputs(data, file) < 0 ? -EIO : 0;
}

/* Half of it is written, and then it fails. */
static int put_half(FILE *file, const void *data)
{
	fputs(data, file);
	fflush(file);
	return -ENODATA;
}

static void assert_holds(const char *expected)
{
	char text[64] = "";
	int fd = openat(directory, "file", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	assert_string_equal(text, expected);
	assert_int_equal(faccessat(directory, "file.new", F_OK, 0), -1);
}

static void test_replaces(void **state)
{
	assert_int_equal(replace_file(directory, "file", put_text, "first and longer"), 0);
	assert_holds("first and longer");
	assert_int_equal(replace_file(directory, "file", put_text, "second"), 0);
	assert_holds("second");
}

static void test_stays_on_failure(void **state)
{
	assert_int_equal(replace_file(directory, "file", put_text, "whole"), 0);
	assert_int_equal(replace_file(directory, "file", put_half, "half"), -ENODATA);
	assert_holds("whole");
}

/* Whoever reads has the old file to its end. */
static void test_reader_keeps_old(void **state)
{
	char text[8] = "";
	int fd;

	assert_int_equal(replace_file(directory, "file", put_text, "old"), 0);
	fd = openat(directory, "file", O_RDONLY | O_CLOEXEC);
	assert_int_equal(replace_file(directory, "file", put_text, "newer"), 0);
	assert_int_equal(read(fd, text, sizeof(text)), 3);
	assert_string_equal(text, "old");
	close(fd);
}

/* What a crash left is replaced; where it is a link, it is not written through. */
static void test_leftover(void **state)
{
	struct stat status;

	assert_int_equal(replace_file(directory, "file", put_text, "before"), 0);
	assert_int_equal(symlinkat("file", directory, "file.new"), 0);
	assert_int_equal(replace_file(directory, "file", put_text, "after"), 0);
	assert_holds("after");
	assert_int_equal(fstatat(directory, "file", &status, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_int_equal(status.st_mode & 0777 & ~0644, 0);
}

static void test_refused(void **state)
{
	char name[REPLACE_NAME_SIZE];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(replace_file(directory, name, put_text, ""), -ENAMETOOLONG);
	assert_int_equal(replace_file(directory, "none/file", put_text, ""), -ENOENT);
	assert_int_equal(mkdirat(directory, "file.new", 0755), 0);
	assert_int_equal(replace_file(directory, "file", put_text, ""), -EISDIR);
	assert_int_equal(unlinkat(directory, "file.new", AT_REMOVEDIR), 0);
}

static void test_remove(void **state)
{
	assert_int_equal(replace_file(directory, "file", put_text, ""), 0);
	assert_int_equal(replace_remove(directory, "file"), 0);
	assert_int_equal(faccessat(directory, "file", F_OK, 0), -1);
	assert_int_equal(replace_remove(directory, "file"), 0);
	assert_int_equal(replace_remove(directory, "none/file"), 0);
	assert_int_equal(replace_remove(directory, "."), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaces),	 cmocka_unit_test(test_stays_on_failure),
		cmocka_unit_test(test_reader_keeps_old), cmocka_unit_test(test_leftover),
		cmocka_unit_test(test_refused),		 cmocka_unit_test(test_remove),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
