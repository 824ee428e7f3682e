/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What was decided: the last decisions in memory, those of a week on disk (archive.c), in systemd's
 * StateDirectory= unless the policy's `history` forbids it, and sums since the start. A
 * failure of the disk is logged once, and wakegov goes on without.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/decision.h"
#include "core/topology.h"
#include "daemon/module.h"

/*
 * stats.c: sums over all decisions since the start: for how long each domain was set to which OPP
 * and why, the number of decisions by reason and limiter, and the I/Os that boosts gained by the
 * experiments' measurements. A domain's target and reason hold until its next call.
 */

#define STATS_DEVICE_SIZE 32
/* Rows of gains; the last, "others", takes what finds no room. */
#define STATS_GAINS_MAX 64

/* What boosts of tasks of one name on one device gained, while they were in force and tried. */
struct stats_gain {
	char comm[TASK_COMM_SIZE];
	char device[STATS_DEVICE_SIZE]; /* "": not known */
	uint64_t ios;			/* I/Os meanwhile, of which … */
	uint64_t gained;		/* … so many would not have been sent without it … */
	uint64_t gained_error;		/* … with this error */
};

/* A domain's present target and reason, and the time with each. */
struct held {
	uint32_t khz; /* 0: no time is counted */
	enum reason reason;
	uint64_t since_ns;
	uint64_t (*ns)[REASON_LAST + 1]; /* by OPP */
};

struct stats {
	const struct topology *topology;
	uint64_t decisions[REASON_LAST + 1];
	uint64_t limits[LIMITER_LAST + 1];
	uint32_t n_gains;
	struct stats_gain gains[STATS_GAINS_MAX];
	struct held domains[];
};

/* topology is borrowed. NULL without memory. */
struct stats *stats_new(const struct topology *topology);
struct stats *stats_free(struct stats *stats);

/* Makes room for one more OPP of the domain, before it is in the topology. Returns 0 or -ENOMEM. */
int stats_add_opp(struct stats *stats, uint32_t domain);
/* The domain was set to a target, or released (khz 0: no time is counted from now on). */
void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz, uint64_t now_ns);
/* Sets the reason from now on. */
void stats_set_reason(struct stats *stats, uint32_t domain, enum reason reason, uint64_t now_ns);
/* Counts up to now, for a following read. */
void stats_catch_up(struct stats *stats, uint64_t now_ns);

void stats_add_decision(struct stats *stats, const struct decision *decision);

/* Adds to the row of the same comm and device. */
void stats_add_gain(struct stats *stats, const struct stats_gain *gain);

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
	struct decision_ring *ring;
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
 * ring.c: the last decisions that changed a target, in memory; the oldest is overwritten first.
 */
struct decision_ring {
	uint64_t total;
	uint32_t size;
	struct decision_entry {
		uint64_t number; /* in the order of adding, from 0 */
		struct change change;
	} entries[];
};

/* size entries; NULL without memory. */
struct decision_ring *decision_ring_new(uint32_t size);
void decision_ring_add(struct decision_ring *ring, const struct change *change);
/* The i-th oldest decision, or NULL past the newest. Borrowed until the next add. */
const struct decision_entry *decision_ring_at(const struct decision_ring *ring, uint32_t i);
/* The last decision for the domain at or before at_ns, or NULL. */
const struct change *decision_ring_find(const struct decision_ring *ring, uint32_t domain,
					uint64_t at_ns);

/*
 * archive.c: the decisions of the last week on disk, in ARCHIVE_FILES files DIRECTORY/history.N of
 * at most ARCHIVE_FILE_BYTES each. When the last one is full another is begun, and the oldest
 * removed. A file lasts at least a day: every decision is kept while there is room. A machine that
 * decides without pause keeps those of each domain at even distances, with the number of decisions
 * left out between.
 *
 * Lines are collected. A block of them is written when the oldest is a minute old, so a killed
 * daemon loses at most a minute, and an idle daemon wakes up once for it after the last change. A
 * failed write ends the archive, with one message.
 */

#define ARCHIVE_FILES	   8
#define ARCHIVE_FILE_BYTES (1920 * 1024)

