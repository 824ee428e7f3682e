// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/record_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/state.h"
#include "shared/cleanup.h"
#include "varlink/reply.h"

#define MESSAGE_BYTES_MAX (128 * 1024)

/* Encodes in Base64 (RFC 4648); the caller frees it. */
static char *encode(const uint8_t *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;

	for (size_t i = 0; text && i < size; i += 3) {
		size_t left = size - i;
		uint32_t bits = data[i] << 16 | (left > 1 ? data[i + 1] << 8 : 0) |
				(left > 2 ? data[i + 2] : 0);

		*at++ = digits[bits >> 18];
		*at++ = digits[bits >> 12 & 63];
		*at++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*at++ = left > 2 ? digits[bits & 63] : '=';
	}
	if (text)
		*at = 0;
	return text;
}

int record_stream_put_reply(struct reply *reply, const char *data, const char *ended,
			    uint64_t bytes)
{
	struct json_out *out = reply_begin(reply);

	field_text(out, "data", data);
	field_text(out, "ended", ended);
	field_count(out, "bytes", bytes);
	return reply_end(reply);
}

static int publish(struct manager *manager, const char *data, const char *ended, uint64_t bytes)
{
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct channel_tag tag = { 0 };
	struct reply reply;
	int r;

	reply_init(&reply, &message, false);
	reply.continues = !ended;
	r = record_stream_put_reply(&reply, data, ended, bytes);
	if (r == 0)
		r = query_server_publish(manager->server, &manager->recording, &tag, &message);
	buffer_deinit(&message);
	return r;
}

int record_stream_send(struct manager *manager, const void *data, size_t size)
{
	_cleanup_free_ char *text = NULL;

	if (!channel_is_heard(&manager->recording))
		return -EPIPE;
	text = encode(data, size);
	return text ? publish(manager, text, NULL, size) : -ENOMEM;
}

void record_stream_end(struct manager *manager, uint64_t bytes, const char *why)
{
	if (!channel_is_heard(&manager->recording))
		return;
	publish(manager, "", why, bytes);
	manager->recording.is_over = true;
}
