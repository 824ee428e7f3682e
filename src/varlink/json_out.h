/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Writes JSON into a bounded buffer as it goes, without a tree in memory: a list of a thousand
 * domains costs its text and nothing else. The first failure stays, and what is written after it
 * goes nowhere, so callers look once, at the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varlink/buffer.h"

struct json_out {
	struct buffer *buffer; /* borrowed; NULL: no reply is wanted */
	int error;	       /* 0, -EMSGSIZE or -ENOMEM */
	bool separate;	       /* an element stands before the next one */
	size_t used;	       /* of scratch */
	char scratch[1024];    /* not in the buffer yet */
};

void json_out_init(struct json_out *out, struct buffer *buffer);

/* What was written is in the buffer from then on. Returns 0 or the first failure. */
int json_out_flush(struct json_out *out);

/* { or [, as the next element or behind a key; and what ends it. */
void json_out_open(struct json_out *out, char bracket);
void json_out_close(struct json_out *out, char bracket);

/* The name of a field, plain ASCII and short; a value or json_out_open() follows. */
void json_out_key(struct json_out *out, const char *key);

void json_out_null(struct json_out *out);
void json_out_bool(struct json_out *out, bool value);
/* JSON readers have 63 bits; nothing that is counted here gets near them, and more is cut. */
void json_out_count(struct json_out *out, uint64_t value);
/*
 * NULL is null. What is unsafe (shared/text.h) is escaped, a byte that belongs to no UTF-8
 * character becomes U+FFFD.
 */
void json_out_text(struct json_out *out, const char *text);

/* JSON that stands ready, taken as it is. */
void json_out_raw(struct json_out *out, const char *text, size_t length);
