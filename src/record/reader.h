/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads a recording, call by call. Nothing in a file is trusted: every call that is returned is
 * safe for an engine of its topology, except engine_decide() for a domain that is not active
 * (record/replay.h checks that).
 */

#include <sys/types.h>

#include "record/format.h"

/* Returns up to size bytes, 0 at the end, or a negative errno. */
struct record_source {
	ssize_t (*read)(void *userdata, void *data, size_t size);
	void *userdata;
};

/* For a source: userdata is a FILE. */
ssize_t record_read_file(void *userdata, void *data, size_t size);

enum record_outcome {
	RECORD_ENDED, /* complete, and at its end */
	RECORD_READ,
	RECORD_CUT, /* the file ends before the recording; everything before the cut was read */
};

struct record_reader;

/* Takes about 400 KiB; reads nothing yet. source is copied. NULL without memory. */
struct record_reader *record_reader_new(const struct record_source *source);
struct record_reader *record_reader_free(struct record_reader *reader);

/*
 * Reads the description of the engine; call it once, first. Returns 0, or a negative errno with a
 * reason in record_reader_why(): -ENODATA for an empty file or one that is cut before the first
 * call, -EBADMSG for a damaged or foreign one, -EPROTONOSUPPORT for one of another build, -ENOMEM,
 * or the source's error.
 */
int record_reader_begin(struct record_reader *reader);
/* Borrowed from the reader. */
const struct topology *record_reader_topology(const struct record_reader *reader);
const struct policy *record_reader_policy(const struct record_reader *reader);
/* engine_state_size() bytes for engine_load(), unchecked. */
const void *record_reader_state(const struct record_reader *reader);

/* The time from the beginning to the end, or so far to the last call: CLOCK_MONOTONIC of the
 * recorded machine. */
struct record_time {
	uint64_t begin_ns, end_ns;
};

struct record_time record_reader_time(const struct record_reader *reader);

/*
 * Reads the next call; what it points to is borrowed until the one after. A call without a time has
 * that of the last call with one. Returns an enum record_outcome, or as record_reader_begin().
 */
int record_reader_next(struct record_reader *reader, struct engine_call *ret);

/*
 * For a decision that no engine can have made, as its domain is not active, though its record is
 * well-formed: sets record_reader_why(). Returns -EBADMSG.
 */
int record_reader_refuse_decision(struct record_reader *reader);
/* The same for a state that engine_load() refused. */
int record_reader_refuse_state(struct record_reader *reader);

/* The offset in bytes of the frame with the last call, or of what could not be read. */
uint64_t record_reader_offset(const struct record_reader *reader);
/* The last failure with its offset, or where the file is cut. */
const char *record_reader_why(const struct record_reader *reader);
