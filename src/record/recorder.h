/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Records the calls that change an engine, as the engine reports them (engine_set_tap()). A
 * recording starts with the state of the engine, and ends before the recorder is freed: with
 * engine_set_tap(engine, NULL, NULL), or with the engine. A failed write fails no call: the first
 * failure is kept, nothing more is written, and recorder_end() returns it.
 */

#include "record/format.h"

/* Writes all of data, or returns a negative errno. Called with whole frames, in order. */
typedef int (*record_write_t)(void *userdata, const void *data, size_t size);

struct recorder {
	/* For the caller to read. */
	int error;	/* 0, or of a write or the compression */
	uint64_t bytes; /* that were written */

	/* recorder.c */
	record_write_t write;
	void *userdata;
	struct ZSTD_CCtx_s *zstd;
	uint64_t now_ns; /* of the last call with a time */
	size_t n;	 /* bytes of the open frame */
	uint8_t frame[RECORD_FRAME_BYTES];
};

/* Writes nothing yet. NULL without memory. */
struct recorder *recorder_new(record_write_t write, void *userdata);
struct recorder *recorder_free(struct recorder *recorder);

/* Begins a recording of an engine: its state at now_ns, and every later call. */
void recorder_begin(struct recorder *recorder, struct engine *engine, uint64_t now_ns);
/* Writes the open frame. Returns recorder->error. */
int recorder_flush(struct recorder *recorder);
/*
 * Writes the end and flushes; nothing may be recorded after it. now_ns before the last call counts
 * as the time of that. Returns recorder->error.
 */
int recorder_end(struct recorder *recorder, uint64_t now_ns);
