/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Writes the answer to one call into a bounded buffer: parameters or an error, as a tree or piece
 * by piece, so that a long list never exists as a whole. A call that wants no answer (oneway) is
 * served by the same functions, which then write nothing.
 *
 * Each returns 0 or a negative errno: -EMSGSIZE when the buffer is full, -ENOMEM. Nothing that was
 * in the buffer before is lost; reply_cancel() takes back what an unfinished reply has written.
 * A parameter of type json_t is consumed, also on failure, and NULL is taken for lack of memory.
 */

#include <jansson.h>
#include <stdbool.h>

#include "varlink/json_out.h"

struct reply {
	struct buffer *output;
	size_t mark; /* length of output before this reply */
	struct json_out out;
	bool continues; /* more replies to this call follow */
};

void reply_init(struct reply *reply, struct buffer *output, bool oneway);

void reply_cancel(struct reply *reply);

/*
 * Begins the parameters; the caller writes their fields, then calls reply_end(). Borrowed until
 * then. Failures show in reply_end(); out->error tells early.
 */
struct json_out *reply_begin(struct reply *reply);
/* name is interface.Error. */
struct json_out *reply_begin_error(struct reply *reply, const char *name);
int reply_end(struct reply *reply);

/* Writes a whole reply from an object. */
int reply_send(struct reply *reply, json_t *parameters);
int reply_send_error(struct reply *reply, const char *name, json_t *parameters);

/* org.varlink.service.InvalidParameter */
int reply_send_invalid(struct reply *reply, const char *parameter);
