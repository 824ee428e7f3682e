/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What was counted of a day (daemon/stats.h), in DIRECTORY/account.DAY, with DAY counted from 1970
 * on. The file is replaced as a whole:
 *
 *	file	magic, version (u32), CRC-32 of the rest (u32), domains, rows
 *	domains	their number, and of each its name, the number of its times, and times: kHz, reason,
 *ms rows	their number, and of each its key and its sums, each a varint
 */

#include <stddef.h>

#include "daemon/stats.h"

#define STATS_FILE_BYTES (72 * 1024) /* the most that one has */

/* Returns 0 or a negative errno: -E2BIG for more than a file has. */
int stats_file_save(const char *directory, const struct stats *stats,
		    const struct topology *topology, int32_t day);

/*
 * Adds what the file of the day says. Returns 0, also without a file, or a negative errno: -EBADMSG
 * for one that is damaged or something else. Domains and OPPs that are not there are left out.
 */
int stats_file_load(const char *directory, struct stats *stats, const struct topology *topology,
		    int32_t day);
/* The same of what it holds. */
int stats_file_parse(const void *data, size_t size, struct stats *stats,
		     const struct topology *topology, int32_t day);

/* Removes those of days before that one. */
void stats_file_remove_before(const char *directory, int32_t day);
