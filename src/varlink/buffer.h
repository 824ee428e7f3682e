/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A bounded queue of bytes: in at the end, out at the front. Embedded in its owner; all zero but
 * for max is a valid empty one. It never holds more than max bytes, and an empty one gives its
 * memory back, so that idle clients cost nothing.
 */

#include <stddef.h>
#include <sys/types.h>

struct buffer {
	char *data;
	size_t start;  /* offset of the first byte that is still wanted */
	size_t length; /* bytes from there on */
	size_t size;   /* allocated */
	size_t max;    /* bound on length */
};

void buffer_deinit(struct buffer *buffer);

static inline char *buffer_bytes(const struct buffer *buffer)
{
	return buffer->data + buffer->start;
}

/*
 * Makes room for extra more bytes. Returns 0, -EMSGSIZE beyond max or -ENOMEM; on failure the
 * content stays.
 */
int buffer_reserve(struct buffer *buffer, size_t extra);

/* Returns 0, -EMSGSIZE or -ENOMEM: all of it is appended, or nothing. */
int buffer_append(struct buffer *buffer, const void *bytes, size_t n_bytes);

/* Takes n_bytes, at most the length, off the front. */
void buffer_consume(struct buffer *buffer, size_t n_bytes);

/* Forgets what was appended after the buffer had this length. */
void buffer_truncate(struct buffer *buffer, size_t length);

/*
 * Appends what the non-blocking socket has to give, at most one read. Returns the number of bytes,
 * 0 at the end of the stream, -EAGAIN, -EMSGSIZE when there is no room, or another errno.
 * Descriptors that are sent along are discarded by the kernel, as recv() does not ask for them.
 */
ssize_t buffer_receive(struct buffer *buffer, int fd);

/* Sends from the front until all is gone (0), the socket is full (-EAGAIN) or it fails. */
int buffer_send(struct buffer *buffer, int fd);
