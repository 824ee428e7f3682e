/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Writes the answer to a call: JSON text straight into a bounded buffer. A list of a thousand
 * domains costs only its text; jansson's tree would cost several times the time and memory.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varlink/buffer.h"

/* After the first failure nothing more is written, so callers check once, at the end. */
struct json_out {
	struct buffer *buffer; /* borrowed; NULL: the call wants no reply */
	int error;	       /* 0, -EMSGSIZE or -ENOMEM */
	bool separate;	       /* the next element needs a comma */
	size_t used;	       /* used bytes of scratch */
	char scratch[1024];    /* not in the buffer yet */
};

void json_out_init(struct json_out *out, struct buffer *buffer);

/* Moves all that was written into the buffer. Returns 0 or the first failure. */
int json_out_flush(struct json_out *out);

/* Begins an object ({) or list ([), as the next element or behind a key; and ends it. */
void json_out_open(struct json_out *out, char bracket);
void json_out_close(struct json_out *out, char bracket);

/* The name of a field, plain ASCII and short; a value or json_out_open() follows. */
void json_out_key(struct json_out *out, const char *key);

/*
 * A field of the open object, as io.wakegov.varlink describes it. Without a key: an element of the
 * open list, or the value behind json_out_key().
 */

void field_null(struct json_out *out, const char *key);
void field_bool(struct json_out *out, const char *key, bool value);
/* JSON readers have 63 bits, which no count here reaches; a larger number is cut. */
void field_count(struct json_out *out, const char *key, uint64_t value);
/*
 * NULL becomes null. Escapes unsafe characters (shared/text.h), and replaces bytes that are not
 * UTF-8 by U+FFFD.
 */
void field_text(struct json_out *out, const char *key, const char *text);

/* A value that is JSON already. */
void field_json(struct json_out *out, const char *key, const char *json);

/* Opens an object ({) or a list ([), until json_out_close(). */
static inline void field_open(struct json_out *out, const char *key, char bracket)
{
	json_out_key(out, key);
	json_out_open(out, bracket);
}

/* The same of an object; or null, unless known. Returns known. */
static inline bool field_open_if(struct json_out *out, const char *key, bool known)
{
	if (known)
		field_open(out, key, '{');
	else
		field_null(out, key);
	return known;
}

/* null unless known. */
static inline void field_count_if(struct json_out *out, const char *key, bool known, uint64_t value)
{
	if (known)
		field_count(out, key, value);
	else
		field_null(out, key);
}

/* null for 0, which stands for "not known" or "none". */
static inline void field_nonzero(struct json_out *out, const char *key, uint64_t value)
{
	field_count_if(out, key, value != 0, value);
}

/*
 * The answer to one call. For a call without an answer (oneway) the same functions write nothing.
 *
 * Each returns 0 or a negative errno: -EMSGSIZE when the buffer is full, -ENOMEM. The buffer's
 * earlier content stays; reply_cancel() removes what an unfinished reply has written. A parameter
 * of type json_t is consumed, also on failure, and NULL counts as lack of memory.
 */
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
/* The same for an error; name is interface.Error. */
struct json_out *reply_begin_error(struct reply *reply, const char *name);
int reply_end(struct reply *reply);

/* Writes a whole reply from an object. */
int reply_send(struct reply *reply, json_t *parameters);
int reply_send_error(struct reply *reply, const char *name, json_t *parameters);

/* org.varlink.service.InvalidParameter */
int reply_send_invalid(struct reply *reply, const char *parameter);
