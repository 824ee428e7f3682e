/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Writes JSON into a bounded buffer directly, without a tree in memory: a list of a thousand
 * domains costs only its text. After the first failure nothing more is written, so callers check
 * once, at the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varlink/buffer.h"

struct json_out {
	struct buffer *buffer; /* borrowed; NULL: no reply is wanted */
	int error;	       /* 0, -EMSGSIZE or -ENOMEM */
	bool separate;	       /* the next element needs a comma */
	size_t used;	       /* used bytes of scratch */
	char scratch[1024];    /* not in the buffer yet */
};

void json_out_init(struct json_out *out, struct buffer *buffer);

/* Puts all that was written into the buffer. Returns 0 or the first failure. */
int json_out_flush(struct json_out *out);

/* Begins an object ({) or list ([), as the next element or behind a key; and ends it. */
void json_out_open(struct json_out *out, char bracket);
void json_out_close(struct json_out *out, char bracket);

/* The name of a field, plain ASCII and short; a value or json_out_open() follows. */
void json_out_key(struct json_out *out, const char *key);

void json_out_null(struct json_out *out);
void json_out_bool(struct json_out *out, bool value);
/* JSON readers have 63 bits, which nothing counted here reaches; a larger number is cut. */
void json_out_count(struct json_out *out, uint64_t value);
/*
 * NULL is null. Escapes what is unsafe (shared/text.h), and replaces bytes that are no UTF-8 by
 * U+FFFD.
 */
void json_out_text(struct json_out *out, const char *text);

/* Writes JSON text as it is. */
void json_out_raw(struct json_out *out, const char *text, size_t length);
