/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A bounded queue of bytes, embedded in its owner; all zero but for max is a valid empty one. It
 * never holds more than max bytes, and an empty one frees its memory, so that idle clients cost
 * nothing.
 */

#include <stddef.h>
#include <sys/types.h>

struct buffer {
	char *data;
	size_t start;  /* offset of the first byte */
	size_t length; /* number of bytes from there */
	size_t size;   /* allocated */
	size_t max;    /* bound on length */
};

void buffer_deinit(struct buffer *buffer);

static inline char *buffer_bytes(const struct buffer *buffer)
{
	return buffer->data + buffer->start;
}

/* Returns 0, -EMSGSIZE or -ENOMEM: all of it is appended, or nothing. */
int buffer_append(struct buffer *buffer, const void *bytes, size_t n_bytes);

/* Removes n_bytes, at most the length, from the front. */
void buffer_consume(struct buffer *buffer, size_t n_bytes);

/* Removes what was appended after the buffer had this length. */
void buffer_truncate(struct buffer *buffer, size_t length);

/*
 * Appends what one read of the non-blocking socket returns. Returns the number of bytes, 0 at the
 * end of the stream, -EAGAIN, -EMSGSIZE without room, or another errno. The kernel discards
 * descriptors sent along, as recv() does not ask for them.
 */
ssize_t buffer_receive(struct buffer *buffer, int fd);

/*
 * Sends from the front until the buffer is empty (0), the socket is full (-EAGAIN) or sending
 * fails.
 */
int buffer_send(struct buffer *buffer, int fd);

/* Varlink's framing: messages in a stream of bytes, each ended by a NUL. */
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
