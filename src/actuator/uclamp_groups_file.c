// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes the two files of a cgroup, and the state file by which they are restored. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "actuator/control.h"
#include "actuator/tunables.h"
#include "actuator/uclamp_groups.h"
#include "shared/cleanup.h"
#include "shared/statefile.h"

/* Without an end line, so that it reads as a log does; but it is always written as a whole. */
static const struct statefile groups_file = { .name = "groups", .version = 1, .is_log = true };

const char *uclamp_group_file(enum uclamp_group_end end)
{
	return end == UCLAMP_GROUP_MIN ? "cpu.uclamp.min" : "cpu.uclamp.max";
}

int group_file_open(const char *cgroup, enum uclamp_group_end end, uint64_t *ret_inode)
{
	_cleanup_close_ int directory = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st;
	int fd;

	if (directory < 0)
		return errno == ENOENT ? -ENODEV : -errno;
	if (fstatfs(directory, &fs) < 0 || fstat(directory, &st) < 0)
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return -EOPNOTSUPP;
	fd = openat(directory, uclamp_group_file(end), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	*ret_inode = st.st_ino;
	return fd;
}

int group_file_read(int fd, uint32_t *ret_hundredths)
{
	char value[CONTROL_VALUE_SIZE];
	unsigned int whole, rest;
	int r = control_read(fd, value, sizeof(value));

	if (r < 0)
		return r;
	if (strcmp(value, "max") == 0)
		*ret_hundredths = HUNDREDTHS_MAX;
	else if (sscanf(value, "%3u.%2u", &whole, &rest) == 2)
		*ret_hundredths = whole * 100 + rest;
	else
		return -EINVAL;
	return 0;
}

static void print_value(char ret[CONTROL_VALUE_SIZE], uint32_t hundredths)
{
	if (hundredths >= HUNDREDTHS_MAX)
		strcpy(ret, "max");
	else
		snprintf(ret, CONTROL_VALUE_SIZE, "%u.%02u", hundredths / 100, hundredths % 100);
}

int group_file_write(int fd, uint32_t hundredths)
{
	char value[CONTROL_VALUE_SIZE];

	print_value(value, hundredths);
	return control_write(fd, value);
}

static void tell(const struct group_file *file, enum restore_outcome outcome, uint32_t now,
		 int error, restore_report_t report, void *userdata)
{
	char name[PATH_MAX + 32], own[CONTROL_VALUE_SIZE], current[CONTROL_VALUE_SIZE];
	const struct restore_result result = {
		.policy = TUNABLE_SHARED,
		.name = name,
		.outcome = outcome,
		.value = own,
		.current = current,
		.error = error,
	};

	snprintf(name, sizeof(name), "%s of %s", uclamp_group_file(file->end), file->cgroup);
	print_value(own, file->own);
	print_value(current, now);
	if (report)
		report(userdata, &result);
}

int group_file_restore(const struct group_file *file, restore_report_t report, void *userdata)
{
	enum restore_outcome outcome = RESTORE_TAKEN_OVER;
	uint32_t now = 0;
	int r = group_file_read(file->fd, &now);

	if (r == -ENODEV) {
		tell(file, RESTORE_GONE, now, 0, report, userdata);
		return 0;
	}
	if (r == 0 && now == file->own) {
		outcome = RESTORE_UNCHANGED;
	} else if (r == 0 && (now == file->put || now == file->was)) {
		outcome = RESTORE_DONE;
		r = group_file_write(file->fd, file->own);
	}
	tell(file, r < 0 ? RESTORE_FAILED : outcome, now, r, report, userdata);
	return r;
}

struct lines {
	const struct group_file *files;
	size_t n;
};

static void print_lines(FILE *out, const void *data)
{
	const struct lines *lines = data;

	for (size_t i = 0; i < lines->n; i++) {
		const struct group_file *file = &lines->files[i];

		fprintf(out, "%s %llu %u %u %u ", file->end == UCLAMP_GROUP_MIN ? "min" : "max",
			(unsigned long long)file->inode, file->own, file->was, file->put);
		statefile_print_escaped(out, file->cgroup);
		fputc('\n', out);
	}
}

int group_files_save(const char *directory, const struct group_file *files, size_t n)
{
	const struct lines lines = { files, n };

	return n ? statefile_write(directory, &groups_file, print_lines, &lines)
		 : statefile_remove(directory, &groups_file);
}

static bool parse_line(const char *line, struct group_file *ret)
{
	unsigned long long inode;
	char end[4];
	int at = 0;

	if (sscanf(line, "%3s %20llu %5u %5u %5u %n", end, &inode, &ret->own, &ret->was, &ret->put,
		   &at) != 5 ||
	    (strcmp(end, "min") && strcmp(end, "max")) || line[at] != '/' ||
	    ret->own > HUNDREDTHS_MAX || ret->was > HUNDREDTHS_MAX || ret->put > HUNDREDTHS_MAX)
		return false;
	ret->end = strcmp(end, "min") ? UCLAMP_GROUP_MAX : UCLAMP_GROUP_MIN;
	ret->inode = inode;
	ret->fd = -1;
	return statefile_unescape(line + at, ret->cgroup, sizeof(ret->cgroup));
}

int group_files_load(const char *directory, struct group_file **ret, size_t *ret_n)
{
	_cleanup_free_ struct group_file *files = calloc(UCLAMP_GROUPS_MAX, sizeof(*files));
	_cleanup_(statefile_close) struct statefile_reader reader = { 0 };
	char *line;
	int r = files ? statefile_open(directory, &groups_file, &reader) : -ENOMEM;

	if (r < 0)
		return r;
	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (reader.n > UCLAMP_GROUPS_MAX || !parse_line(line, &files[reader.n - 1]))
			return -EBADMSG;
	*ret_n = reader.n;
	*ret = take_ptr(files);
	return r;
}

int uclamp_groups_restore(const char *directory, restore_report_t report, void *userdata)
{
	_cleanup_free_ struct group_file *files = NULL;
	size_t n = 0, left = 0;
	int r = group_files_load(directory, &files, &n), error = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct group_file *file = &files[i];
		uint64_t inode = file->inode;
		int fd = file->fd = group_file_open(file->cgroup, file->end, &inode);

		r = 0;
		if (fd == -ENODEV || fd == -EOPNOTSUPP || inode != file->inode)
			tell(file, RESTORE_GONE, 0, 0, report, userdata);
		else if (fd < 0)
			tell(file, RESTORE_FAILED, 0, r = fd, report, userdata);
		else
			r = group_file_restore(file, report, userdata);
		close_fdp(&file->fd);
		error = error ?: r;
		if (r < 0)
			files[left++] = *file;
	}
	r = group_files_save(directory, files, left);
	return error ?: r;
}
