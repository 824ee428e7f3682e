// SPDX-License-Identifier: GPL-2.0-only
#include "record/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/body.h"

#define STATE_PIECE 256 /* larger pieces have more zeros, smaller ones more sizes */

struct recorder {
	struct record_sink sink;
	struct record_state *state;
	int error;
	uint64_t bytes;
	uint64_t now_ns;       /* time for records without one */
	struct record_out out; /* the records of the open block, behind its header */
	uint8_t body[RECORD_BODY_MAX];
	uint8_t block[RECORD_BLOCK_HEADER + RECORD_BLOCK_MAX];
};

struct recorder *recorder_new(const struct record_sink *sink)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return NULL;
	recorder->sink = *sink;
	recorder->out.data = recorder->block + RECORD_BLOCK_HEADER;
	recorder->out.size = RECORD_BLOCK_MAX;
	recorder->state = record_state_new();
	return recorder->state ? recorder : recorder_free(recorder);
}

struct recorder *recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return NULL;
	record_state_free(recorder->state);
	free(recorder);
	return NULL;
}

int recorder_error(const struct recorder *recorder)
{
	return recorder->error;
}

uint64_t recorder_bytes(const struct recorder *recorder)
{
	return recorder->bytes;
}

static void pass(struct recorder *recorder, const void *data, size_t size)
{
	recorder->error = recorder->sink.write(recorder->sink.userdata, data, size);
	if (recorder->error == 0)
		recorder->bytes += size;
}

int recorder_flush(struct recorder *recorder)
{
	if (recorder->error || !recorder->out.n)
		return recorder->error;
	record_block_seal(recorder->block, recorder->out.n);
	pass(recorder, recorder->block, RECORD_BLOCK_HEADER + recorder->out.n);
	recorder->out.n = 0;
	return recorder->error;
}

/* After a record was put with result r: writes a block that is long enough. */
static void close_record(struct recorder *recorder, int r)
{
	recorder->error = r < 0 ? r : recorder->out.full ? -E2BIG : 0;
	if (recorder->out.n >= RECORD_BLOCK_BYTES)
		recorder_flush(recorder);
}

static void put(struct recorder *recorder, const struct record *record)
{
	if (recorder->error)
		return;
	recorder->now_ns = record->now_ns;
	close_record(recorder, record_body_put(recorder->state, &recorder->out, record));
}

static void put_body(struct recorder *recorder, enum record_type type,
		     const struct record_out *body)
{
	uint8_t tag = type;

	if (recorder->error)
		return;
	record_put_bytes(&recorder->out, &tag, 1);
	record_put_varint(&recorder->out, body->n);
	record_put_bytes(&recorder->out, body->data, body->n);
	close_record(recorder, body->full ? -E2BIG : 0);
}

static struct record_out new_body(struct recorder *recorder)
{
	return (struct record_out){ .data = recorder->body, .size = sizeof(recorder->body) };
}

int recorder_end(struct recorder *recorder)
{
	struct record_out body = new_body(recorder);

	put_body(recorder, RECORD_END, &body);
	return recorder_flush(recorder);
}

static void put_policy(struct recorder *recorder, const struct policy *policy)
{
	struct record_out body = new_body(recorder);

	record_policy_put(&body, policy);
	put_body(recorder, RECORD_POLICY, &body);
}

static void put_start(struct recorder *recorder, const struct topology *topology,
		      const struct policy *policy)
{
	uint8_t magic[RECORD_FILE_HEADER];
	struct record_out header = { .data = magic, .size = sizeof(magic) }, body;

	record_put_bytes(&header, RECORD_MAGIC, RECORD_MAGIC_SIZE);
	record_put_u32(&header, RECORD_VERSION);
	pass(recorder, magic, header.n);

	body = new_body(recorder);
	record_topology_put(&body, topology);
	put_body(recorder, RECORD_TOPOLOGY, &body);
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		body = new_body(recorder);
		record_domain_put(&body, &topology->domains[i]);
		put_body(recorder, RECORD_TOPOLOGY_DOMAIN, &body);
	}
	put_policy(recorder, policy);
}

