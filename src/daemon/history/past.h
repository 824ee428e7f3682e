/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What was decided: the last decisions in memory, those of a week on disk (archive.c), in systemd's
 * StateDirectory= unless the policy's `history` forbids it, and sums since the start (stats.h). A
 * failure of the disk is logged once, and wakegov goes on without.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/topology.h"
#include "daemon/history/stats.h"
#include "daemon/module.h"
#include "record/history.h"

struct archive;

/* The boosted group of a domain, whose I/Os are counted. */
struct boosted {
	uint32_t group; /* IO_BOOST_NO_GROUP: none */
	uint64_t ios;	/* I/Os of the group at the last count */
	struct experiment_estimate found;
	struct stats_gain gain; /* of the last count */
};

struct past {
	struct core *core;
	struct decision_log *log; /* the last decisions, in memory */
	struct stats *stats;
	struct boosted *boosted;	     /* by domain */
	uint64_t counted_ios[IO_GROUPS_MAX]; /* I/Os of each group that were counted */
	struct archive *archive;	     /* NULL: decisions are not kept */
};

extern const struct module past_module;

/*
 * Makes the tables in memory, once the domains are known; files come with its start.
 * Returns 0 or -ENOMEM.
 */
int past_init(struct past *past);

/* Counts up to now, before the statistics are read. */
void past_catch_up(struct past *past);

/*
 * archive.c: the decisions of the last week on disk, in ARCHIVE_FILES files DIRECTORY/history.N of
 * at most ARCHIVE_FILE_BYTES each. When the last one is full another is begun, and the oldest
 * removed. A file lasts a day: while there is room every decision is kept; on a machine that
 * decides without pause, those of each domain are kept at the distance for which there is room,
 * with the number of those left out between.
 *
 * The archive never wakes the daemon. Entries are written in a round, when the oldest is a minute
 * old or nothing is left to do, so that a killed daemon loses at most a minute. A failed write ends
 * the archive, with one message.
 */

#define ARCHIVE_FILES	   8
#define ARCHIVE_FILE_BYTES (960 * 1024)

/*
 * Opens the archive of a directory, or begins one. Cuts off what is damaged in the newest file,
 * with a message. n_domains is that of the machine. Returns 0 or a negative errno, logged.
 */
int archive_open(const char *directory, uint32_t n_domains, struct archive **ret);
/* Writes unwritten entries. Returns NULL. */
struct archive *archive_close(struct archive *archive);

/* Keeps an entry of the domain, or counts it as left out. Fills in entry->left_out. */
void archive_add(struct archive *archive, uint32_t domain, struct history_entry *entry);
/*
 * Call this at the end of a round. still: nothing is left to do. Returns whether the archive works.
 */
bool archive_keep(struct archive *archive, uint64_t now_ns, bool still);

/*
 * Finds the last entry of a domain at or before the time, and the number of decisions left out
 * between it and the next entry. False: there is none. Damaged and foreign files are left out.
 */
bool archive_find(struct archive *archive, const char *domain, uint64_t realtime_us,
		  struct history_entry *ret, uint32_t *ret_left_out);

/*
 * Gives entries to take, in order, from a place on; stops after about a thousand. from is 0 for the
 * first entry at or after realtime_us, then the previous call's result, which is 0 at the end.
 */
uint64_t archive_list(struct archive *archive, uint64_t from, uint64_t realtime_us,
		      void (*take)(void *context, const struct history_entry *entry),
		      void *context);

/*
 * archive_index.c: finds entries in the files of an archive. The index says
 * which parts of the files have entries of which domain, so that an entry is found by reading at
 * most two parts.
 */

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