/* Opens the archive of a directory, or begins one. Says what is damaged in the newest file. */
int archive_open(const char *directory, uint32_t n_domains, struct archive **ret);
/* Writes what is collected. Returns NULL. */
struct archive *archive_close(struct archive *archive);

/* Whether a line of the domain is kept now; if not, it is counted as left out. */
bool archive_has_room(struct archive *archive, uint32_t domain, uint64_t now_ns);
/* Keeps a line for which there is room. */
void archive_add(struct archive *archive, uint32_t domain, uint64_t now_ns, const char *line);
/* Call this at the end of a round. Returns when to call it again; UINT64_MAX: no need. */
uint64_t archive_keep(struct archive *archive, uint64_t now_ns);
/* Whether a write failed. */
bool archive_has_failed(const struct archive *archive);

/* What a line begins with. */
struct archive_line {
	char domain[DOMAIN_NAME_SIZE];
	uint64_t monotonic_us;
	uint64_t realtime_us;
	const char *text;
};

/* False: it is no decision. text is borrowed. */
bool archive_parse(const char *text, struct archive_line *ret);

/*
 * Finds the last line of a domain at or before the time, and the number of decisions left out
 * between it and the next one. The caller frees it. NULL: there is none. Damaged blocks are left
 * out.
 */
char *archive_find(struct archive *archive, const char *domain, uint64_t realtime_us,
		   uint32_t *ret_left_out);

/*
 * Gives lines to take, in order, from a place on; stops after about a thousand. from is 0 for the
 * first line at or after realtime_us, then the previous call's result, which is 0 at the end.
 */
uint64_t archive_list(struct archive *archive, uint64_t from, uint64_t realtime_us,
		      void (*take)(void *context, const struct archive_line *line), void *context);

/*
 * archive_block.c: the files. A block is a head and a zstd frame of lines, each ended by a line
 * feed. Lines are decisions and, before a decision that follows left-out ones of its domain,
 * {"left_out":N,"domain":"policy0"}. A block that is damaged is skipped: the next one is found by
 * its magic.
 */

#define ARCHIVE_BLOCK_BYTES 65536 /* of text */
#define ARCHIVE_NAME_SIZE   32

/* As the machine stores it: other machines' files are not read. */
struct archive_head {
	char magic[8];
	uint64_t least_us, most_us; /* of the lines' realtime_us */
	uint64_t domains;	    /* a bit by the number of policyN, modulo 64 */
	uint32_t frame_bytes;
	uint32_t text_bytes;
	uint64_t check; /* of all before it; the frame has its own */
};

/* Where lines are collected for a block. All zero: an empty one. */
struct archive_text {
	struct archive_head head;
	char text[ARCHIVE_BLOCK_BYTES];
};

/* Adds a line. left_out: see above. False: there is no room. */
bool archive_text_add(struct archive_text *text, const char *line, uint32_t left_out);
/*
 * Makes a block of the lines, and empties the text. Returns it, allocated, and its size; NULL
 * without memory.
 */
uint8_t *archive_text_seal(struct archive_text *text, size_t *ret_size);

/* A file as it is read: zeroed, then archive_file_read(). */
struct archive_file {
	uint8_t *data;
	size_t size;
	size_t at;	/* of the block in head … */
	size_t next;	/* … and where the next is looked for */
	size_t damaged; /* bytes that were skipped */
	struct archive_head head;
	char *text; /* NUL-terminated; see archive_file_unpack() */
};

void archive_file_name(uint32_t number, char ret[static ARCHIVE_NAME_SIZE]);
/* False: there is none, or it cannot be read. */
bool archive_file_read(struct archive_file *file, int directory_fd, uint32_t number);
void archive_file_deinit(struct archive_file *file);
/* Goes to the next block with a good head. False: there is no more. */
bool archive_file_next(struct archive_file *file);
/* Unpacks the lines of this block. False: they are damaged. */
bool archive_file_unpack(struct archive_file *file);
/* Whether the block may have lines of the domain. */
bool archive_head_has(const struct archive_head *head, const char *domain);
