/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The calls that change an engine, written down as the engine tells of them (engine_set_tap()).
 * A recording starts with a new engine, or with the state of one that runs, and ends
 * before the recorder is freed: with engine_set_tap(engine, NULL, NULL), or with the engine.
 * No call fails because its record could not be written: the first failure is kept, nothing more
 * is written, and recorder_end() returns it.
 */

#include <stddef.h>

#include "core/engine.h"
#include "record/format.h"

/* Takes all of data, in order, or returns a negative errno. Called with whole blocks. */
struct record_sink {
	int (*write)(void *userdata, const void *data, size_t size);
	void *userdata;
};

/* For a sink: userdata is a FILE. */
int record_write_file(void *userdata, const void *data, size_t size);

struct recorder;

/* About 150 KiB; writes nothing yet. sink is copied. NULL without memory. */
struct recorder *recorder_new(const struct record_sink *sink);
struct recorder *recorder_free(struct recorder *recorder);

/* Passes on what is still in memory: up to RECORD_BLOCK_BYTES. Returns as recorder_error(). */
int recorder_flush(struct recorder *recorder);
/* The last record, and flushes; nothing may be recorded after it. Returns as recorder_error(). */
int recorder_end(struct recorder *recorder);

/* 0; or what a write failed with; or -ERANGE for an input or -E2BIG for a policy that cannot be. */
int recorder_error(const struct recorder *recorder);
/* Bytes passed to the sink. */
uint64_t recorder_bytes(const struct recorder *recorder);

/* As engine_new(), and begins a recording with it; with a NULL recorder no more. */
struct engine *record_engine_new(struct recorder *recorder, const struct topology *topology,
				 const struct policy *policy);

/*
 * Begins a recording of an engine that ran or was loaded: it starts with the engine's state. All
 * that the engine is told from now on is recorded.
 */
void recorder_begin(struct recorder *recorder, struct engine *engine);
