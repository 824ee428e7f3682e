/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Decisions that outlast the daemon, as bytes: the blocks of a recording (record/format.h) with
 * other records in them.
 *
 *	file	magic, version (u32), block…
 *	block	length (u16), ~length (u16), CRC-32 of the rest (u32), begins (1 byte), entry…
 *	entry	groups (1 byte), group…
 *	group	a byte with a bit for each of eight fields that is not as in the entry before, and
 *the differences of those, or the texts
 *
 * A file is added to block by block, each by one write, so one that is cut anywhere is good up to
 * the last whole block. A block that begins anew knows of no entry before it, and reading may start
 * there; others go on from the block before. Times are of both clocks, so that what was when is
 * known also where the one on the wall was set: in a file entries follow each other as they were,
 * whatever it showed.
 */

#include "core/decision_log.h"
#include "record/codec.h"

#define HISTORY_MAGIC	    "wakegovh"
#define HISTORY_MAGIC_SIZE  8
#define HISTORY_VERSION	    1
#define HISTORY_FILE_HEADER (HISTORY_MAGIC_SIZE + 4)
#define HISTORY_DEVICE_SIZE 32

#define HISTORY_BLOCK_BYTES 4096  /* a block with more is closed */
#define HISTORY_ENTRY_MAX   2048  /* a block has room for one more */
#define HISTORY_CHAIN_BYTES 16384 /* from where on a block begins anew */

/* A decision with the names for which other daemons have other numbers. */
struct history_entry {
	uint64_t realtime_us;
	char domain[DOMAIN_NAME_SIZE];
	char device[HISTORY_DEVICE_SIZE]; /* of the I/O that is explained; "": not known */
	uint32_t left_out; /* decisions for the domain since the entry before, for lack of room */
	struct decision_entry entry; /* of its domain and device only the names count */
};

struct history_writer {
	struct history_entry last;
	uint32_t chain_bytes;
	size_t n; /* of the open block, header included; 0: there is none */
	uint8_t block[HISTORY_BLOCK_BYTES + HISTORY_ENTRY_MAX + 16];
};

/* The head of a file. */
void history_put_header(uint8_t ret[HISTORY_FILE_HEADER]);

/* The next block begins anew: it will be the first of a file, or the one before is lost. */
void history_begin(struct history_writer *writer);
/* Adds to the open block. Returns the bytes that it took, or 0: it has a value that cannot be. */
size_t history_put(struct history_writer *writer, const struct history_entry *entry);
/* Whether the open block should be closed. */
bool history_is_full(const struct history_writer *writer);
/* Closes the block: so many bytes of writer->block are to be written. 0: it has no entry. */
size_t history_close(struct history_writer *writer);

struct history_reader {
	const uint8_t *data;
	size_t size;
	size_t next;	     /* the block after this one … */
	size_t began;	     /* … the one that began anew last */
	bool is_first;	     /* the last entry is the first of that one */
	struct record_in in; /* of this block */
	struct history_entry last;
};

/*
 * data is borrowed. Returns 0; -ENODATA for less than a head; -EBADMSG for something else;
 * -EPROTONOSUPPORT for another version.
 */
int history_read(struct history_reader *reader, const void *data, size_t size);
/* The next entry, in reader->last: 1; 0 at the end or where the data is cut; -EBADMSG. */
int history_next(struct history_reader *reader);
/* Goes to a block that begins anew, at an offset that was in `began`. -EBADMSG: there is none. */
int history_seek(struct history_reader *reader, size_t at);
/* Goes to the last block that begins anew with an entry not after then. */
void history_seek_time(struct history_reader *reader, uint64_t realtime_us);
/* Up to where the blocks are whole and untouched. */
size_t history_good_bytes(const void *data, size_t size);
