/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of this lever share. */

#include <limits.h>

#include "actuator/uclamp_groups.h"

#define HUNDREDTHS_MAX 10000 /* "max" */

/* One file of one cgroup. Values in hundredths of a per cent. */
struct group_file {
	char cgroup[PATH_MAX]; /* its directory */
	enum uclamp_group_end end;
	uint64_t inode; /* of the directory: another one of that name has another */
	uint32_t own;	/* without us */
	uint32_t was;	/* before our last write */
	uint32_t put;	/* our last write */
	uint32_t rule;
	int fd;	       /* of the file; -1 */
	int wd;	       /* of inotify */
	int parent_wd; /* of what says which controllers its parent's children have; shared */
};

/*
 * Opens the file of a cgroup in the unified hierarchy, to be read and written. Returns a descriptor
 * or a negative errno: -ENODEV without the group, -EOPNOTSUPP without the file.
 */
int group_file_open(const char *cgroup, enum uclamp_group_end end, uint64_t *ret_inode);

/* Returns 0 or a negative errno, -ENODEV when the group was removed. */
int group_file_read(int fd, uint32_t *ret_hundredths);
int group_file_write(int fd, uint32_t hundredths);

/*
 * Puts its own value back, if it holds ours, and tells of it. Returns 0 or a negative errno; then
 * it is to be tried again.
 */
int group_file_restore(const struct group_file *file, restore_report_t report, void *userdata);

/*
 * Replaces DIRECTORY/groups, or removes it when n is 0. Returns 0 or a negative errno; then the old
 * one is as it was.
 */
int group_files_save(const char *directory, const struct group_file *files, size_t n);

/* Those of this boot: an array that the caller frees. As uclamp_groups_restore() says. */
int group_files_load(const char *directory, struct group_file **ret, size_t *ret_n);
