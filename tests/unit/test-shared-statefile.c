// SPDX-License-Identifier: GPL-2.0-only
/* The files of /run: what is written is read again, and what is not as it was written is refused.
 */
#include "test-core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/statefile.h"

static const struct statefile whole = { .name = "file", .version = 7 };
static const struct statefile later = { .name = "file", .version = 8 };
static const struct statefile other = { .name = "fil", .version = 7 };
static const struct statefile as_log = { .name = "file", .version = 7, .is_log = true };

static char directory[] = "/tmp/test-statefile-XXXXXX";
static char path[64], temporary[64];

static int set_up_all(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/file", directory);
	snprintf(temporary, sizeof(temporary), "%s/file.new", directory);
	return 0;
}

static int tear_down(void **state)
{
	return statefile_remove(directory, &whole);
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

static int tear_down_all(void **state)
{
	return rmdir(directory);
}

static void print_text(FILE *out, const void *data)
{
	fputs(data, out);
}

static void save(const struct statefile *file, const char *lines)
{
	struct stat st;

	assert_int_equal(statefile_write(directory, file, print_text, lines), 0);
	assert_int_equal(access(temporary, F_OK), -1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* Reads it to its end. Returns 0 or what a function returned; the lines, each with a newline. */
static int load(const struct statefile *file, char ret_lines[256])
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	char *line;
	int r = statefile_open(directory, file, &reader);
	size_t n = 0;

	ret_lines[0] = '\0';
	while (r == 1 && (r = statefile_next(&reader, &line)) == 1) {
		strcat(strcat(ret_lines, line), "\n");
		n++;
	}
	assert_int_equal(n, reader.n);
	assert_in_range(n, 0, reader.n_max);
	return r;
}

static void assert_holds(const struct statefile *file, const char *expected)
{
	char lines[256];

	assert_int_equal(load(file, lines), 0);
	assert_string_equal(lines, expected);
}

static void assert_refused(const struct statefile *file, int error)
{
	char lines[256];

	assert_int_equal(load(file, lines), error);
	assert_non_null(statefile_refusal(error));
}

/* Returns the length. */
static size_t read_text(char ret_text[512])
{
	_cleanup_free_ char *text = test_read(path);

	return strlen(strcpy(ret_text, text));
}

FIXTURE_TEST(test_replaces)
{
	assert_holds(&whole, "");
	save(&whole, "first 1\nsecond and longer\n");
	assert_holds(&whole, "first 1\nsecond and longer\n");
	save(&whole, "third\n");
	assert_holds(&whole, "third\n");
	save(&whole, "");
	assert_holds(&whole, "");
}

FIXTURE_TEST(test_form)
{
	char text[512], boot_id[37], expected[512];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%36s", boot_id), 1);
	fclose(file);
	save(&whole, "a 1\nb 2\n");
	read_text(text);
	snprintf(expected, sizeof(expected), "wakegov file 7\nboot %s\na 1\nb 2\nend 2\n", boot_id);
	assert_string_equal(text, expected);
	save(&as_log, "a 1\n");
	read_text(text);
	snprintf(expected, sizeof(expected), "wakegov file 7\nboot %s\na 1\n", boot_id);
	assert_string_equal(text, expected);
}

/* Whoever reads has the old file to its end. */
FIXTURE_TEST(test_reader_keeps_old)
{
	_cleanup_close_ int fd = -1;
	char before[512], text[512] = "";
	size_t n;

	save(&whole, "old\n");
	n = read_text(before);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	save(&whole, "newer\n");
	assert_int_equal(read(fd, text, sizeof(text) - 1), n);
	assert_string_equal(text, before);
}

/* What a crash left is replaced; where it is a link, it is not written through. */
FIXTURE_TEST(test_leftover)
{
	struct stat st;

	save(&whole, "before\n");
	assert_int_equal(symlink(path, temporary), 0);
	save(&whole, "after\n");
	assert_holds(&whole, "after\n");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 0777 & ~0644, 0);
}

FIXTURE_TEST(test_stays_on_failure)
{
	save(&whole, "old\n");
	assert_int_equal(mkdir(temporary, 0755), 0);
	assert_int_equal(statefile_write(directory, &whole, print_text, "new\n"), -EISDIR);
	assert_int_equal(rmdir(temporary), 0);
	assert_holds(&whole, "old\n");
}

static void leave_temporary(void)
{
	assert_int_equal(close(open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
}

/* A crash before the rename leaves it, with the file or without. */
FIXTURE_TEST(test_left_over)
{
	struct statefile_reader reader;

	leave_temporary();
	assert_int_equal(statefile_open(directory, &whole, &reader), 0);
	statefile_close(&reader);
	assert_int_equal(access(temporary, F_OK), -1);
	save(&whole, "");
	leave_temporary();
	assert_int_equal(statefile_remove(directory, &whole), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(temporary, F_OK), -1);
}

FIXTURE_TEST(test_no_directory)
{
	struct statefile_reader reader;

	assert_int_equal(statefile_write("/none", &whole, print_text, ""), -ENOENT);
	assert_int_equal(statefile_open_log("/none", &as_log), -ENOENT);
	assert_int_equal(statefile_open("/none", &whole, &reader), 0);
	statefile_close(&reader);
	assert_int_equal(statefile_remove("/none", &whole), 0);
	assert_null(statefile_refusal(-ENOENT));
}

/* A log has the lines that were whole: the last one was being added. */
FIXTURE_TEST(test_log)
{
	_cleanup_close_ int fd = -1;

	save(&as_log, "first\n");
	fd = statefile_open_log(directory, &as_log);
	assert_true(fd >= 0);
	assert_int_equal(statefile_append(fd, "second\n"), 0);
	assert_int_equal(statefile_append(fd, "end 2\n"), 0);
	assert_int_equal(statefile_append(fd, "thi"), 0);
	assert_holds(&as_log, "first\nsecond\nend 2\n");
}

FIXTURE_TEST(test_full_disk)
{
	_cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(full >= 0);
	assert_int_equal(statefile_append(full, "line\n"), -ENOSPC);
}

/* Cut anywhere, a file is refused, and a log has no line that it had not. */
FIXTURE_TEST(test_cut_anywhere)
{
	char text[512], lines[256];
	size_t n;

	save(&whole, "a 1\nb 2\n");
	n = read_text(text);
	for (size_t length = 0; length < n; length++) {
		test_write_bytes(path, text, length);
		assert_refused(&whole, -EBADMSG);
	}
	for (size_t length = (size_t)(strstr(text, "a 1") - text); length < n; length++) {
		test_write_bytes(path, text, length);
		assert_int_equal(load(&as_log, lines), 0);
		assert_true(strncmp(lines, "a 1\nb 2\n", strlen(lines)) == 0);
	}
}

/* A bit flipped in what this module wrote: refused, except in the lines, which are their owner's.
 */
FIXTURE_TEST(test_flipped_anywhere)
{
	char text[512], *a, *end;
	size_t n;

	save(&whole, "a 1\n");
	n = read_text(text);
	a = strstr(text, "a 1\n");
	end = strstr(text, "end");
	for (char *at = text; at < text + n; at++) {
		if (at >= a && at < end - 1)
			continue;
		*at ^= 0x80;
		test_write_bytes(path, text, n);
		assert_refused(&whole, -EBADMSG);
		*at ^= 0x80;
	}
	text[n] = '\0';
	test_write_bytes(path, text, n + 1);
	assert_refused(&whole, -EBADMSG);
}

/* Whatever the first digit of this boot's id is: each of the other fifteen in its place. */
FIXTURE_TEST(test_earlier_boot)
{
	char text[512], *digit = text + strlen("wakegov file 7\nboot "), own;
	size_t n;

	save(&whole, "a 1\n");
	n = read_text(text);
	own = *digit;
	for (const char *c = "0123456789abcdef"; *c; c++) {
		*digit = *c;
		test_write_bytes(path, text, n);
		assert_holds(&whole, *c == own ? "a 1\n" : "");
	}
}

FIXTURE_TEST(test_bad_heads_and_ends)
{
	static const struct {
		const char *head, *boot, *end;
	} cases[] = {
		{ "", "boot", "\nend 0\n" },
		{ "wakegov file\n", "boot", "\nend 0\n" },
		{ "wakegov file \n", "boot", "\nend 0\n" },
		{ "wakegov file 7 \n", "boot", "\nend 0\n" },
		{ "wakegov file -7\n", "boot", "\nend 0\n" },
		{ "wakegov  file 7\n", "boot", "\nend 0\n" },
		{ "wakegov file 7\n", "boot ", "\nend 0\n" },
		{ "wakegov file 7\n", "Boot", "\nend 0\n" },
		{ "wakegov file 7\n", "boot", "0\nend 0\n" },
		{ "wakegov file 7\n", "boot", "\r\nend 0\n" },
		{ "wakegov file 7\n", "boot", "\nend 1\n" },
		{ "wakegov file 7\n", "boot", "\nend 00\n" },
		{ "wakegov file 7\n", "boot", "\nend 0\n\n" },
		{ "wakegov file 7\n", "boot", "\nend 0\nend 0\n" },
		{ "wakegov file 7\n", "boot", "\n" },
	};
	char text[512], boot_id[37], changed[512];

	save(&whole, "");
	read_text(text);
	snprintf(boot_id, sizeof(boot_id), "%s", strstr(text, "boot ") + 5);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(changed, sizeof(changed), "%s%s %s%s", cases[i].head, cases[i].boot,
			 boot_id, cases[i].end);
		test_write_bytes(path, changed, strlen(changed));
		assert_refused(&whole, -EBADMSG);
	}
}

FIXTURE_TEST(test_other_version)
{
	save(&later, "a 1\n");
	assert_refused(&whole, -EPROTONOSUPPORT);
	save(&whole, "a 1\n");
	assert_refused(&later, -EPROTONOSUPPORT);
	assert_holds(&other, "");
}

FIXTURE_TEST(test_files_of_others)
{
	static const mode_t modes[] = { 0664, 0646, 0622 };
	char elsewhere[64];

	save(&whole, "a 1\n");
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		assert_refused(&whole, -EKEYREJECTED);
	}
	assert_int_equal(chmod(path, 0644), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 1, 0), 0);
		assert_refused(&whole, -EKEYREJECTED);
		assert_int_equal(chown(path, 0, 0), 0);
	}

	snprintf(elsewhere, sizeof(elsewhere), "%s/moved", directory);
	assert_int_equal(rename(path, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, path), 0);
	assert_refused(&whole, -EBADMSG);
	assert_int_equal(unlink(elsewhere), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_refused(&whole, -EBADMSG);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(&whole, -EBADMSG);
}

int main(void)
{
	return tests_run(set_up_all, tear_down_all);
}
