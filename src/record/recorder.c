// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes each call as its raw struct into a frame, which is compressed and passed on when it is
 * full, or when the caller asks for it.
 */
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "build-id.h"

struct recorder *recorder_new(record_write_t write, void *userdata)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return NULL;
	recorder->write = write;
	recorder->userdata = userdata;
	recorder->zstd = ZSTD_createCCtx();
	if (!recorder->zstd)
		return recorder_free(recorder);
	ZSTD_CCtx_setParameter(recorder->zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(recorder->zstd, ZSTD_c_checksumFlag, 1);
	return recorder;
}

struct recorder *recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return NULL;
	ZSTD_freeCCtx(recorder->zstd);
	free(recorder);
	return NULL;
}

static void pass_on(struct recorder *recorder, const void *data, size_t size)
{
	recorder->error = recorder->write(recorder->userdata, data, size);
	if (recorder->error == 0)
		recorder->bytes += size;
}

int recorder_flush(struct recorder *recorder)
{
	uint8_t compressed[ZSTD_COMPRESSBOUND(RECORD_FRAME_BYTES)];
	size_t n;

	if (recorder->error || !recorder->n)
		return recorder->error;
	n = ZSTD_compress2(recorder->zstd, compressed, sizeof(compressed), recorder->frame,
			   recorder->n);
	recorder->n = 0;
	if (ZSTD_isError(n))
		recorder->error = -EIO;
	else
		pass_on(recorder, compressed, n);
	return recorder->error;
}

static void add_bytes(struct recorder *recorder, const void *data, size_t size)
{
	while (size && !recorder->error) {
		size_t room = sizeof(recorder->frame) - recorder->n, n = size < room ? size : room;

		memcpy(recorder->frame + recorder->n, data, n);
		recorder->n += n;
		data = (const char *)data + n;
		size -= n;
		if (n == room)
			recorder_flush(recorder);
	}
}

static void add_record(struct recorder *recorder, uint32_t type, uint32_t value, const void *body,
		       size_t size)
{
	const struct record_tag tag = { recorder->now_ns, type, value };

	add_bytes(recorder, &tag, sizeof(tag));
	add_bytes(recorder, body, size);
}

/* For engine_set_tap(). */
static void add_call(void *userdata, const struct engine_call *call)
{
	struct recorder *recorder = userdata;
	static const struct task_class no_class;
	static const struct task_clamp no_clamp;

	switch (call->type) {
	case ENGINE_APPLY:
		recorder->now_ns = call->input->now_ns;
		add_record(recorder, call->type, call->input->type,
			   (const char *)call->input + RECORD_INPUT_AT,
			   record_input_size(call->input->type));
		break;
	case ENGINE_ADVANCE:
		recorder->now_ns = call->now_ns;
		add_record(recorder, call->type, 0, NULL, 0);
		break;
	case ENGINE_COMMIT:
		recorder->now_ns = call->now_ns;
		add_record(recorder, call->type, call->outcome, call->decision,
			   sizeof(*call->decision));
		break;
	case ENGINE_SET_POLICY:
		recorder->now_ns = call->now_ns;
		add_record(recorder, call->type, 0, call->policy, sizeof(*call->policy));
		break;
	case ENGINE_FORGET_TARGET:
		add_record(recorder, call->type, call->domain, NULL, 0);
		break;
	case ENGINE_POP_ENDED:
		add_record(recorder, call->type, call->handle, NULL, 0);
		break;
	case ENGINE_POP_CLASS:
		add_record(recorder, call->type, 0, call->class ?: &no_class, sizeof(no_class));
		break;
	case ENGINE_POP_CLAMP:
		add_record(recorder, call->type, 0, call->clamp ?: &no_clamp, sizeof(no_clamp));
		break;
	}
}

void recorder_begin(struct recorder *recorder, struct engine *engine, uint64_t now_ns)
{
	const struct record_head head = { RECORD_MAGIC, RECORD_BUILD };
	const struct topology *topology = engine_topology(engine);
	struct policy policy = *engine_policy(engine);

	/* The sizes in the policy may have changed since the engine was made. */
	policy.max_tasks = io_task_size(engine_tasks(engine));
	policy.max_ruled_tasks = task_count_max(engine_tasks(engine));
	recorder->now_ns = now_ns;
	pass_on(recorder, &head, sizeof(head));
	add_record(recorder, RECORD_TOPOLOGY, topology->n_domains, topology,
		   sizeof(*topology) + topology->n_domains * sizeof(topology->domains[0]));
	add_record(recorder, ENGINE_SET_POLICY, 0, &policy, sizeof(policy));
	add_record(recorder, RECORD_STATE, 0, engine_state(engine),
		   engine_state_size(topology, &policy));
	recorder_flush(recorder);
	engine_set_tap(engine, add_call, recorder);
}

int recorder_end(struct recorder *recorder, uint64_t now_ns)
{
	if (now_ns > recorder->now_ns)
		recorder->now_ns = now_ns;
	add_record(recorder, RECORD_END, 0, NULL, 0);
	return recorder_flush(recorder);
}
