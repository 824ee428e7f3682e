/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording of the core's inputs and decisions, sent over the query socket to the client that
 * asked for it: the daemon writes no file.
 */

#include <stdint.h>

struct manager;
struct reply;

#define RECORDING_BYTES_LEAST	(1ULL << 20)
#define RECORDING_BYTES_DEFAULT (64ULL << 20)

/*
 * Starts a recording of up to max_bytes: replaces the engine by one that continues its state. The
 * channel must have its subscriber. Writes the first reply of io.wakegov.Record. Returns 0, or a
 * negative errno with nothing changed.
 */
int recording_start(struct manager *manager, uint64_t max_bytes, struct reply *reply);

/* Ends the recording, if any. why: a word for the client. */
void recording_stop(struct manager *manager, const char *why);

/* For the end of a round: sends what was recorded, and ends the recording when it is full. */
void recording_keep(struct manager *manager, uint64_t now_ns);
