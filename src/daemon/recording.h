/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording of what the core is told and decides, sent over the query socket to the one client
 * that asked for it: the daemon writes no file.
 */

#include <stdint.h>

struct manager;

#define RECORDING_BYTES_LEAST	(1ULL << 20)
#define RECORDING_BYTES_DEFAULT (64ULL << 20)

/*
 * From now on the engine is another one that goes on as the old one, and all it is told is
 * recorded, up to max_bytes. The server must have its subscriber. Returns 0 or a negative errno,
 * and nothing is changed.
 */
int recording_start(struct manager *manager, uint64_t max_bytes);

/* Ends it in good order; harmless when there is none. why: a word for the client. */
void recording_stop(struct manager *manager, const char *why);

/* At the end of a round: what there is goes out, and an end where it is time for one. */
void recording_keep(struct manager *manager, uint64_t now_ns);
