// SPDX-License-Identifier: GPL-2.0-only
#include "record/body.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define GROUP_FIELDS 8
#define BODY_MAX     (10 + RECORD_FIELDS_MAX * 10 + RECORD_FIELDS_MAX / GROUP_FIELDS)

struct record_state {
	uint64_t now_ns;
	uint32_t n_fields[RECORD_TYPES];
	uint64_t *last[RECORD_TYPES]; /* slots · n_fields */
};

/* One record that is written or read: its fields and the state so far. */
struct pass {
	const struct record_field *fields;
	uint64_t *last; /* last values of the record's subject */
	uint64_t now_ns;
	uint64_t change[RECORD_FIELDS_MAX];
};

bool record_same_decision(const struct decision *a, const struct decision *b)
{
	const struct record_field *field = record_layout_of(RECORD_DECIDE)->fields;
	const struct record ra = { .decision = *a }, rb = { .decision = *b };

	for (; field->field.size; field++)
		if (field_load(&field->field, &ra) != field_load(&field->field, &rb))
			return false;
	return true;
}

struct record_state *record_state_new(void)
{
	struct record_state *state = calloc(1, sizeof(*state));

	for (int i = 0; state && i < RECORD_TYPES; i++) {
		const struct record_layout *layout = record_layout_of(i);
		uint32_t n = 0;

		if (!layout->slots)
			continue;
		while (layout->fields[n].field.size)
			n++;
		assert(n && n <= RECORD_FIELDS_MAX);
		state->n_fields[i] = n;
		state->last[i] = calloc(layout->slots, n * sizeof(uint64_t));
		if (!state->last[i])
			return record_state_free(state);
	}
	return state;
}

struct record_state *record_state_free(struct record_state *state)
{
	for (int i = 0; state && i < RECORD_TYPES; i++)
		free(state->last[i]);
	free(state);
	return NULL;
}

bool record_has_fields(enum record_type type)
{
	return type == RECORD_ADVANCE || record_layout_of(type)->slots;
}

/*
 * `change` is not cleared: a field reads only the fields before it, and clearing would be done for
 * each record.
 */
static void begin(struct pass *pass, struct record_state *state, enum record_type type,
		  uint64_t key)
{
	const struct record_layout *layout = record_layout_of(type);

	pass->fields = layout->fields;
	pass->last = state->last[type] + key % layout->slots * state->n_fields[type];
	pass->now_ns = state->now_ns;
}

static uint64_t expected(const struct pass *pass, int i)
{
	switch (pass->fields[i].expect) {
	case RECORD_EXPECT_NOW:
		return pass->now_ns;
	case RECORD_EXPECT_LIKE:
		return pass->last[i] + pass->change[pass->fields[i].like];
	default:
		return pass->last[i];
	}
}

static void remember(struct pass *pass, int i, uint64_t value)
{
	pass->change[i] = value - pass->last[i];
	pass->last[i] = value;
}

static int put_fields(struct record_state *state, struct record_out *out,
		      const struct record *record)
{
	const struct record_field *fields = record_layout_of(record->type)->fields;
	uint64_t key = field_load(&fields[0].field, record), value, difference;
	size_t mask_at = 0, end = 0;
	struct pass pass;

	if (key > fields[0].field.most)
		return -ERANGE;
	begin(&pass, state, record->type, key);
	record_put_varint(out, key);
	end = out->n;
	for (int i = 1; fields[i].field.size; i++) {
		int bit = (i - 1) % GROUP_FIELDS;

		if (bit == 0) {
			mask_at = out->n;
			record_put_bytes(out, "", 1);
		}
		value = field_load(&fields[i].field, record);
		if (value > fields[i].field.most)
			return -ERANGE;
		difference = value - expected(&pass, i);
		remember(&pass, i, value);
		if (!difference)
			continue;
		record_put_difference(out, difference);
		out->data[mask_at] |= 1 << bit;
		end = out->n;
	}
	out->n = end;
	return 0;
}

int record_body_put(struct record_state *state, struct record_out *out, const struct record *record)
{
	bool has_time = record->now_ns != state->now_ns;
	uint8_t bytes[BODY_MAX], tag = record->type | (has_time ? RECORD_FLAG_TIME : 0);
	struct record_out body = { .data = bytes, .size = sizeof(bytes) };
	int r = 0;

	if (has_time)
		record_put_difference(&body, record->now_ns - state->now_ns);
	state->now_ns = record->now_ns;
	if (record_layout_of(record->type)->slots)
		r = put_fields(state, &body, record);
	if (r < 0)
		return r;
	record_put_bytes(out, &tag, 1);
	record_put_varint(out, body.n);
	record_put_bytes(out, bytes, body.n);
	return out->full ? -E2BIG : 0;
}

int record_body_get(struct record_state *state, struct record_in *in, bool has_time,
		    struct record *ret)
{
	const struct record_field *fields = record_layout_of(ret->type)->fields;
	struct pass pass;
	uint8_t mask = 0;
	uint64_t key;

	if (has_time)
		state->now_ns += record_get_difference(in);
	ret->now_ns = state->now_ns;
	key = fields ? record_get_number(in, fields[0].field.most) : 0;
	if (in->bad)
		return -EBADMSG;
	if (fields) {
		begin(&pass, state, ret->type, key);
		field_store(&fields[0].field, ret, key);
	}
	for (int i = 1; fields && fields[i].field.size; i++) {
		uint64_t value = expected(&pass, i);

		if ((i - 1) % GROUP_FIELDS == 0)
			mask = in->at < in->end ? *in->at++ : 0;
		if (mask & 1)
			value += record_get_difference(in);
		mask >>= 1;
		if (in->bad || value > fields[i].field.most)
			return -EBADMSG;
		field_store(&fields[i].field, ret, value);
		remember(&pass, i, value);
	}
	return mask || in->at < in->end ? -EPROTONOSUPPORT : 0;
}
