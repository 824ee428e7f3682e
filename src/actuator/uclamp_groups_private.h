/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What uclamp_groups.c and uclamp_groups_file.c share. */

#include <limits.h>

#include "actuator/uclamp_groups.h"

#define HUNDREDTHS_MAX 10000 /* "max" */

/* One file of one cgroup. Values in hundredths of a per cent. */
struct group_file {
	char cgroup[PATH_MAX]; /* its directory */
	enum uclamp_group_end end;
	uint64_t inode; /* of the directory; a new directory with that name has another */
	uint32_t own;	/* the group's own */
	uint32_t was;	/* value before our last write */
	uint32_t put;	/* our last write */
	uint32_t rule;
	int fd;	       /* of the file; -1 */
	int wd;	       /* of inotify */
	int parent_wd; /* of the parent's cgroup.subtree_control, which siblings share */
};

/*
 * Opens the file of a cgroup in the unified hierarchy for reading and writing. Returns a descriptor
 * or a negative errno: -ENODEV without the group, -EOPNOTSUPP without the file.
 */
int group_file_open(const char *cgroup, enum uclamp_group_end end, uint64_t *ret_inode);

/* Returns 0 or a negative errno, -ENODEV when the group was removed. */
int group_file_read(int fd, uint32_t *ret_hundredths);
int group_file_write(int fd, uint32_t hundredths);

/*
 * Restores the group's own value if the file has ours, and reports it. Returns 0, or a negative
 * errno when it must be tried again.
 */
int group_file_restore(const struct group_file *file, restore_report_t report, void *userdata);

/*
 * Replaces DIRECTORY/groups, or removes it when n is 0. Returns 0, or a negative errno with the old
 * file unchanged.
 */
int group_files_save(const char *directory, const struct group_file *files, size_t n);

/* This boot's entries, in an array that the caller frees. Returns as uclamp_groups_restore(). */
int group_files_load(const char *directory, struct group_file **ret, size_t *ret_n);
