/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads a recording, call by call. Nothing in a file is trusted: every call that is returned is
 * safe for an engine of its topology, except engine_decide() for a domain that is not active
 * (record/replay.h checks that).
 */

#include <stdio.h>

#include "record/format.h"

enum record_outcome {
	RECORD_ENDED, /* complete, and at its end */
	RECORD_READ,
	RECORD_CUT, /* the file ends before the recording; everything before the cut was read */
};

struct record_reader {
	/* For the caller to read, after record_reader_begin(). */
	struct topology *topology;
	struct policy policy; /* at the beginning */
	void *state;	      /* the same: engine_state_size() bytes for engine_load(), unchecked */
	/* From the beginning to the end, or so far to the last call: CLOCK_MONOTONIC there. */
	uint64_t begin_ns, end_ns;
	uint64_t offset; /* of the frame with the last call, or of what could not be read */
	char why[160];	 /* the last failure with its offset, or where the file is cut */

	/* reader.c */
	FILE *file;
	struct ZSTD_DCtx_s *zstd;
	size_t n_compressed, at_compressed; /* bytes that were read, and those that were used */
	size_t n, at;			    /* the same of the frame */
	uint64_t next_offset;		    /* of the bytes to be read from the file */
	union {
		struct input input;
		struct decision decision;
		struct task_class class;
		struct task_clamp clamp;
		struct policy policy;
	} body; /* of the last call */
	uint8_t compressed[RECORD_FRAME_BYTES];
	uint8_t frame[RECORD_FRAME_BYTES];
};

/* Reads nothing yet. file is borrowed. NULL without memory. */
struct record_reader *record_reader_new(FILE *file);
struct record_reader *record_reader_free(struct record_reader *reader);

/*
 * Reads the description of the engine; call it once, first. Returns 0, or a negative errno with a
 * reason in reader->why: -ENODATA for an empty file or one that is cut before the first call,
 * -EBADMSG for a damaged or foreign one, -EPROTONOSUPPORT for one of another build, -ENOMEM, -EIO.
 */
int record_reader_begin(struct record_reader *reader);

/*
 * Reads the next call; what it points to is borrowed until the one after. A call without a time has
 * that of the last call with one. Returns an enum record_outcome, or as record_reader_begin().
 */
int record_reader_next(struct record_reader *reader, struct engine_call *ret);

/* For a well-formed record that no engine can have made: sets reader->why. Returns -EBADMSG. */
int record_reader_refuse(struct record_reader *reader, const char *why);
