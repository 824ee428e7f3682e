/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamps of whole cgroups: cpu.uclamp.min and cpu.uclamp.max. What a group has of its own is merged
 * with ours (the higher floor, the lower cap) and put back when ours ends. What somebody changes
 * while ours is there is theirs: that file is left alone from then on.
 *
 * Before a file is written to, its line goes to DIRECTORY/groups (see shared/statefile.h), which is
 * replaced each time: groups are few.
 *
 *	max 4711 10000 10000 4000 PATH	inode, its own, what it was just before, ours, directory
 *
 * Values are hundredths of a per cent of the capacity scale, as the kernel keeps them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actuator/restore.h"

#define UCLAMP_GROUPS_MAX 256 /* files at a time; further groups are refused */

enum uclamp_group_end { UCLAMP_GROUP_MIN, UCLAMP_GROUP_MAX };

enum uclamp_groups_outcome {
	UCLAMP_GROUPS_DONE,
	UCLAMP_GROUPS_UNCHANGED, /* nothing to write */
	UCLAMP_GROUPS_GONE,	 /* there is no such group any more */
};

struct uclamp_groups;

/* directory is borrowed; it must exist. NULL without memory or inotify. */
struct uclamp_groups *uclamp_groups_new(const char *directory);

/* Puts nothing back: see uclamp_groups_release. */
struct uclamp_groups *uclamp_groups_free(struct uclamp_groups *groups);

/*
 * Has the cgroup, a directory, carry cap (0…1024) for a rule, which its file belongs to from then
 * on. Returns an outcome or a negative errno, with nothing changed: -EOPNOTSUPP where there is no
 * such file, -ERANGE for a floor that the groups above it don't let it have, -ESTALE where the
 * value is not what was written, -ENOSPC when there are too many.
 */
int uclamp_groups_set(struct uclamp_groups *groups, const char *cgroup, enum uclamp_group_end end,
		      uint32_t cap, uint32_t rule);

/* Whether the cgroup carries this for the rule; with NULL, whether any does. */
bool uclamp_groups_carry(const struct uclamp_groups *groups, const char *cgroup,
			 enum uclamp_group_end end, uint32_t rule);

/* Puts back the rule's file of the cgroup; with NULL, all of the rule's. */
void uclamp_groups_drop(struct uclamp_groups *groups, const char *cgroup, enum uclamp_group_end end,
			uint32_t rule);

/* The rules are others: what is not set again until uclamp_groups_end_claims() is put back then. */
void uclamp_groups_begin_claims(struct uclamp_groups *groups);
void uclamp_groups_end_claims(struct uclamp_groups *groups);

/* Readable when somebody wrote to a file that carries a clamp of ours, or switched controllers. */
int uclamp_groups_fd(const struct uclamp_groups *groups);

/* Told of each file that somebody else changed, which is forgotten; value is what it says now. */
typedef void (*uclamp_groups_foreign_t)(void *userdata, const char *cgroup,
					enum uclamp_group_end end, uint32_t rule,
					const char *value);

/*
 * Returns whether somebody switched controllers of groups on or off: files of ours may be gone with
 * what they held, or are new, so that each is to be set again.
 */
bool uclamp_groups_read(struct uclamp_groups *groups, uclamp_groups_foreign_t foreign,
			void *userdata);

/*
 * Puts everything back and removes DIRECTORY/groups; what failed stays in it. report may be NULL.
 * Returns 0 or the first error.
 */
int uclamp_groups_release(struct uclamp_groups *groups, restore_report_t report, void *userdata);

/*
 * The same from the file of a daemon that was killed. Harmless without one. Returns 0 or a negative
 * errno, for which statefile_refusal() says whether the file was refused.
 */
int uclamp_groups_restore(const char *directory, restore_report_t report, void *userdata);

/* "cpu.uclamp.min", "cpu.uclamp.max" */
const char *uclamp_group_file(enum uclamp_group_end end);
