/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The account of a day (daemon/stats.h), in DIRECTORY/account.DAY, with DAY counted from 1970. The
 * file is replaced as a whole:
 *
 *	file	magic, version (u32), CRC-32 of the rest (u32), domains, rows
 *	domains	their number, and of each its name, the number of its times, and times: kHz, reason,
 * ms rows	their number, and of each its key and its sums, each a varint
 */

#include <stddef.h>

#include "daemon/stats.h"

#define STATS_FILE_BYTES (72 * 1024) /* maximum size of a file */

/* Returns 0 or a negative errno: -E2BIG for more than a file may have. */
int stats_file_save(const char *directory, const struct stats *stats,
		    const struct topology *topology, int32_t day);

/*
 * Adds the contents of the day's file. Returns 0, also without a file, or a negative errno:
 * -EBADMSG for a damaged or foreign file. Domains and OPPs that do not exist here are left out.
 */
int stats_file_load(const char *directory, struct stats *stats, const struct topology *topology,
		    int32_t day);
/* The same for the file's contents. */
int stats_file_parse(const void *data, size_t size, struct stats *stats,
		     const struct topology *topology, int32_t day);

/* Removes the files of days before that one. */
void stats_file_remove_before(const char *directory, int32_t day);
