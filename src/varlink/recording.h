/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* io.wakegov.Record: a recording, block by block, to the one client that asked for it. */

#include "varlink/channel.h"
#include "varlink/reply.h"

/* One reply of the method. ended: NULL while more follow. */
int recording_put_reply(struct reply *reply, const char *data, const char *ended, uint64_t bytes);

/* Returns 0, -EPIPE when its client has gone, or another negative errno. */
int recording_publish(struct channel *recording, const void *data, size_t size);

/* The last reply of the call. why: stopped, size, failed. */
void recording_finish(struct channel *recording, uint64_t bytes, const char *why);
