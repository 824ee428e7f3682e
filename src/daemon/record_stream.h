/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The replies of io.wakegov.Record: a recording, block by block, to the client that asked for it.
 */

#include "varlink/reply.h"

struct manager;

/* Writes one reply. ended: NULL while more follow. */
int record_stream_put_reply(struct reply *reply, const char *data, const char *ended,
			    uint64_t bytes);

/* Sends a block. Returns 0, -EPIPE when the client has gone, or another negative errno. */
int record_stream_send(struct manager *manager, const void *data, size_t size);

/* Sends the last reply, after which the client may call again. why: stopped, size, failed. */
void record_stream_end(struct manager *manager, uint64_t bytes, const char *why);
