// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decompresses a frame as a whole, which checks it, and gives out the records in it. A record that
 * goes on in the next frame is read once that is whole too.
 */
#include "record/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "build-id.h"

#define WINDOW_LOG_MAX 17 /* of a frame: bounds the memory that a forged one takes */

struct record_reader *record_reader_new(FILE *file)
{
	struct record_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->file = file;
	reader->zstd = ZSTD_createDCtx();
	if (!reader->zstd)
		return record_reader_free(reader);
	ZSTD_DCtx_setParameter(reader->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return reader;
}

struct record_reader *record_reader_free(struct record_reader *reader)
{
	if (!reader)
		return NULL;
	ZSTD_freeDCtx(reader->zstd);
	free(reader->topology);
	free(reader->state);
	free(reader);
	return NULL;
}

static __attribute__((format(printf, 3, 4))) int fail(struct record_reader *reader, int r,
						      const char *format, ...)
{
	int n = snprintf(reader->why, sizeof(reader->why),
			 "byte %llu: ", (unsigned long long)reader->offset);
	va_list args;

	va_start(args, format);
	vsnprintf(reader->why + n, sizeof(reader->why) - n, format, args);
	va_end(args);
	return r;
}

static int refuse(struct record_reader *reader, uint32_t type)
{
	return fail(reader, -EBADMSG, "a record of type %u holds what cannot be", type);
}

int record_reader_refuse(struct record_reader *reader, const char *why)
{
	return fail(reader, -EBADMSG, "%s", why);
}

/* Returns RECORD_READ, or RECORD_CUT at the end of the file. */
static int fill(struct record_reader *reader)
{
	size_t n = fread(reader->compressed, 1, sizeof(reader->compressed), reader->file);

	reader->n_compressed = n;
	reader->at_compressed = 0;
	reader->next_offset += n;
	if (ferror(reader->file))
		return fail(reader, -EIO, "%s", strerror(EIO));
	return n ? RECORD_READ : fail(reader, RECORD_CUT, "the file is cut here");
}

static int read_frame(struct record_reader *reader)
{
	ZSTD_outBuffer out = { reader->frame, sizeof(reader->frame), 0 };
	size_t left = 1;

	reader->offset = reader->next_offset - (reader->n_compressed - reader->at_compressed);
	while (left) {
		bool is_empty = reader->at_compressed == reader->n_compressed;
		int r = is_empty ? fill(reader) : RECORD_READ;
		ZSTD_inBuffer in = { reader->compressed, reader->n_compressed,
				     reader->at_compressed };

		if (r != RECORD_READ)
			return r;
		left = ZSTD_decompressStream(reader->zstd, &out, &in);
		if (ZSTD_isError(left))
			return fail(reader, -EBADMSG, "damaged: %s", ZSTD_getErrorName(left));
		reader->at_compressed = in.pos;
	}
	reader->n = out.pos;
	reader->at = 0;
	return RECORD_READ;
}

static int read_bytes(struct record_reader *reader, void *ret, size_t size)
{
	while (size) {
		size_t left = reader->n - reader->at, n = size < left ? size : left;
		int r = left ? RECORD_READ : read_frame(reader);

		if (r != RECORD_READ)
			return r;
		memcpy(ret, reader->frame + reader->at, n);
		reader->at += n;
		ret = (char *)ret + n;
		size -= n;
	}
	return RECORD_READ;
}

static int read_head(struct record_reader *reader)
{
	struct record_head head;
	size_t n = fread(&head, 1, sizeof(head), reader->file);

	if (!n)
		return fail(reader, -ENODATA, "the file is empty");
	if (memcmp(head.magic, RECORD_MAGIC, n < sizeof(head.magic) ? n : sizeof(head.magic)) != 0)
		return fail(reader, -EBADMSG, "not a recording of wakegov");
	if (n < sizeof(head))
		return fail(reader, -ENODATA, "the file is cut within its first bytes");
	if (memcmp(head.build, RECORD_BUILD, sizeof(head.build)) != 0)
		return fail(reader, -EPROTONOSUPPORT,
			    "made by another build of wakegov; replay it with the wakegovctl of "
			    "that one, or record anew");
	reader->next_offset = n;
	return 0;
}

/* Reads the head of the next record, which must be of this type, of those before the first call. */
static int expect(struct record_reader *reader, uint32_t type, struct record_tag *ret)
{
	int r = read_bytes(reader, ret, sizeof(*ret));

	if (r == RECORD_READ && ret->type != type)
		return fail(reader, -EBADMSG, "found a record of type %u, expected %u", ret->type,
			    type);
	return r;
}

static int read_topology(struct record_reader *reader)
{
	struct record_tag tag;
	size_t size;
	int r = expect(reader, RECORD_TOPOLOGY, &tag);

	if (r != RECORD_READ)
		return r;
	if (tag.value > TOPOLOGY_DOMAINS_MAX)
		return refuse(reader, tag.type);
	size = sizeof(*reader->topology) + tag.value * sizeof(reader->topology->domains[0]);
	reader->topology = calloc(1, size);
	if (!reader->topology)
		return -ENOMEM;
	r = read_bytes(reader, reader->topology, size);
	if (r == RECORD_READ && (reader->topology->n_domains != tag.value ||
				 !record_topology_is_valid(reader->topology)))
		return refuse(reader, tag.type);
	return r;
}

static int read_setting(struct record_reader *reader)
{
	struct record_tag tag;
	size_t size;
	int r = read_topology(reader);

	if (r == RECORD_READ)
		r = expect(reader, ENGINE_SET_POLICY, &tag);
	if (r == RECORD_READ)
		r = read_bytes(reader, &reader->policy, sizeof(reader->policy));
	if (r == RECORD_READ && !record_policy_is_valid(&reader->policy))
		return refuse(reader, tag.type);
	if (r == RECORD_READ)
		r = expect(reader, RECORD_STATE, &tag);
	if (r != RECORD_READ)
		return r;
	size = engine_state_size(reader->topology, &reader->policy);
	reader->state = malloc(size);
	if (!reader->state)
		return -ENOMEM;
	reader->begin_ns = reader->end_ns = tag.now_ns;
	return read_bytes(reader, reader->state, size);
}

int record_reader_begin(struct record_reader *reader)
{
	int r = read_head(reader);

	if (r == 0)
		r = read_setting(reader);
	if (r == RECORD_CUT)
		return fail(reader, -ENODATA, "the file is cut before the first call");
	return r < 0 ? r : 0;
}

static int read_end(struct record_reader *reader)
{
	bool is_last = reader->at == reader->n && reader->at_compressed == reader->n_compressed;
	int r = is_last ? fill(reader) : RECORD_READ;

	if (r == RECORD_READ)
		return fail(reader, -EBADMSG, "damaged: something follows the end");
	return r == RECORD_CUT ? RECORD_ENDED : r;
}

/* Reads the struct that the record has, and lets *ret point to it. */
static int read_body(struct record_reader *reader, const struct record_tag *tag,
		     struct engine_call *ret)
{
	size_t size = record_input_size(tag->value);

