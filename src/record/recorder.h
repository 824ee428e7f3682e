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
struct record_sink {
	int (*write)(void *userdata, const void *data, size_t size);
	void *userdata;
};

struct recorder;

/* Takes about a MiB; writes nothing yet. sink is copied. NULL without memory. */
struct recorder *recorder_new(const struct record_sink *sink);
struct recorder *recorder_free(struct recorder *recorder);

/* Begins a recording of an engine: its state at now_ns, and every later call. */
void recorder_begin(struct recorder *recorder, struct engine *engine, uint64_t now_ns);
/* Writes the open frame. Returns as recorder_error(). */
int recorder_flush(struct recorder *recorder);
/*
 * Writes the end and flushes; nothing may be recorded after it. now_ns before the last call counts
 * as the time of that. Returns as recorder_error().
 */
int recorder_end(struct recorder *recorder, uint64_t now_ns);

/* 0, or the error of a write or of the compression. */
int recorder_error(const struct recorder *recorder);
/* Bytes passed to the sink. */
uint64_t recorder_bytes(const struct recorder *recorder);
