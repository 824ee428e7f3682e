// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording of the core's inputs and decisions, sent over the query socket to the client that
 * asked for it: the daemon writes no file.
 */
#include "daemon/modules/modules.h"

#include <errno.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/loop.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"
#include "varlink/reply.h"

#define FLUSH_NS	  1000000000ULL
#define END_BYTES	  (2 * RECORD_FRAME_BYTES) /* reserved for the last frames */
#define MESSAGE_BYTES_MAX (128 * 1024)

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

static int publish(struct recording *recording, const char *data, const char *ended, uint64_t bytes)
{
	struct buffer message = { .max = MESSAGE_BYTES_MAX };
	struct channel_tag tag = { 0 };
	struct reply reply;
	int r;

	reply_init(&reply, &message, false);
	r = put_reply(&reply, data, ended, bytes);
	if (r == 0)
		r = query_server_publish(recording->core->server, &recording->channel, &tag,
					 &message);
	buffer_deinit(&message);
	return r;
}

static int send_block(void *userdata, const void *data, size_t size)
{
	struct recording *recording = userdata;
	size_t length = (size + 2) / 3 * 4 + 1;
	_cleanup_free_ char *text = malloc(length);

	if (!channel_has_subscriber(&recording->channel))
		return -EPIPE;
	if (!text || b64_ntop(data, size, text, length) < 0)
		return -ENOMEM;
	return publish(recording, text, NULL, size);
}

static void end_recording(struct recording *recording)
{
	engine_set_tap(recording->core->engine, NULL, NULL);
	recording->recorder = recorder_free(recording->recorder);
}

int recording_start(struct recording *recording, uint64_t max_bytes, struct reply *reply)
{
	int r;

	/* The end of an earlier client was not noticed yet. */
	end_recording(recording);
	recording->recorder = recorder_new(send_block, recording);
	if (!recording->recorder)
		return -ENOMEM;
	recorder_begin(recording->recorder, recording->core->engine, time_now_ns());
	r = recording->recorder->error;
	if (r == 0)
		r = put_reply(reply, "", NULL, 0);
	if (r < 0) {
		end_recording(recording);
		return r;
	}
	recording->max_bytes = max_bytes;
	recording->flushed_ns = time_now_ns();
	log_info("recording the core's inputs and decisions, %llu MiB at most",
		 (unsigned long long)(max_bytes >> 20));
	return 0;
}

void recording_stop(struct recording *recording, const char *why)
{
	int r;

	if (!recording->recorder)
		return;
	r = recorder_end(recording->recorder, time_now_ns());
	if (r < 0)
		why = "failed";
	if (channel_has_subscriber(&recording->channel)) {
		publish(recording, "", why, recording->recorder->bytes);
		recording->channel.is_over = true;
	}
	log_info("the recording ended: %s", r < 0 ? strerror(-r) : why);
	end_recording(recording);
}

/* Sends what was recorded, and ends the recording when it is full. */
static void run(void *state, uint64_t now_ns)
{
	struct recording *recording = state;

	if (!recording->recorder)
		return;
	if (recording->recorder->bytes + END_BYTES >= recording->max_bytes) {
		recording_stop(recording, "size");
		return;
	}
	if (now_ns - recording->flushed_ns >= FLUSH_NS) {
		recorder_flush(recording->recorder);
		recording->flushed_ns = now_ns;
	}
	if (recording->recorder->error)
		recording_stop(recording, "failed");
}

static void free_recorder(void *state)
{
	recorder_free(((struct recording *)state)->recorder);
}

static bool needs_tracer(const void *state)
{
	return channel_has_subscriber(&((const struct recording *)state)->channel);
}

const struct module recording_module = {
	.name = "recording",
	.free = free_recorder,
	.run = run,
	.needs_tracer = needs_tracer,
};