	switch (tag->type) {
	case ENGINE_APPLY:
		if (!size)
			return refuse(reader, tag->type);
		reader->body.input.now_ns = tag->now_ns;
		reader->body.input.type = tag->value;
		ret->input = &reader->body.input;
		return read_bytes(reader, (char *)&reader->body + RECORD_INPUT_AT, size);
	case ENGINE_ADVANCE:
		return RECORD_READ;
	case ENGINE_COMMIT:
		ret->decision = &reader->body.decision;
		ret->outcome = tag->value;
		return read_bytes(reader, &reader->body, sizeof(*ret->decision));
	case ENGINE_SET_POLICY:
		ret->policy = &reader->body.policy;
		return read_bytes(reader, &reader->body, sizeof(*ret->policy));
	case ENGINE_FORGET_TARGET:
		ret->domain = tag->value;
		return RECORD_READ;
	case ENGINE_POP_ENDED:
		ret->handle = tag->value;
		return RECORD_READ;
	case ENGINE_POP_CLASS:
		ret->class = &reader->body.class;
		return read_bytes(reader, &reader->body, sizeof(*ret->class));
	case ENGINE_POP_CLAMP:
		ret->clamp = &reader->body.clamp;
		return read_bytes(reader, &reader->body, sizeof(*ret->clamp));
	case RECORD_END:
		return read_end(reader);
	default:
		return refuse(reader, tag->type);
	}
}

static bool is_valid(const struct record_reader *reader, const struct engine_call *call)
{
	switch (call->type) {
	case ENGINE_APPLY:
		return record_input_is_valid(call->input, reader->topology);
	case ENGINE_COMMIT:
		return call->outcome <= ENGINE_NOT_SET &&
		       record_decision_is_valid(call->decision, reader->topology);
	case ENGINE_SET_POLICY:
		return record_policy_is_valid(call->policy);
	case ENGINE_FORGET_TARGET:
		return call->domain < reader->topology->n_domains;
	default:
		return true;
	}
}

int record_reader_next(struct record_reader *reader, struct engine_call *ret)
{
	struct record_tag tag;
	int r = read_bytes(reader, &tag, sizeof(tag));

	if (r != RECORD_READ)
		return r;
	*ret = (struct engine_call){ .type = tag.type, .now_ns = tag.now_ns };
	r = read_body(reader, &tag, ret);
	if (r == RECORD_READ && !is_valid(reader, ret))
		return refuse(reader, tag.type);
	if (r != RECORD_CUT && tag.now_ns > reader->end_ns)
		reader->end_ns = tag.now_ns;
	return r;
}
