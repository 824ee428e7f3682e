// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/manager.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"
#include "varlink/reply.h"

#define FLUSH_NS	  1000000000ULL
#define END_BYTES	  (2 * RECORD_BLOCK_MAX) /* reserved for the last blocks */
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

/* ended: NULL while more replies follow, else why none does: stopped, size, failed. */
static int put_reply(struct reply *reply, const char *data, const char *ended, uint64_t bytes)
{
	struct json_out *out = reply_begin(reply);

	reply->continues = !ended;
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
	r = put_reply(&reply, data, ended, bytes);
	if (r == 0)
		r = query_server_publish(manager->server, &manager->recording.channel, &tag,
					 &message);
	buffer_deinit(&message);
	return r;
}

static int send_block(void *userdata, const void *data, size_t size)
{
	struct manager *manager = userdata;
	_cleanup_free_ char *text = NULL;

	if (!channel_has_subscriber(&manager->recording.channel))
		return -EPIPE;
	text = encode(data, size);
	return text ? publish(manager, text, NULL, size) : -ENOMEM;
}

static void end_recording(struct manager *manager)
{
	engine_set_tap(manager->engine, NULL, NULL);
	manager->recording.recorder = recorder_free(manager->recording.recorder);
}

int recording_start(struct manager *manager, uint64_t max_bytes, struct reply *reply)
{
	const struct record_sink sink = { .write = send_block, .userdata = manager };
	struct recording *recording = &manager->recording;
	int r;

	/* The end of an earlier client was not noticed yet. */
	end_recording(manager);
	recording->recorder = recorder_new(&sink);
	if (!recording->recorder)
		return -ENOMEM;
	recorder_begin(recording->recorder, manager->engine);
	r = recorder_error(recording->recorder);
	if (r == 0)
		r = put_reply(reply, "", NULL, 0);
	if (r < 0) {
		end_recording(manager);
		return r;
	}
	recording->max_bytes = max_bytes;
	recording->flushed_ns = time_now_ns();
	log_info("recording the core's inputs and decisions, %llu MiB at most",
		 (unsigned long long)(max_bytes >> 20));
	return 0;
}

void recording_stop(struct manager *manager, const char *why)
{
	struct recording *recording = &manager->recording;
	int r;

	if (!recording->recorder)
		return;
	r = recorder_end(recording->recorder);
	if (r < 0)
		why = "failed";
	if (channel_has_subscriber(&recording->channel)) {
		publish(manager, "", why, recorder_bytes(recording->recorder));
		recording->channel.is_over = true;
	}
	log_info("the recording ended: %s", r < 0 ? strerror(-r) : why);
	end_recording(manager);
}

void recording_keep(struct manager *manager, uint64_t now_ns)
{
	struct recording *recording = &manager->recording;

	if (!recording->recorder)
		return;
	if (recorder_bytes(recording->recorder) + END_BYTES >= recording->max_bytes) {
		recording_stop(manager, "size");
		return;
	}
	if (now_ns - recording->flushed_ns >= FLUSH_NS) {
		recorder_flush(recording->recorder);
		recording->flushed_ns = now_ns;
	}
	if (recorder_error(recording->recorder))
		recording_stop(manager, "failed");
}
