/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads a recording, record by record. Nothing in a file is trusted: every record that is returned
 * is safe for an engine of its topology, except engine_decide() for a domain that is not active
 * (record/replay.h checks that).
 */

#include <sys/types.h>

#include "core/topology.h"
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

/* Takes about 200 KiB; reads nothing yet. source is copied. NULL without memory. */
struct record_reader *record_reader_new(const struct record_source *source);
struct record_reader *record_reader_free(struct record_reader *reader);

/*
 * Reads the description of the engine; call it once, first. Returns 0, or a negative errno with a
 * reason in record_reader_why(): -ENODATA for an empty file or one that is cut before the first
 * call, -EBADMSG for a damaged or foreign one, -EPROTONOSUPPORT for another version of the format,
 * -ENOMEM, or the source's error.
 */
int record_reader_begin(struct record_reader *reader);
/* Borrowed from the reader. */
const struct topology *record_reader_topology(const struct record_reader *reader);
const struct policy *record_reader_policy(const struct record_reader *reader);
/* engine_state_size() bytes for engine_load(), unchecked; NULL: the engine was new. */
const void *record_reader_state(const struct record_reader *reader);

/*
 * Reads the next call. Returns an enum record_outcome, or as record_reader_begin(); RECORD_END is
 * not returned as a call.
 */
int record_reader_next(struct record_reader *reader, struct record *ret);

/*
 * For a decision that no engine can have made, as its domain is not active, though its record is
 * well-formed: sets record_reader_why(). Returns -EBADMSG.
 */
int record_reader_refuse_decision(struct record_reader *reader);

/* The same for a state that engine_load() refused with r. Returns r. */
int record_reader_refuse_state(struct record_reader *reader, int r);

/* The offset in bytes of the record that was last read or could not be read. */
uint64_t record_reader_offset(const struct record_reader *reader);
/* The last failure with its offset, or where the file is cut. */
const char *record_reader_why(const struct record_reader *reader);

/*
 * lookahead.c: the records of a file with a view of later ones, to compute samples at times without
 * one: totals are interpolated between the sample before and the one after.
 */

#define LOOKAHEAD_RECORDS 8192
#define LOOKAHEAD_NS	  1000000000ULL

struct lookahead {
	struct record_reader *reader; /* borrowed */
	struct record *records;	      /* LOOKAHEAD_RECORDS, a ring */
	uint32_t first, n;
	int result; /* RECORD_READ, or the result of reading on */
};

/* Returns 0 or -ENOMEM. Call lookahead_deinit() in both cases. */
int lookahead_init(struct lookahead *ahead, struct record_reader *reader);
void lookahead_deinit(struct lookahead *ahead);

/* As record_reader_next(), except that the policy of a RECORD_POLICY must not be used. */
int lookahead_next(struct lookahead *ahead, struct record *ret);

/*
 * The sample of a task or a device at now_ns, given the sample before. False when no later one
 * follows soon.
 */
bool lookahead_task(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		    struct input *ret);
bool lookahead_device(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		      struct input *ret);
