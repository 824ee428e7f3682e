/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The overrides in force, in DIRECTORY/overrides, so that they outlast the daemon but not the boot:
 *
 *	wakegov overrides 1
 *	boot 6d6a5f0e-…                                 an earlier boot's file is ignored
 *	3 policy0 1200000 0 0 0 5214000000000           id, domain, min, max, frozen kHz, uid, end
 *	4 task 812 5040000000 1 make                    id, pid, start, with children, comm …
 *	2 30 0 0 0 0 1000 5214000000000                 … cap, floor, I/O boost (kind, value), uid,
 *end 5 rule backup                                   likewise with a second line … end 3 the number
 *of overrides
 *
 * The end is on CLOCK_MONOTONIC, in nanoseconds. The file is replaced as a whole.
 */

#include "core/override.h"
#include "core/topology.h"
#include "daemon/task_override_table.h"

#define OVERRIDE_FILE "overrides"

/* Writes the tables, or removes the file when they are empty. 0 or a negative errno. */
int override_file_save(const char *directory, const struct topology *topology,
		       const struct override_table *table, const struct task_overrides *overrides);

/*
 * Fills *ret with those that have not ended at now_ns and whose domain is still there, and
 * *ret_overrides with those of tasks and rules; without a file there are none. Returns 0; -EBADMSG
 * for a file that is not of the form above, -EPERM for one that another user could have written, or
 * another negative errno: both are empty then.
 */
int override_file_load(const char *directory, const struct topology *topology, uint64_t now_ns,
		       struct override_table *ret, struct task_overrides *ret_overrides);
