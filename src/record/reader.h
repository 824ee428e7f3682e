/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads a recording, record by record. Nothing in a file is trusted: what a reader gives out is
 * safe to give to an engine of its topology, but for engine_decide() for a domain that is not
 * active (record/replay.h looks after that).
 */

#include <sys/types.h>

#include "core/topology.h"
#include "record/format.h"

/* Gives up to size bytes, 0 at the end, or a negative errno. */
struct record_source {
	ssize_t (*read)(void *userdata, void *data, size_t size);
	void *userdata;
};

/* For a source: userdata is a FILE. */
ssize_t record_read_file(void *userdata, void *data, size_t size);

enum record_outcome {
	RECORD_ENDED, /* whole and at its end */
	RECORD_READ,
	RECORD_CUT, /* the end of the file is not that of the recording: all before it was read */
};

struct record_reader;

/* About 200 KiB; reads nothing yet. source is copied. NULL without memory. */
struct record_reader *record_reader_new(const struct record_source *source);
struct record_reader *record_reader_free(struct record_reader *reader);

/*
 * What the engine was made from; to be called once, before the rest. Returns 0, or a negative errno
 * with a reason in record_reader_why(): -ENODATA for an empty file or one that is cut before the
 * first call, -EBADMSG for one that is damaged or something else, -EPROTONOSUPPORT for one of
 * another version of the format, -ENOMEM, or what the source failed with.
 */
int record_reader_begin(struct record_reader *reader);
/* Borrowed from the reader. */
const struct topology *record_reader_topology(const struct record_reader *reader);
const struct policy *record_reader_policy(const struct record_reader *reader);
/* engine_state_size() bytes for engine_load(), unchecked; NULL: the engine was new. */
const void *record_reader_state(const struct record_reader *reader);

/* The next call. Returns an enum record_outcome, or as record_reader_begin(); RECORD_END is none.
 */
int record_reader_next(struct record_reader *reader, struct record *ret);

/*
 * The decision that was last read is well-formed, and yet no engine can have made it, for its
 * domain is not active: says so in record_reader_why(). Returns -EBADMSG.
 */
int record_reader_refuse_decision(struct record_reader *reader);

/* Likewise of what engine_load() refused; r is what it returned, and is returned. */
int record_reader_refuse_state(struct record_reader *reader, int r);

/* Where the record that was last read, or could not be read, starts in the file, in bytes. */
uint64_t record_reader_offset(const struct record_reader *reader);
/* What the last failure was, with its offset; or where the file is cut. */
const char *record_reader_why(const struct record_reader *reader);
