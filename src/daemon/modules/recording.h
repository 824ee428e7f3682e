/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording of the core's inputs and decisions, sent over the query socket to the client that
 * asked for it: the daemon writes no file.
 */

#include "daemon/module.h"
#include "record/recorder.h"

struct reply;

struct recording {
	struct core *core;
	struct channel channel;	   /* blocks, to the client of Record */
	struct recorder *recorder; /* NULL while nothing is recorded */
	uint64_t max_bytes;
	uint64_t flushed_ns;
};

extern const struct module recording_module;

#define RECORDING_BYTES_LEAST	(1ULL << 20)
#define RECORDING_BYTES_DEFAULT (64ULL << 20)

/*
 * Starts a recording of up to max_bytes: replaces the engine by one that continues its state. The
 * channel must have its subscriber. Writes the first reply of io.wakegov.Record. Returns 0, or a
 * negative errno with nothing changed.
 */
int recording_start(struct recording *recording, uint64_t max_bytes, struct reply *reply);

/* Ends the recording, if any. why: a word for the client. */
void recording_stop(struct recording *recording, const char *why);
