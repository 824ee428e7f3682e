// SPDX-License-Identifier: GPL-2.0-only
#include "record/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/body.h"

struct record_reader {
	struct record_source source;
	struct record_state *fields;
	struct topology *topology;
	struct policy policy;	  /* at the start */
	void *state;		  /* the same; NULL: the engine was new */
	struct policy new_policy; /* of the last record with one */
	uint64_t block_offset;	  /* of the present block */
	uint64_t next_offset;	  /* of the block after it */
	uint64_t offset;
	struct record_in in; /* rest of the block */
	uint8_t block[UINT16_MAX];
	char why[160];
};

/* One record in its encoded form. */
struct raw_record {
	enum record_type type;
	bool has_time;
	struct record_in body;
};

ssize_t record_read_file(void *userdata, void *data, size_t size)
{
	size_t n = fread(data, 1, size, userdata);

	return n || !ferror((FILE *)userdata) ? (ssize_t)n : -EIO;
}

struct record_reader *record_reader_new(const struct record_source *source)
{
	struct record_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->source = *source;
	reader->fields = record_state_new();
	return reader->fields ? reader : record_reader_free(reader);
}

struct record_reader *record_reader_free(struct record_reader *reader)
{
	if (!reader)
		return NULL;
	record_state_free(reader->fields);
	free(reader->topology);
	free(reader->state);
	free(reader);
	return NULL;
}

const struct topology *record_reader_topology(const struct record_reader *reader)
{
	return reader->topology;
}

const struct policy *record_reader_policy(const struct record_reader *reader)
{
	return &reader->policy;
}

const void *record_reader_state(const struct record_reader *reader)
{
	return reader->state;
}

uint64_t record_reader_offset(const struct record_reader *reader)
{
	return reader->offset;
}

