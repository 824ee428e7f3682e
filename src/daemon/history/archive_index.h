/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Finds entries in the files of an archive (daemon/history/past.h). The index says which parts of
 * the files have entries of which domain, so that an entry is found by reading at most two parts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/topology.h"
#include "daemon/history/past.h"

#define ARCHIVE_NAME_SIZE 32
#define ARCHIVE_PARTS	  64		    /* parts of a file; about one chain begins in each */
#define ARCHIVE_NUMBERS	  TOPOLOGY_CPUS_MAX /* numbers N of policyN, as of CPUs */

/* A place is the number of a file and the offset of a block in it. */
#define ARCHIVE_PLACE_BITS 20

_Static_assert(ARCHIVE_FILE_BYTES <= 1 << ARCHIVE_PLACE_BITS, "an offset fits in");

/* The chains that begin in a part of a file. */
struct archive_part {
	uint64_t earliest_us; /* earliest time of their entries */
	uint64_t place;	      /* of the first chain; 0: none */
};

struct archive_index {
	int directory_fd;
	uint32_t first, last; /* numbers of the files; 0: none */
	struct archive_part parts[ARCHIVE_FILES][ARCHIVE_PARTS];
	/* A bit for each part with entries of policyN. */
	uint64_t has[ARCHIVE_FILES][ARCHIVE_NUMBERS];
};

/* "history.N" */
void archive_index_name(uint32_t number, char ret[static ARCHIVE_NAME_SIZE]);

/* Reads a file, up to its longest allowed size. NULL: there is none, or it cannot be read. */
uint8_t *archive_index_read(const struct archive_index *index, uint32_t number, size_t *ret_size);

/* Finds the files of the directory, and enters what they hold. */
void archive_index_find_files(struct archive_index *index);
void archive_index_note_files(struct archive_index *index);
/* A file with this number begins. */
void archive_index_clear(struct archive_index *index, uint32_t number);
/* chain is the place of the chain that has the entry. */
void archive_index_note(struct archive_index *index, uint64_t chain,
			const struct history_entry *entry);

/* As archive_find() and archive_list(), of what is written. */
bool archive_index_find(const struct archive_index *index, const char *domain, uint64_t realtime_us,
			struct history_entry *ret, uint32_t *ret_left_out);
uint64_t archive_index_list(const struct archive_index *index, uint64_t from, uint64_t realtime_us,
			    void (*take)(void *context, const struct history_entry *entry),
			    void *context);
