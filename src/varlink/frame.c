// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/frame.h"

#include <errno.h>
#include <string.h>

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
