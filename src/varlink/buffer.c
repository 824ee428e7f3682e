// SPDX-License-Identifier: GPL-2.0-only
/* A bounded queue of bytes, and the frames in it. */
#include "varlink/buffer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SIZE_FIRST  4096
#define RECEIVE_MAX (16 * 1024)

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ .max = buffer->max };
}

/*
 * Makes room for extra more bytes. Returns 0, -EMSGSIZE beyond max or -ENOMEM; on failure the
 * content stays.
 */
static int reserve(struct buffer *buffer, size_t extra)
{
	size_t needed, size;
	char *data;

	if (buffer->length > buffer->max || extra > buffer->max - buffer->length)
		return -EMSGSIZE;

	needed = buffer->length + extra;
	if (buffer->start + needed <= buffer->size)
		return 0;

	if (buffer->start) {
		memmove(buffer->data, buffer_bytes(buffer), buffer->length);
		buffer->start = 0;
	}
	if (needed <= buffer->size)
		return 0;

	size = buffer->size ? buffer->size : SIZE_FIRST;
	while (size < needed)
		size *= 2;

	data = realloc(buffer->data, size);
	if (!data)
		return -ENOMEM;

	buffer->data = data;
	buffer->size = size;
	return 0;
}

int buffer_append(struct buffer *buffer, const void *bytes, size_t n_bytes)
{
	int r;

	if (!n_bytes)
		return 0;

	r = reserve(buffer, n_bytes);
	if (r < 0)
		return r;

	memcpy(buffer_bytes(buffer) + buffer->length, bytes, n_bytes);
	buffer->length += n_bytes;
	return 0;
}

void buffer_consume(struct buffer *buffer, size_t n_bytes)
{
	assert(n_bytes <= buffer->length);

	buffer->start += n_bytes;
	buffer->length -= n_bytes;
	if (!buffer->length)
		buffer_deinit(buffer);
}

void buffer_truncate(struct buffer *buffer, size_t length)
{
	assert(length <= buffer->length);

	buffer->length = length;
	if (!length)
		buffer_deinit(buffer);
}

ssize_t buffer_receive(struct buffer *buffer, int fd)
{
	size_t room = buffer->max > buffer->length ? buffer->max - buffer->length : 0;
	ssize_t n;
	int r;

	if (!room)
		return -EMSGSIZE;
	if (room > RECEIVE_MAX)
		room = RECEIVE_MAX;

	r = reserve(buffer, room);
	if (r < 0)
		return r;

	n = recv(fd, buffer_bytes(buffer) + buffer->length, room, MSG_DONTWAIT);
	if (n < 0)
		n = -errno;
	else
		buffer->length += (size_t)n;

	if (!buffer->length)
		buffer_deinit(buffer);
	return n;
}

int buffer_send(struct buffer *buffer, int fd)
{
	while (buffer->length) {
		ssize_t n = send(fd, buffer_bytes(buffer), buffer->length,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buffer_consume(buffer, (size_t)n);
	}
	return 0;
}

void frame_reader_deinit(struct frame_reader *reader)
{
	buffer_deinit(&reader->input);
	reader->scanned = 0;
}

void frame_reader_set_max(struct frame_reader *reader, size_t max_message_bytes)
{
	reader->input.max = max_message_bytes + 1;
}

int frame_reader_peek(struct frame_reader *reader, const char **ret_message, size_t *ret_length)
{
	struct buffer *input = &reader->input;
	const char *start, *end;

	if (!input->length)
		return 0;

	start = buffer_bytes(input);
	/* An incomplete message is not searched again from its first byte. */
	end = memchr(start + reader->scanned, '\0', input->length - reader->scanned);
	reader->scanned = end ? (size_t)(end - start) : input->length;
	if (reader->scanned >= input->max)
		return -EMSGSIZE;
	if (!end)
		return 0;

	*ret_message = start;
	*ret_length = reader->scanned;
	return 1;
}

void frame_reader_pop(struct frame_reader *reader, size_t length)
{
	buffer_consume(&reader->input, length + 1);
	reader->scanned = 0;
}
