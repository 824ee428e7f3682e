// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/recording.h"

#include <errno.h>
#include <string.h>

#include "daemon/record_stream.h"
#include "daemon/state.h"
#include "shared/log.h"
#include "shared/time.h"

#define FLUSH_NS  1000000000ULL
#define END_BYTES (2 * RECORD_BLOCK_MAX) /* reserved for the last blocks */

static int send_block(void *userdata, const void *data, size_t size)
{
	return record_stream_send(userdata, data, size);
}

static void end_recording(struct manager *manager)
{
	engine_set_tap(manager->engine, NULL, NULL);
	manager->recorder = recorder_free(manager->recorder);
}

int recording_start(struct manager *manager, uint64_t max_bytes)
{
	const struct record_sink sink = { .write = send_block, .userdata = manager };
	int r;

	/* The end of an earlier client was not noticed yet. */
	end_recording(manager);
	manager->recorder = recorder_new(&sink);
	if (!manager->recorder)
		return -ENOMEM;
	recorder_begin(manager->recorder, manager->engine);
	r = recorder_error(manager->recorder);
	if (r < 0) {
		end_recording(manager);
		return r;
	}
	manager->recording_max_bytes = max_bytes;
	manager->recording_flushed_ns = time_now_ns();
	log_info("recording what the core is told and decides, %llu MiB at most",
		 (unsigned long long)(max_bytes >> 20));
	return 0;
}

void recording_stop(struct manager *manager, const char *why)
{
	int r;

	if (!manager->recorder)
		return;
	r = recorder_end(manager->recorder);
	record_stream_end(manager, recorder_bytes(manager->recorder), r < 0 ? "failed" : why);
	log_info("the recording ended: %s", r < 0 ? strerror(-r) : why);
	end_recording(manager);
}

void recording_keep(struct manager *manager, uint64_t now_ns)
{
	if (!manager->recorder)
		return;
	if (recorder_bytes(manager->recorder) + END_BYTES >= manager->recording_max_bytes) {
		recording_stop(manager, "size");
		return;
	}
	if (now_ns - manager->recording_flushed_ns >= FLUSH_NS) {
		recorder_flush(manager->recorder);
		manager->recording_flushed_ns = now_ns;
	}
	if (recorder_error(manager->recorder))
		recording_stop(manager, "failed");
}
