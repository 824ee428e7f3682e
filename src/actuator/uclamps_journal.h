/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * DIRECTORY/clamps, a log (see shared/statefile.h): what tasks carried before us.
 *
 *	task 4711 88123 0-1024 0-300	number, start in ticks, its own clamps, what we write now
 *
 * A line is there before its write. So of two lines for one task the later counts; what it carries
 * is what that one says or, if we were killed between the line and the write, the one before.
 */

#include <stddef.h>
#include <stdint.h>

#include "actuator/uclamp_task.h"

struct uclamped {
	uint32_t pid;
	uint64_t start;	   /* ticks since boot */
	struct uclamp own; /* without us */
	struct uclamp put; /* what we wrote last */
	struct uclamp was; /* what we wrote before that, or found */
};

/* Adds a line. Returns 0 or a negative errno, -ENOSPC and the like. */
int uclamps_journal_add(int fd, const struct uclamped *clamped);

/*
 * Starts the file anew with these lines, in one step. Returns a descriptor to add lines to, or a
 * negative errno; then the old file is as it was.
 */
int uclamps_journal_rewrite(const char *directory, const struct uclamped *const *clamped, size_t n);

/*
 * Reads the file of a run that ended: an array that the caller frees, in the order of the numbers.
 * Without a file, or with an earlier boot's, n is 0. Returns 0 or a negative errno, as
 * statefile_open() does.
 */
int uclamps_journal_read(const char *directory, struct uclamped **ret, size_t *ret_n);

/* Returns 0, also when there is none, or a negative errno. */
int uclamps_journal_remove(const char *directory);
