// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/recording.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/cleanup.h"

#define MESSAGE_BYTES_MAX (128 * 1024)

/* Base64, as of RFC 4648; the caller frees it. */
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

static int write_reply(struct reply *reply, const char *data, const char *ended, uint64_t bytes)
{
	struct json_out *out = reply_begin(reply);

	json_out_key(out, "data");
	json_out_text(out, data);
	json_out_key(out, "ended");
	json_out_text(out, ended);
	json_out_key(out, "bytes");
	json_out_count(out, bytes);
	return reply_end(reply);
}

static int publish(struct channel *recording, const char *data, const char *ended, uint64_t bytes)
{
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct channel_tag tag = { 0 };
	struct reply reply;
	int r;

	reply_init(&reply, &message, false);
	reply.continues = !ended;
	r = write_reply(&reply, data, ended, bytes);
	if (r == 0)
		r = channel_publish(recording, &tag, buffer_bytes(&message), message.length);
	buffer_deinit(&message);
	return r;
}

int recording_publish(struct channel *recording, const void *data, size_t size)
{
	_cleanup_free_ char *text = NULL;

	if (!channel_is_heard(recording))
		return -EPIPE;
	text = encode(data, size);
	return text ? publish(recording, text, NULL, size) : -ENOMEM;
}

void recording_finish(struct channel *recording, uint64_t bytes, const char *why)
{
	if (!channel_is_heard(recording))
		return;
	publish(recording, "", why, bytes);
	recording->is_over = true;
}

int recording_subscribe(const struct call *call, struct reply *reply)
{
	const json_t *given = json_object_get(call->parameters, "max_bytes");
	const struct channel_filter filter = { .kinds = 1 };
	int r;

	if (json_is_integer(given) && json_integer_value(given) <= 0)
		return reply_send_invalid(reply, "max_bytes");
	if (channel_is_heard(call->recording))
		return reply_send_error(reply, "io.wakegov.RecordingBusy", json_object());
	r = channel_subscribe(call->recording, &filter, call->subscription);
	if (r < 0)
		return r;
	r = call->source->record_start(call->source->userdata, json_integer_value(given));
	if (r >= 0) {
		reply->continues = true;
		r = write_reply(reply, "", NULL, 0);
	}
	if (r < 0)
		channel_unsubscribe(call->subscription);
	return r;
}

int recording_stop_for_client(const struct call *call, struct reply *reply)
{
	if (!channel_is_heard(call->recording) || call->recording->is_over)
		return reply_send_error(reply, "io.wakegov.NoRecording", json_object());
	call->source->record_stop(call->source->userdata);
	return reply_send(reply, json_object());
}
