// SPDX-License-Identifier: GPL-2.0-only
#include "record/history.h"

#include <errno.h>
#include <string.h>

#include "core/field.h"

#define GROUP_FIELDS 8

/* clang-format off */
#define MOST(_field, _most) FIELD(history_entry, _field, _most)
#define U64(_field) MOST(_field, UINT64_MAX)
#define U32(_field) MOST(_field, UINT32_MAX)
#define TEXT(_field) MOST(_field, 0)
#define WHY(_field) entry.explanation._field
#define CONTENDER(_i) \
	U32(WHY(contenders[_i].cap)), U32(WHY(contenders[_i].cpu)), U32(WHY(contenders[_i].pid)), \
	MOST(WHY(contenders[_i].reason), REASON_LAST), TEXT(WHY(contenders[_i].comm))

#define CHAIN(_i) \
	U32(WHY(contenders[_i].partner)), MOST(WHY(contenders[_i].share_permille), 1000)

/* Fields that change often come first: groups at the end without a change are left out. */
static const struct field fields[] = {
	U64(entry.decision.now_ns), U64(realtime_us), U32(entry.decision.target_khz),
	U32(entry.decision.previous_khz), U32(entry.decision.wanted_khz),
	U32(entry.decision.want_cap), U32(entry.read_back_khz),
	MOST(entry.decision.reason, REASON_LAST),
	MOST(entry.decision.timing, TIMING_RATE_LIMITED), U32(entry.decision.cpu), TEXT(domain),
	U32(WHY(contenders[0].cap)), U32(WHY(contenders[1].cap)), U32(WHY(n_contenders)),
	U32(entry.decision.pid), TEXT(entry.decision.comm),
	MOST(entry.decision.limiter, LIMITER_LAST), U32(entry.decision.capped_pid),
	U32(entry.decision.rule), U32(left_out), MOST(WHY(has_io), 1), TEXT(device),
	MOST(WHY(io.state), IO_BOOST_LAPSED), U32(WHY(io.rate_per_s)), U32(WHY(io.wanted_khz)),
	U32(WHY(io.host_ppm)), U32(WHY(io.predicted_ppm)), U32(WHY(io.tried)),
	U32(WHY(io.found.gain_ppm)), U32(WHY(io.found.error_ppm)), U32(WHY(io.device)),
	CONTENDER(0), CONTENDER(1), CONTENDER(2), CONTENDER(3), CONTENDER(4), CONTENDER(5),
	U32(WHY(scaling_min_khz)), U32(WHY(scaling_max_khz)), U32(WHY(policy_min_khz)),
	U32(WHY(policy_max_khz)), U32(WHY(override.min_khz)), U32(WHY(override.max_khz)),
	U32(WHY(override.frozen_khz)), U32(WHY(override.min_id)), U32(WHY(override.max_id)),
	U32(WHY(override.frozen_id)), TEXT(WHY(rule.name)), TEXT(WHY(rule.file)),
	U32(WHY(rule.line)), U32(WHY(rule.pid)), U32(WHY(lowest_khz)),
	CHAIN(0), CHAIN(1), CHAIN(2), CHAIN(3), CHAIN(4), CHAIN(5),
};
/* clang-format on */

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

_Static_assert(EXPLANATION_CONTENDERS_MAX == 6, "the table lists them");

static bool put_entry(struct record_out *out, const struct history_entry *entry,
		      const struct history_entry *last)
{
	size_t groups_at = out->n, end = out->n + 1, mask_at = 0;

	record_put_bytes(out, "", 1);
	for (size_t i = 0; i < N_FIELDS; i++) {
		const struct field *field = &fields[i];
		const char *text = (const char *)entry + field->offset;

		if (i % GROUP_FIELDS == 0) {
			mask_at = out->n;
			record_put_bytes(out, "", 1);
		}
		if (!field_is_text(field) && field_load(field, entry) > field->most)
			return false;
		if (field_is_text(field) ? !strcmp(text, (const char *)last + field->offset)
					 : field_load(field, entry) == field_load(field, last))
			continue;
		if (field_is_text(field))
			record_put_text(out, text);
		else
			record_put_difference(out,
					      field_load(field, entry) - field_load(field, last));
		if (out->full)
			return false;
		out->data[mask_at] |= (uint8_t)(1 << i % GROUP_FIELDS);
		out->data[groups_at] = (uint8_t)(i / GROUP_FIELDS + 1);
		end = out->n;
	}
	out->n = end;
	return true;
}

void history_put_header(uint8_t ret[HISTORY_FILE_HEADER])
{
	struct record_out out = { .data = ret, .size = HISTORY_FILE_HEADER };

	record_put_bytes(&out, HISTORY_MAGIC, HISTORY_MAGIC_SIZE);
	record_put_u32(&out, HISTORY_VERSION);
}

void history_begin(struct history_writer *writer)
{
	memset(&writer->last, 0, sizeof(writer->last));
	writer->chain_bytes = 0;
	writer->n = 0;
}

