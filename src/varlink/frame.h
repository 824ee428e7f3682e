/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Varlink's framing: messages in a stream of bytes, each ended by a NUL. */

#include "varlink/buffer.h"

struct frame_reader {
	struct buffer input;
	size_t scanned; /* bytes of input known to hold no NUL */
};

void frame_reader_deinit(struct frame_reader *reader);

/* Bounds a message to max_message_bytes, not counting its NUL. */
void frame_reader_set_max(struct frame_reader *reader, size_t max_message_bytes);

/*
 * Finds the first message. Returns 1 and the message, which stays valid until the reader changes; 0
 * if it is not complete yet; -EMSGSIZE if it is longer than allowed. frame_reader_pop() consumes
 * it.
 */
int frame_reader_peek(struct frame_reader *reader, const char **ret_message, size_t *ret_length);

/* Drops the message of length bytes that frame_reader_peek() gave. */
void frame_reader_pop(struct frame_reader *reader, size_t length);