const char *record_reader_why(const struct record_reader *reader)
{
	return reader->why;
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

int record_reader_refuse_decision(struct record_reader *reader)
{
	return fail(reader, -EBADMSG, "a decision for a domain that is not active");
}

/* A state is the memory of one wakegov, and means little to another build. */
static int fail_other_state(struct record_reader *reader)
{
	return fail(reader, -EPROTONOSUPPORT,
		    "begins with the state of another version of wakegov; replay it with that one, "
		    "or record anew");
}

int record_reader_refuse_state(struct record_reader *reader, int r)
{
	if (r == -EPROTONOSUPPORT)
		return fail_other_state(reader);
	return fail(reader, r, "begins with a state in which no engine can have been");
}

static int fail_record(struct record_reader *reader, int r, enum record_type type)
{
	if (r == -EPROTONOSUPPORT)
		return fail(reader, r, "a record of type %d holds what only a newer wakegov knows",
			    type);
	if (r == -EBADMSG)
		return fail(reader, r, "a record of type %d holds what cannot be", type);
	return fail(reader, r, "%s", strerror(-r));
}

/* Reads size bytes, fewer at the end of the file. Returns their number, or a negative errno. */
static ssize_t read_all(struct record_reader *reader, void *data, size_t size)
{
	size_t n = 0;
	ssize_t r;

	while (n < size) {
		r = reader->source.read(reader->source.userdata, (char *)data + n, size - n);
		if (r < 0)
			return fail(reader, r, "cannot be read: %s", strerror(-r));
		if (r == 0)
			break;
		n += r;
	}
	return n;
}

/* Returns RECORD_READ, RECORD_CUT, or a negative errno. */
static int read_block(struct record_reader *reader)
{
	uint8_t header[RECORD_BLOCK_HEADER] = { 0 };
	ssize_t r;
	size_t n;

	reader->offset = reader->block_offset = reader->next_offset;
	r = read_all(reader, header, sizeof(header));
	if (r < 0)
		return r;
	/* The length has a check of its own, as it is used before the rest is there. */
	n = record_block_length(header);
	if (r >= 4 && !n)
		return fail(reader, -EBADMSG, "damaged: the length of a block");
	if (r < (ssize_t)sizeof(header))
		return fail(reader, RECORD_CUT, "the file is cut here");
	r = read_all(reader, reader->block, n);
	if (r < 0)
		return r;
	if (r < (ssize_t)n)
		return fail(reader, RECORD_CUT, "the file is cut here");
	if (!record_block_is_whole(header, reader->block, n))
		return fail(reader, -EBADMSG, "damaged: the checksum of a block of %zu bytes", n);
	reader->next_offset += sizeof(header) + n;
	reader->in = (struct record_in){ reader->block, reader->block + n, false };
	return RECORD_READ;
}

/* Returns as read_block(). */
static int read_raw(struct record_reader *reader, struct raw_record *ret)
{
	struct record_in *in = &reader->in;
	uint64_t tag, n;
	int r;

	if (in->at == in->end) {
		r = read_block(reader);
		if (r != RECORD_READ)
			return r;
	}
	reader->offset = reader->block_offset + RECORD_BLOCK_HEADER + (in->at - reader->block);
	tag = *in->at++;
	n = record_get_varint(in);
	if (in->bad || n > (size_t)(in->end - in->at))
		return fail(reader, -EBADMSG, "damaged: the length of a record");
	*ret = (struct raw_record){
		.type = tag & ~RECORD_FLAG_TIME,
		.has_time = tag & RECORD_FLAG_TIME,
		.body = { in->at, in->at + n, false },
	};
	in->at += n;
	if (ret->type >= RECORD_TYPES)
		return fail_record(reader, -EPROTONOSUPPORT, ret->type);
	return RECORD_READ;
}

static int read_magic(struct record_reader *reader)
{
	uint8_t header[RECORD_FILE_HEADER];
	struct record_in in = { header + RECORD_MAGIC_SIZE, header + sizeof(header), false };
	ssize_t n = read_all(reader, header, sizeof(header));
	uint32_t version;

	if (n < 0)
		return n;
	if (n == 0)
		return fail(reader, -ENODATA, "the file is empty");
	if (memcmp(header, RECORD_MAGIC, n < RECORD_MAGIC_SIZE ? n : RECORD_MAGIC_SIZE) != 0)
		return fail(reader, -EBADMSG, "not a recording of wakegov");
	if (n < (ssize_t)sizeof(header))
		return fail(reader, -ENODATA, "the file is cut within its first bytes");
	version = record_get_u32(&in);
	reader->next_offset = sizeof(header);
	if (version > RECORD_VERSION)
		return fail(reader, -EPROTONOSUPPORT,
			    "made by a newer wakegov: version %u of the format, this one reads %u",
			    version, RECORD_VERSION);
	if (version < RECORD_VERSION)
		return fail(reader, -EPROTONOSUPPORT,
			    "made by an older wakegov: version %u of the format, this one reads "
			    "%u; replay it with that one, or record anew",
			    version, RECORD_VERSION);
	return 0;
}

/* Reads the next record, which must be of this type. */
static int expect(struct record_reader *reader, enum record_type type, struct record_in *ret)
{
	struct raw_record raw;
	int r = read_raw(reader, &raw);

	if (r < 0)
		return r;
	if (r == RECORD_CUT)
		return fail(reader, -ENODATA, "the file is cut before the first call");
	if (raw.type != type || raw.has_time)
		return fail(reader, -EBADMSG, "found a record of type %d, expected %d", raw.type,
			    type);
	*ret = raw.body;
	return 0;
}

static int read_setting(struct record_reader *reader)
{
	struct record_in in;
	int r;

	r = expect(reader, RECORD_TOPOLOGY, &in);
	if (r < 0)
		return r;
	r = record_topology_get(&in, &reader->topology);
	if (r < 0)
		return fail_record(reader, r, RECORD_TOPOLOGY);
	for (uint32_t i = 0; i < reader->topology->n_domains; i++) {
		r = expect(reader, RECORD_TOPOLOGY_DOMAIN, &in);
		if (r < 0)
			return r;
		r = record_domain_get(&in, reader->topology, &reader->topology->domains[i]);
		if (r < 0)
			return fail_record(reader, r, RECORD_TOPOLOGY_DOMAIN);
	}
	r = expect(reader, RECORD_POLICY, &in);
	if (r < 0)
		return r;
	r = record_policy_get(&in, &reader->policy);
	return r < 0 ? fail_record(reader, r, RECORD_POLICY) : 0;
}

static int read_state(struct record_reader *reader)
{
	uint64_t expected = engine_state_size(reader->topology, &reader->policy), size, at;
	struct record_in in;
	size_t n;
	int r;

	do {
		r = expect(reader, RECORD_STATE, &in);
		if (r < 0)
			return r;
		size = record_get_varint(&in);
		if (!size && !reader->state && in.at + 1 == in.end && !*in.at)
			return 0;
		if (in.bad || !size || size != expected)
			return fail_other_state(reader);
		if (!reader->state)
			reader->state = calloc(1, size);
		if (!reader->state)
			return fail_record(reader, -ENOMEM, RECORD_STATE);
		at = record_get_number(&in, size);
		n = in.end - in.at;
		if (in.bad || n > size - at)
			return fail_record(reader, -EBADMSG, RECORD_STATE);
		memcpy((char *)reader->state + at, in.at, n);
	} while (at + n < size);
	return 0;
}

int record_reader_begin(struct record_reader *reader)
{
	int r = read_magic(reader);

	if (r == 0)
		r = read_setting(reader);
	return r < 0 ? r : read_state(reader);
}

/* Whether the engine can trust the record's domain and task. */
static bool is_sound(const struct record_reader *reader, const struct record *record)
{
	const struct record_field *field = record_layout_of(record->type)->fields;

	for (; field && field->field.size; field++) {
		uint64_t value = field_load(&field->field, record);

		if (field->check == RECORD_CHECK_DOMAIN && value >= reader->topology->n_domains)
			return false;
		if (field->check == RECORD_CHECK_PID && !value)
			return false;
	}
	return true;
}

int record_reader_next(struct record_reader *reader, struct record *ret)
{
	struct raw_record raw;
	int r = read_raw(reader, &raw);
	uint8_t more;
	ssize_t n;

	if (r != RECORD_READ)
		return r;
	*ret = (struct record){ .type = raw.type };
	if (record_has_fields(raw.type)) {
		r = record_body_get(reader->fields, &raw.body, raw.has_time, ret);
	} else if (raw.type == RECORD_POLICY && !raw.has_time) {
		ret->policy = &reader->new_policy;
		r = record_policy_get(&raw.body, &reader->new_policy);
	} else if (raw.type == RECORD_END && !raw.has_time) {
		n = reader->in.at < reader->in.end ? 1 : read_all(reader, &more, 1);
		if (n <= 0)
			return n < 0 ? (int)n : RECORD_ENDED;
		return fail(reader, -EBADMSG, "damaged: something follows the end");
	} else {
		r = -EBADMSG;
	}
	if (r == 0 && !is_sound(reader, ret))
		r = -EBADMSG;
	if (r < 0)
		return fail_record(reader, r, raw.type);
	if (record_is_input(raw.type)) {
		ret->input.type = record_input_type(raw.type);
		ret->input.now_ns = ret->now_ns;
	}
	return RECORD_READ;
}
