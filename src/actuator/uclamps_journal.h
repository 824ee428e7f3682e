/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * DIRECTORY/clamps, a log (shared/statefile.h) of the clamps that tasks had before us.
 *
 *	task 4711 88123 0-1024 0-300	number, start in ticks, its own clamps, what we write now
 *
 * Each line precedes its write. The last line of a task counts; the task has the clamps of that
 * line or, if the daemon was killed between line and write, of the one before.
 */

#include <stddef.h>
#include <stdint.h>

#include "actuator/uclamp_task.h"

struct uclamped {
	uint32_t pid;
	uint64_t start;	   /* ticks since boot */
	struct uclamp own; /* the task's own */
	struct uclamp put; /* our last write */
	struct uclamp was; /* our write before that, or what we found */
};

/* Adds a line. Returns 0 or a negative errno such as -ENOSPC. */
int uclamps_journal_add(int fd, const struct uclamped *clamped);

/*
 * Replaces the file by these lines, atomically. Returns a descriptor to which lines can be added,
 * or a negative errno with the old file unchanged.
 */
int uclamps_journal_rewrite(const char *directory, const struct uclamped *const *clamped, size_t n);

/*
 * Reads the journal of an earlier run into an array sorted by pid, which the caller frees. Without
 * a file, or with one of an earlier boot, n is 0. Returns 0 or a negative errno, as
 * statefile_open() does.
 */
int uclamps_journal_read(const char *directory, struct uclamped **ret, size_t *ret_n);

/* Returns 0, also without a file, or a negative errno. */
int uclamps_journal_remove(const char *directory);
