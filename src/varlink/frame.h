/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Varlink's framing: messages that end with a NUL, cut out of a stream of bytes. */

#include "varlink/buffer.h"

struct frame_reader {
	struct buffer input;
	size_t scanned; /* bytes of input that are known to hold no NUL */
};

void frame_reader_deinit(struct frame_reader *reader);

/* Bounds a message to max_message_bytes, not counting its NUL. */
void frame_reader_set_max(struct frame_reader *reader, size_t max_message_bytes);

/*
 * Looks at the first message. Returns 1 and the message, which stays valid until the reader is
 * touched again; 0 if it is not complete yet; -EMSGSIZE if it is longer than allowed. Looking does
 * not consume: frame_reader_pop() does.
 */
int frame_reader_peek(struct frame_reader *reader, const char **ret_message, size_t *ret_length);

/* Drops the message of length bytes that frame_reader_peek() gave. */
void frame_reader_pop(struct frame_reader *reader, size_t length);
