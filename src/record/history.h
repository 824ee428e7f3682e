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
 * the differences of those, or the texts
 *
 * Each block is appended by one write, so a file that is cut anywhere is good up to the last whole
 * block. A block that begins anew does not depend on earlier ones, so reading can start there; the
 * others continue the block before. Entries have times of both clocks, and are in the order of
 * events, so that times are known also if the wall clock was set.
 */

#include "core/decision.h"
#include "record/codec.h"

#define HISTORY_MAGIC	    "wakegovh"
#define HISTORY_MAGIC_SIZE  8
#define HISTORY_VERSION	    1
#define HISTORY_FILE_HEADER (HISTORY_MAGIC_SIZE + 4)
#define HISTORY_DEVICE_SIZE 32

#define HISTORY_BLOCK_BYTES 4096  /* a larger block is closed */
#define HISTORY_ENTRY_MAX   2048  /* room that a block keeps for one more entry */
#define HISTORY_CHAIN_BYTES 16384 /* distance after which a block begins anew */

/* A decision with names, as other daemons have other numbers for them. */
struct history_entry {
	uint64_t realtime_us;
	char domain[DOMAIN_NAME_SIZE];
	char device[HISTORY_DEVICE_SIZE]; /* of the explained I/O; "": not known */
	uint32_t left_out; /* decisions of the domain since its last entry, left out for lack of
			      room */
	struct decision_entry entry; /* its domain and device count by their names only */
};

struct history_writer {
	struct history_entry last;
	uint32_t chain_bytes;
	size_t n; /* bytes of the open block with its header; 0: none */
	uint8_t block[HISTORY_BLOCK_BYTES + HISTORY_ENTRY_MAX + 16];
};

/* The head of a file. */
void history_put_header(uint8_t ret[HISTORY_FILE_HEADER]);

/* Makes the next block begin anew: for the first of a file, or after a lost block. */
void history_begin(struct history_writer *writer);
/* Adds an entry to the open block. Returns the bytes of it, or 0 for an impossible value. */
size_t history_put(struct history_writer *writer, const struct history_entry *entry);
/* Whether the open block begins anew. */
bool history_begins_anew(const struct history_writer *writer);
/* Whether the open block should be closed. */
bool history_is_full(const struct history_writer *writer);
/* Closes the block. Returns the number of bytes of writer->block to write; 0: it has no entry. */
size_t history_close(struct history_writer *writer);

struct history_reader {
	const uint8_t *data;
	size_t size;
	size_t next;	     /* offset of the next block … */
	size_t began;	     /* … and of the last one that began anew */
	bool is_first;	     /* the last entry is the first of that block */
	struct record_in in; /* rest of this block */
	struct history_entry last;
};

/*
 * data is borrowed. Returns 0; -ENODATA for less than a header; -EBADMSG for other contents;
 * -EPROTONOSUPPORT for another version.
 */
int history_read(struct history_reader *reader, const void *data, size_t size);
/*
 * Reads the next entry into reader->last. Returns 1; 0 at the end or where the data is cut;
 * -EBADMSG.
 */
int history_next(struct history_reader *reader);
/* Goes to a block that begins anew, at an offset that was in `began`. -EBADMSG: no such block. */
int history_seek(struct history_reader *reader, size_t at);
/* Goes to the last block that begins anew with an entry up to that time. */
void history_seek_time(struct history_reader *reader, uint64_t realtime_us);
/* The number of bytes up to the first damaged or incomplete block. */
size_t history_good_bytes(const void *data, size_t size);
