/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The overrides in force, in DIRECTORY/overrides (see shared/statefile.h). Each line begins with
 * the override's id, the user who gave it, and its end on CLOCK_MONOTONIC in nanoseconds:
 *
 *	domain 3 0 5214000000000 policy0 1200000 0 0	min, max, frozen kHz
 *	task 4 0 5214000000000 2 30 0 0 0 0 812 5040000000 1 make
 *	rule 5 0 5214000000000 2 30 0 0 0 0 backup
 *
 * For a task or a rule, the cap, the floor and the I/O boost follow, each as kind and value (see
 * core/settings.h); then a rule's name, or a task's pid, start, whether its children are included,
 * and its name.
 */

#include "core/override.h"
#include "core/topology.h"
#include "daemon/task_override_table.h"

#define OVERRIDE_FILE "overrides"

/* Writes the tables, or removes the file when they are empty. 0 or a negative errno. */
int override_file_save(const char *directory, const struct topology *topology,
		       const struct override_table *table, const struct task_overrides *overrides);

/*
 * Fills *ret with the overrides of existing domains that have not ended at now_ns, and
 * *ret_overrides with those of tasks and rules; none without a file. Returns 0, or a negative errno
 * as statefile_open() does, with both empty.
 */
int override_file_load(const char *directory, const struct topology *topology, uint64_t now_ns,
		       struct override_table *ret, struct task_overrides *ret_overrides);