/*
 * Most of a state is unused room for tasks, CPUs and groups, and zero: such pieces are left out. A
 * size of 0 is one empty piece.
 */
static void put_state(struct recorder *recorder, const uint8_t *state, size_t size)
{
	size_t at = 0, n;

	do {
		const uint8_t *piece = state + at;
		struct record_out body = new_body(recorder);

		n = size - at < STATE_PIECE ? size - at : STATE_PIECE;
		if (at + n < size && !piece[0] && !memcmp(piece, piece + 1, n - 1))
			continue;
		record_put_varint(&body, size);
		record_put_varint(&body, at);
		record_put_bytes(&body, piece, n);
		put_body(recorder, RECORD_STATE, &body);
	} while ((at += n) < size);
	recorder_flush(recorder);
}

static void put_input(struct recorder *recorder, const struct input *input)
{
	uint32_t n_ios = input->task.n_ios;
	struct record record;

	record.type = record_type_of_input(input->type);
	record.now_ns = input->now_ns;
	record.input = *input;

	/* Entries behind the devices of a task have no meaning. */
	if (input->type == INPUT_TASK && n_ios < TASK_IOS_MAX)
		memset(&record.input.task.ios[n_ios], 0,
		       (TASK_IOS_MAX - n_ios) * sizeof(record.input.task.ios[0]));
	put(recorder, &record);
}

/* For engine_set_tap(). A call without a time has that of the last record. */
static void put_call(void *userdata, const struct engine_call *call)
{
	struct recorder *recorder = userdata;
	struct record record;

	record.now_ns = recorder->now_ns;
	switch (call->type) {
	case ENGINE_APPLY:
		put_input(recorder, call->input);
		return;
	case ENGINE_SET_POLICY:
		put_policy(recorder, call->policy);
		return;
	case ENGINE_ADVANCE:
		record.type = RECORD_ADVANCE;
		record.now_ns = call->now_ns;
		break;
	case ENGINE_COMMIT:
		record.type = RECORD_DECIDE;
		record.now_ns = call->now_ns;
		record.decision = *call->decision;
		record.outcome = call->outcome;
		break;
	case ENGINE_FORGET_TARGET:
		record.type = RECORD_FORGET_TARGET;
		record.domain = call->domain;
		break;
	case ENGINE_POP_ENDED:
		record.type = RECORD_POP_ENDED;
		record.handle = call->handle;
		break;
	case ENGINE_POP_CLASS:
		record.type = RECORD_POP_CLASS;
		record.class = (struct task_class){ 0 };
		if (call->class)
			record.class = *call->class;
		break;
	case ENGINE_POP_CLAMP:
		record.type = RECORD_POP_CLAMP;
		record.clamp = (struct task_clamp){ 0 };
		if (call->clamp)
			record.clamp = *call->clamp;
		break;
	}
	put(recorder, &record);
}

struct engine *record_engine_new(struct recorder *recorder, const struct topology *topology,
				 const struct policy *policy)
{
	struct engine *engine = engine_new(topology, policy);

	if (!recorder || !engine)
		return engine;
	put_start(recorder, topology, policy);
	put_state(recorder, (const uint8_t *)"", 0);
	engine_set_tap(engine, put_call, recorder);
	return engine;
}

void recorder_begin(struct recorder *recorder, struct engine *engine)
{
	const struct topology *topology = engine_topology(engine);
	struct policy policy = *engine_policy(engine);

	/* The sizes in the policy may have changed since the engine was made. */
	policy.max_tasks = io_task_size(engine_tasks(engine));
	policy.max_ruled_tasks = task_count_max(engine_tasks(engine));
	put_start(recorder, topology, &policy);
	put_state(recorder, engine_state(engine), engine_state_size(topology, &policy));
	engine_set_tap(engine, put_call, recorder);
}
