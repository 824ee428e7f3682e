/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Records the calls that change an engine, as the engine reports them (engine_set_tap()). A
 * recording starts with a new engine or with the state of a running one, and ends before the
 * recorder is freed: with engine_set_tap(engine, NULL, NULL), or with the engine. A failed write
 * fails no call: the first failure is kept, nothing more is written, and recorder_end() returns it.
 */

#include <stddef.h>

#include "core/engine.h"
#include "record/format.h"

/* Writes all of data, or returns a negative errno. Called with whole blocks, in order. */
struct record_sink {
	int (*write)(void *userdata, const void *data, size_t size);
	void *userdata;
};

struct recorder;

/* Takes about 150 KiB; writes nothing yet. sink is copied. NULL without memory. */
struct recorder *recorder_new(const struct record_sink *sink);
struct recorder *recorder_free(struct recorder *recorder);

/* Writes the open block, up to RECORD_BLOCK_BYTES. Returns as recorder_error(). */
int recorder_flush(struct recorder *recorder);
/*
 * Writes the last record and flushes; nothing may be recorded after it. Returns as
 * recorder_error().
 */
int recorder_end(struct recorder *recorder);

/*
 * 0; or the error of a write; or -ERANGE for an impossible input, or -E2BIG for a policy that does
 * not fit.
 */
int recorder_error(const struct recorder *recorder);
/* Bytes passed to the sink. */
uint64_t recorder_bytes(const struct recorder *recorder);

/* As engine_new(), and begins a recording of it unless recorder is NULL. */
struct engine *record_engine_new(struct recorder *recorder, const struct topology *topology,
				 const struct policy *policy);

/*
 * Begins a recording of an engine that ran or was loaded: it starts with the engine's state, and
 * has every later call.
 */
void recorder_begin(struct recorder *recorder, struct engine *engine);
