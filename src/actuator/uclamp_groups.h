/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamps of whole cgroups: cpu.uclamp.min and cpu.uclamp.max. Our clamp is merged with the group's
 * own (the higher floor, the lower cap), and the group's own is restored when ours ends. When
 * another program writes a file meanwhile, its value stays and the file is left alone.
 *
 * Before a file is written to, its line goes to DIRECTORY/groups (shared/statefile.h). The file is
 * replaced each time, as groups are few.
 *
 *	max 4711 10000 10000 4000 PATH	inode, its own, what it was just before, ours, directory
 *
 * Values are in hundredths of a per cent of capacity, as in the kernel.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actuator/restore.h"

#define UCLAMP_GROUPS_MAX 256 /* files at a time; more are refused */

enum uclamp_group_end { UCLAMP_GROUP_MIN, UCLAMP_GROUP_MAX };

enum uclamp_groups_outcome {
	UCLAMP_GROUPS_DONE,
	UCLAMP_GROUPS_UNCHANGED, /* nothing to write */
	UCLAMP_GROUPS_GONE,	 /* the group was removed */
};

struct uclamp_groups;

/* directory is borrowed and must exist. Returns NULL without memory or inotify. */
struct uclamp_groups *uclamp_groups_new(const char *directory);

/* Restores nothing: uclamp_groups_release() does. */
struct uclamp_groups *uclamp_groups_free(struct uclamp_groups *groups);

/*
 * Sets a clamp (0…1024) of the cgroup, a directory, for a rule, which owns the file from then on.
 * Returns an outcome, or a negative errno with nothing changed: -EOPNOTSUPP without such a file,
 * -ERANGE for a floor above that of a parent group, -ESTALE when the value reads as another one,
 * -ENOSPC when there are too many.
 */
int uclamp_groups_set(struct uclamp_groups *groups, const char *cgroup, enum uclamp_group_end end,
		      uint32_t cap, uint32_t rule);

/* Whether the rule has set this clamp of the cgroup; rule NULL: whether any rule has. */
bool uclamp_groups_has_rule(const struct uclamp_groups *groups, const char *cgroup,
			    enum uclamp_group_end end, uint32_t rule);

/* Restores the rule's file of the cgroup; cgroup NULL: all of the rule's. */
void uclamp_groups_drop(struct uclamp_groups *groups, const char *cgroup, enum uclamp_group_end end,
			uint32_t rule);

/*
 * Begins a change of the rules. uclamp_groups_end_claims() restores each file that was not set
 * again by then.
 */
void uclamp_groups_begin_claims(struct uclamp_groups *groups);
void uclamp_groups_end_claims(struct uclamp_groups *groups);

/*
 * Becomes readable when another program writes to a file that has our clamp, or switches
 * controllers.
 */
int uclamp_groups_fd(const struct uclamp_groups *groups);

/* Called for each file that another program changed, which is dropped; value is its new value. */
typedef void (*uclamp_groups_foreign_t)(void *userdata, const char *cgroup,
					enum uclamp_group_end end, uint32_t rule,
					const char *value);

/*
 * Returns whether another program switched controllers of groups on or off: files may have been
 * removed with our values or created anew, so that each must be set again.
 */
bool uclamp_groups_read(struct uclamp_groups *groups, uclamp_groups_foreign_t foreign,
			void *userdata);

/*
 * Restores every file and removes DIRECTORY/groups; files that failed stay in it. report may be
 * NULL. Returns 0 or the first error.
 */
int uclamp_groups_release(struct uclamp_groups *groups, restore_report_t report, void *userdata);

/*
 * The same for the groups in the file of a daemon that was killed. Returns 0, also without a file,
 * or a negative errno; statefile_refusal() then says whether the file was refused.
 */
int uclamp_groups_restore(const char *directory, restore_report_t report, void *userdata);

/* "cpu.uclamp.min", "cpu.uclamp.max" */
const char *uclamp_group_file(enum uclamp_group_end end);

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