size_t history_put(struct history_writer *writer, const struct history_entry *entry)
{
	struct record_out out = { .data = writer->block, .size = sizeof(writer->block) };
	size_t before;

	if (!writer->n) {
		if (writer->chain_bytes >= HISTORY_CHAIN_BYTES)
			history_begin(writer);
		writer->block[RECORD_BLOCK_HEADER] = !writer->chain_bytes;
		writer->n = RECORD_BLOCK_HEADER + 1;
	}
	out.n = before = writer->n;
	if (!put_entry(&out, entry, &writer->last)) {
		writer->n = before > RECORD_BLOCK_HEADER + 1 ? before : 0;
		return 0;
	}
	writer->n = out.n;
	writer->last = *entry;
	return out.n - before;
}

bool history_begins_anew(const struct history_writer *writer)
{
	return writer->n && writer->block[RECORD_BLOCK_HEADER];
}

bool history_is_full(const struct history_writer *writer)
{
	return writer->n >= HISTORY_BLOCK_BYTES;
}

size_t history_close(struct history_writer *writer)
{
	size_t n = writer->n;

	if (!n)
		return 0;
	record_block_seal(writer->block, n - RECORD_BLOCK_HEADER);
	writer->chain_bytes += (uint32_t)n;
	writer->n = 0;
	return n;
}

/* The length of the block at an offset; 0: there is none, or it is damaged. */
static size_t block_at(const uint8_t *data, size_t size, size_t at)
{
	size_t room = size - at, length;

	if (room < RECORD_BLOCK_HEADER)
		return 0;
	room -= RECORD_BLOCK_HEADER;
	length = record_block_length(data + at);
	if (!length || length > room ||
	    !record_block_is_whole(data + at, data + at + RECORD_BLOCK_HEADER, length))
		return 0;
	return RECORD_BLOCK_HEADER + length;
}

int history_read(struct history_reader *reader, const void *data, size_t size)
{
	struct record_in in = { data, (const uint8_t *)data + size, false };

	*reader = (struct history_reader){ .data = data, .size = size };
	if (size < HISTORY_FILE_HEADER)
		return -ENODATA;
	if (memcmp(data, HISTORY_MAGIC, HISTORY_MAGIC_SIZE) != 0)
		return -EBADMSG;
	in.at += HISTORY_MAGIC_SIZE;
	if (record_get_u32(&in) != HISTORY_VERSION)
		return -EPROTONOSUPPORT;
	reader->next = HISTORY_FILE_HEADER;
	return 0;
}

/* Opens the next block. Returns 1, or 0 when there is none. */
static int open_next(struct history_reader *reader)
{
	size_t n;

	while (reader->in.at == reader->in.end) {
		n = block_at(reader->data, reader->size, reader->next);
		if (!n)
			return 0;
		reader->in.at = reader->data + reader->next + RECORD_BLOCK_HEADER;
		reader->in.end = reader->data + reader->next + n;
		if (*reader->in.at++) {
			reader->began = reader->next;
			reader->is_first = true;
			memset(&reader->last, 0, sizeof(reader->last));
		}
		reader->next += n;
	}
	return 1;
}

static bool get_field(struct record_in *in, const struct field *field, struct history_entry *entry)
{
	uint64_t value;

	if (field_is_text(field)) {
		memset((char *)entry + field->offset, 0, field->size);
		record_get_text(in, (char *)entry + field->offset, field->size);
		return !in->bad;
	}
	value = field_load(field, entry) + record_get_difference(in);
	field_store(field, entry, value);
	return !in->bad && value <= field->most;
}

int history_next(struct history_reader *reader)
{
	struct record_in *in = &reader->in;
	size_t n_groups;

	reader->is_first = false;
	if (!open_next(reader))
		return 0;
	n_groups = record_get_byte(in);
	for (size_t group = 0; group < n_groups; group++) {
		uint8_t mask = record_get_byte(in);

		for (size_t bit = 0; mask >> bit; bit++) {
			size_t i = group * GROUP_FIELDS + bit;

			if (!(mask >> bit & 1))
				continue;
			if (i >= N_FIELDS || !get_field(in, &fields[i], &reader->last))
				return -EBADMSG;
		}
	}
	return in->bad ? -EBADMSG : 1;
}

int history_seek(struct history_reader *reader, size_t at)
{
	if (at < HISTORY_FILE_HEADER || at >= reader->size ||
	    !block_at(reader->data, reader->size, at) || !reader->data[at + RECORD_BLOCK_HEADER])
		return -EBADMSG;
	reader->next = at;
	reader->in = (struct record_in){ 0 };
	return 0;
}

void history_seek_time(struct history_reader *reader, uint64_t realtime_us)
{
	size_t found = reader->next, at = reader->next, n;

	for (; (n = block_at(reader->data, reader->size, at)); at += n) {
		if (!reader->data[at + RECORD_BLOCK_HEADER] || history_seek(reader, at) < 0 ||
		    history_next(reader) != 1)
			continue;
		if (reader->last.realtime_us > realtime_us)
			break;
		found = at;
	}
	history_seek(reader, found);
}

size_t history_good_bytes(const void *data, size_t size)
{
	struct history_reader reader;
	size_t at, n;

	if (history_read(&reader, data, size) < 0)
		return 0;
	for (at = reader.next; (n = block_at(data, size, at)); at += n)
		;
	return at;
}
