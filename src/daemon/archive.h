/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The decisions of the last week, on disk: DIRECTORY/history.N, of which each has
 * ARCHIVE_FILE_BYTES at most, and of which there are ARCHIVE_FILES: when the last is full another
 * is begun, and then the oldest removed. What is written is rationed so that a file lasts a day:
 * while there is room every decision is kept; on a machine that decides without pause those of each
 * domain that come as far apart as there is room for, and how many were left out between.
 *
 * Which domains have entries in which parts of the files is known in memory, from when the archive
 * is opened and all of it read. So one entry is found by reading two parts, of a file each.
 *
 * Nothing here wakes the daemon. What is kept is written in a round, when the first of it is a
 * minute old or nothing is left to do, so that a daemon that is killed loses a minute at most. A
 * write that fails ends it, with one message: wakegov governs on without.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/history.h"

#define ARCHIVE_FILES	   8
#define ARCHIVE_FILE_BYTES (960 * 1024)

struct archive;

/*
 * Opens the archive of a directory, or begins one. What is damaged in the newest file is cut off,
 * and said. n_domains: of the machine. Returns 0 or a negative errno, logged.
 */
int archive_open(const char *directory, uint32_t n_domains, struct archive **ret);
/* Writes what is left. Returns NULL. */
struct archive *archive_close(struct archive *archive);

/* Keeps an entry of the domain's, or counts it as left out. entry->left_out is filled in here. */
void archive_add(struct archive *archive, uint32_t domain, struct history_entry *entry);
/* At the end of a round. still: nothing is left to do. Returns whether it can go on. */
bool archive_keep(struct archive *archive, uint64_t now_ns, bool still);

/*
 * The last entry of a domain that is not after then, and how many decisions between it and the next
 * one were left out. False: there is none. What lies in a file that is damaged or foreign is left
 * out.
 */
bool archive_find(struct archive *archive, const char *domain, uint64_t realtime_us,
		  struct history_entry *ret, uint32_t *ret_left_out);

/*
 * Gives those from a place on to take, in their order, and stops after some thousand. from is 0 for
 * the first that is not before realtime_us, then what was returned, which is 0 at the end.
 */
uint64_t archive_list(struct archive *archive, uint64_t from, uint64_t realtime_us,
		      void (*take)(void *context, const struct history_entry *entry),
		      void *context);
