// SPDX-License-Identifier: GPL-2.0-only
/* The files: a cgroup's two, and the one that says how to put them back. */
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
#include "actuator/saved.h"
#include "actuator/saved_parse.h"
#include "actuator/tunables.h"
#include "actuator/uclamp_groups_private.h"
#include "shared/cleanup.h"

#define HEADER	      "wakegov groups 1\n"
#define LINE_MAX_SIZE (PATH_MAX + 96)

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

static void print_line(FILE *out, const struct group_file *file)
{
	fprintf(out, "%s %llu %u %u %u %s\n", file->end == UCLAMP_GROUP_MIN ? "min" : "max",
		(unsigned long long)file->inode, file->own, file->was, file->put, file->cgroup);
}

static int make_path(const char *directory, const char *suffix, char ret[PATH_MAX])
{
	return snprintf(ret, PATH_MAX, "%s/" UCLAMP_GROUPS_FILE "%s", directory, suffix) >= PATH_MAX
		       ? -ENAMETOOLONG
		       : 0;
}

/* The temporary file has the name only when it is whole. */
int group_files_save(const char *directory, const struct group_file *files, size_t n)
{
	char path[PATH_MAX], temporary[PATH_MAX], boot_id[SAVED_BOOT_ID_SIZE];
	_cleanup_fclose_ FILE *out = NULL;
	int r = make_path(directory, "", path) ?: make_path(directory, ".new", temporary), fd;

	r = r ?: saved_read_boot_id(boot_id);
	if (r < 0)
		return r;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	fprintf(out, HEADER "boot %s\n", boot_id);
	for (size_t i = 0; i < n; i++)
		print_line(out, &files[i]);
	if (fflush(out) || ferror(out) || rename(temporary, path) < 0) {
		r = -errno;
		unlink(temporary);
	}
	return r;
}

int group_files_remove(const char *directory)
{
	char path[PATH_MAX];
	int r = make_path(directory, "", path);

	if (r < 0)
		return r;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* Returns 1 without a file; what another user can write must not tell us what to set. */
static int open_saved(const char *directory, FILE **ret)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, r = make_path(directory, "", path);

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 1 : errno == ELOOP ? -EBADMSG : -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		r = -EBADMSG;
	else if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		r = -EPERM;
	*ret = r == 0 ? fdopen(fd, "r") : NULL;
	if (*ret)
		return 0;
	close(fd);
	return r < 0 ? r : -ENOMEM;
}

static bool parse_line(const char *line, struct group_file *ret)
{
	unsigned long long inode;
	char end[4];
	int at = 0;

	if (sscanf(line, "%3s %20llu %5u %5u %5u %n", end, &inode, &ret->own, &ret->was, &ret->put,
		   &at) != 5 ||
	    (strcmp(end, "min") && strcmp(end, "max")) || line[at] != '/' ||
	    ret->own > HUNDREDTHS_MAX || ret->was > HUNDREDTHS_MAX || ret->put > HUNDREDTHS_MAX ||
	    strlen(line + at) >= PATH_MAX)
		return false;
	strcpy(ret->cgroup, line + at);
	ret->end = strcmp(end, "min") ? UCLAMP_GROUP_MAX : UCLAMP_GROUP_MIN;
	ret->inode = inode;
	ret->fd = -1;
	return true;
}

/* Returns 1 for that of an earlier boot, 0 or a negative errno. */
static int read_head(FILE *in, char line[LINE_MAX_SIZE])
{
	char boot_id[SAVED_BOOT_ID_SIZE], expected[LINE_MAX_SIZE];
	int r = saved_read_boot_id(boot_id);

	if (r < 0)
		return r;
	snprintf(expected, sizeof(expected), "boot %s\n", boot_id);
	if (!fgets(line, LINE_MAX_SIZE, in) || strcmp(line, HEADER) != 0 ||
	    !fgets(line, LINE_MAX_SIZE, in) || strncmp(line, "boot ", 5) != 0)
		return -EBADMSG;
	return strcmp(line, expected) != 0;
}

int group_files_load(const char *directory, struct group_file **ret, size_t *ret_n)
{
	_cleanup_free_ struct group_file *files = calloc(UCLAMP_GROUPS_MAX, sizeof(*files));
	_cleanup_fclose_ FILE *in = NULL;
	char line[LINE_MAX_SIZE];
	size_t n = 0, length;
	int r = files ? open_saved(directory, &in) : -ENOMEM;

	r = r ?: read_head(in, line);
	while (r == 0 && fgets(line, sizeof(line), in)) {
		length = strlen(line);
		if (n == UCLAMP_GROUPS_MAX || !length || line[length - 1] != '\n')
			return -EBADMSG;
		line[length - 1] = '\0';
		if (!parse_line(line, &files[n++]))
			return -EBADMSG;
	}
	if (r < 0)
		return r;
	*ret_n = n;
	*ret = take_ptr(files);
	return 0;
}

static int restore_entries(struct group_file *file, restore_report_t report, void *userdata)
{
	uint64_t inode;
	int r;

	file->fd = group_file_open(file->cgroup, file->end, &inode);
	if (file->fd == -ENODEV || file->fd == -EOPNOTSUPP ||
	    (file->fd >= 0 && inode != file->inode)) {
		tell(file, RESTORE_GONE, 0, 0, report, userdata);
		r = 0;
	} else if (file->fd < 0) {
		tell(file, RESTORE_FAILED, 0, file->fd, report, userdata);
		r = file->fd;
	} else {
		r = group_file_restore(file, report, userdata);
	}
	close_fdp(&file->fd);
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
		r = restore_entries(&files[i], report, userdata);
		error = error ?: r;
		if (r < 0)
			files[left++] = files[i];
	}
	r = left ? group_files_save(directory, files, left) : group_files_remove(directory);
	return error ?: r;
}
