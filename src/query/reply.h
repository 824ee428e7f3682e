/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Writes the answer to one call into a bounded buffer: an object, an error, or a list that goes
 * out element by element so that its JSON tree never exists as a whole. A call that wants no
 * answer (oneway) is served by the same functions, which then write nothing.
 *
 * Each returns 0 or a negative errno: -EMSGSIZE when the buffer is full, -ENOMEM. Nothing that was
 * in the buffer before is lost; reply_cancel() takes back what an unfinished reply has written.
 * A parameter of type json_t is consumed, also on failure, and NULL is taken for lack of memory.
 */

#include <jansson.h>
#include <stdbool.h>

#include "query/buffer.h"

struct reply {
	struct buffer *output;
	size_t mark; /* length of output before this reply */
	size_t elements;
	bool silent;
};

void reply_init(struct reply *reply, struct buffer *output, bool oneway);

void reply_cancel(struct reply *reply);

int reply_send(struct reply *reply, json_t *parameters);

/* name is interface.Error; parameters an object. */
int reply_send_error(struct reply *reply, const char *name, json_t *parameters);

/* org.varlink.service.InvalidParameter. */
int reply_send_invalid(struct reply *reply, const char *parameter);

/* {"parameters": {key: [element, …]}} */
int reply_begin_list(struct reply *reply, const char *key);
int reply_add_element(struct reply *reply, json_t *element);
int reply_end_list(struct reply *reply);
