// SPDX-License-Identifier: GPL-2.0-only
#include "record/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"

#define FIELDS_MAX 32

struct field {
	uint16_t offset; /* in struct record */
	uint8_t size;
	bool from_now; /* the difference is from the record's time, not from the last value */
	uint64_t most;
};

struct layout {
	uint32_t slots; /* how many things are remembered; those beyond share theirs */
	struct field fields[FIELDS_MAX];
};

/* clang-format off */
#define FIELD(_field, _from_now, _most) \
	{ offsetof(struct record, _field), sizeof(((struct record *)0)->_field), (_from_now), (_most) }
#define U64(_field) FIELD(_field, false, UINT64_MAX)
#define NOW(_field) FIELD(_field, true, UINT64_MAX)
#define U32(_field) FIELD(_field, false, UINT32_MAX)
/* Numbers, words and flags of which the core relies on not being more. */
#define MOST(_field, _most) FIELD(_field, false, _most)

/* A comm goes as two numbers, of which the last byte is its NUL. */
#define COMM(_field) \
	{ offsetof(struct record, _field), 8, false, UINT64_MAX }, \
	{ offsetof(struct record, _field[8]), 8, false, UINT64_MAX >> 8 }
#define TASK_IO(_i) \
	U64(input.task.ios[_i].ios), U64(input.task.ios[_i].host_ns), \
	U64(input.task.ios[_i].host_cpu_ns)
#define TASK_DEVICE(_i) MOST(input.task.ios[_i].device, INPUT_DEVICES_MAX - 1)

static const struct layout layouts[RECORD_TYPES] = {
	[RECORD_CPU] = { 256, {
		U32(input.cpu.cpu), U32(input.cpu.util_q), MOST(input.cpu.running, 1),
		U64(input.cpu.idle_since_ns), U32(input.cpu.est_q), U64(input.cpu.burst_ns) } },
	/* What changes each time comes first, what is all but constant last. */
	[RECORD_TASK] = { 256, {
		U32(input.task.handle), NOW(input.task.last_io_ns), U64(input.task.io_waits),
		U64(input.task.io_starts), U32(input.task.cpu), U32(input.task.level_q),
		U64(input.task.in_flight_ns), U32(input.task.depth), U32(input.task.max_depth),
		TASK_IO(0), TASK_IO(1), TASK_IO(2), TASK_IO(3),
		MOST(input.task.n_ios, TASK_IOS_MAX), U32(input.task.pid), U32(input.task.tgid),
		COMM(input.task.comm),
		TASK_DEVICE(0), TASK_DEVICE(1), TASK_DEVICE(2), TASK_DEVICE(3) } },
	[RECORD_TASK_END] = { 1, { U32(input.ended_pid) } },
	[RECORD_DEVICE] = { INPUT_DEVICES_MAX, {
		MOST(input.device.device, INPUT_DEVICES_MAX - 1), U64(input.device.completions),
		U64(input.device.idle_ns), U32(input.device.depth),
		U32(input.device.completion_cpu) } },
	[RECORD_DEVICE_END] = { 1, { MOST(input.ended_device, INPUT_DEVICES_MAX - 1) } },
	[RECORD_LIMITS] = { 64, {
		U32(input.limits.domain), U32(input.limits.min_khz), U32(input.limits.max_khz) } },
	[RECORD_DOMAIN] = { 1, { U32(input.domain.domain), MOST(input.domain.active, 1),
		MOST(input.domain.driven, 1), MOST(input.domain.clamps, 1) } },
	[RECORD_DECIDE] = { 256, {
		U32(decision.domain), U32(decision.want_cap), U32(decision.wanted_khz),
		U32(decision.target_khz), U32(decision.previous_khz), U32(decision.cpu),
		MOST(decision.timing, TIMING_RATE_LIMITED), MOST(decision.reason, REASON_UNCAPPED),
		MOST(decision.limiter, LIMITER_CAP), U32(decision.pid),
		COMM(decision.comm), NOW(decision.now_ns), U32(decision.rule),
		U32(decision.capped_pid) } },
	[RECORD_FORGET_TARGET] = { 1, { U32(domain) } },
	[RECORD_TAKE_BACK] = { 1, { U32(domain) } },
	[RECORD_TAKE_ENDED] = { 1, { U32(handle) } },
	[RECORD_OVERRIDE] = { 64, {
		U32(input.override.id), U32(input.override.domain), U32(input.override.min_khz),
		U32(input.override.max_khz), U32(input.override.frozen_khz),
		U32(input.override.uid), NOW(input.override.end_ns) } },
	[RECORD_TASK_RULES] = { 256, {
		U32(input.task_rules.pid), U64(input.task_rules.matched),
		U32(input.task_rules.tgid), COMM(input.task_rules.comm) } },
	[RECORD_SET_RUN] = { 256, {
		U32(input.set_run.cpu), NOW(input.set_run.ran_ns), NOW(input.set_run.counted_ns),
		U64(input.set_run.matched), U32(input.set_run.ran_pid),
		U32(input.set_run.counted_pid) } },
	[RECORD_BESIDE] = { 256, { U32(input.beside.pid), U64(input.beside.matched) } },
};

/*
 * Every field by its position. One that is added in src/core does not compile here: it goes to the
 * end of its row above, or nobody can replay what depends on it.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
static const struct {
	struct input_cpu cpu;
	struct input_task_io io;
	struct input_task task;
	struct input_device device;
	struct input_limits limits;
	struct input_domain domain;
	struct input_override override;
	struct input_task_rules task_rules;
	struct input_set_run set_run;
	struct input_beside beside;
	struct decision decision;
} all_fields __attribute__((unused)) = {
	{ 0, 0, 0, 0, 0, 0 },
	{ 0, 0, 0, 0 },
	{ 0, 0, 0, 0, { 0 }, 0, 0, 0, 0, 0, 0, 0, 0, { { 0, 0, 0, 0 } } },
	{ 0, 0, 0, 0, 0 },
	{ 0, 0, 0 },
	{ 0, 0, 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0 },
	{ 0, 0, { 0 }, 0 },
	{ 0, 0, 0, 0, 0, 0 },
	{ 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0, 0 },
};

/* And every word: one more raises the highest in the row of RECORD_DECIDE. */
#pragma GCC diagnostic error "-Wswitch"
static __attribute__((unused)) void all_words(const struct decision *decision)
{
	switch (decision->reason) {
	case REASON_IDLE: case REASON_UTILISATION: case REASON_IO_BOOST: case REASON_INTERRUPT:
	case REASON_FLOOR: case REASON_UNCAPPED:
		break;
	}
	switch (decision->limiter) {
	case LIMITER_NONE: case LIMITER_POLICY_MIN: case LIMITER_POLICY_MAX:
	case LIMITER_SCALING_MIN: case LIMITER_SCALING_MAX:
	case LIMITER_OVERRIDE_MIN: case LIMITER_OVERRIDE_MAX: case LIMITER_FROZEN:
	case LIMITER_CAP:
		break;
	}
	switch (decision->timing) {
	case TIMING_NOW: case TIMING_HELD: case TIMING_RATE_LIMITED:
		break;
	}
}
#pragma GCC diagnostic pop
/* clang-format on */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a comm is put as two numbers");
_Static_assert(TASK_IOS_MAX == 4 && TASK_COMM_SIZE == 16, "the row of RECORD_TASK lists them");

struct record_state {
	uint64_t now_ns;
	uint64_t *last[RECORD_TYPES]; /* slots · count_fields() */
};

static uint32_t count_fields(enum record_type type)
{
	uint32_t n = 0;

	while (n < FIELDS_MAX && layouts[type].fields[n].size)
		n++;
	return n;
}

struct record_state *record_state_new(void)
{
	struct record_state *state = calloc(1, sizeof(*state));

	for (int i = 0; state && i < RECORD_TYPES; i++) {
		if (!layouts[i].slots)
			continue;
		state->last[i] = calloc(layouts[i].slots, count_fields(i) * sizeof(uint64_t));
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
	return type == RECORD_ADVANCE || layouts[type].slots;
}

static uint64_t load(const void *base, const struct field *field)
{
	const char *at = (const char *)base + field->offset;
	uint32_t u32;
	uint64_t u64;

	switch (field->size) {
	case 1:
		return *(const uint8_t *)at;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

static void store(void *base, const struct field *field, uint64_t value)
{
	char *at = (char *)base + field->offset;
	uint32_t u32 = value;

	switch (field->size) {
	case 1:
		*(uint8_t *)at = value;
		break;
	case 4:
		memcpy(at, &u32, sizeof(u32));
		break;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

static uint64_t *last_values(struct record_state *state, enum record_type type, uint64_t key)
{
	return state->last[type] + key % layouts[type].slots * count_fields(type);
}

static int put_fields(struct record_state *state, struct record_out *out,
		      const struct record *record)
{
	const struct field *fields = layouts[record->type].fields;
	uint64_t key = load(record, &fields[0]), *last, value, difference;
	int unchanged = 0; /* so far; put when something follows that is not */

	if (key > fields[0].most)
		return -ERANGE;
	last = last_values(state, record->type, key);
	record_put_varint(out, key);
	for (int i = 1; i < FIELDS_MAX && fields[i].size; i++) {
		value = load(record, &fields[i]);
		if (value > fields[i].most)
			return -ERANGE;
		difference = value - (fields[i].from_now ? record->now_ns : last[i]);
		last[i] = value;
		if (!difference) {
			unchanged++;
			continue;
		}
		for (; unchanged; unchanged--)
			record_put_difference(out, 0);
		record_put_difference(out, difference);
	}
	return 0;
}

int record_fields_put(struct record_state *state, struct record_out *out,
		      const struct record *record)
{
	bool has_time = record->now_ns != state->now_ns;
	uint8_t bytes[FIELDS_MAX * 10 + 10], tag = record->type | (has_time ? RECORD_FLAG_TIME : 0);
	struct record_out body = { .data = bytes, .size = sizeof(bytes) };
	int r = 0;

	if (has_time)
		record_put_difference(&body, record->now_ns - state->now_ns);
	state->now_ns = record->now_ns;
	if (layouts[record->type].slots)
		r = put_fields(state, &body, record);
	if (r < 0)
		return r;
	record_put_bytes(out, &tag, 1);
	record_put_varint(out, body.n);
	record_put_bytes(out, bytes, body.n);
	return out->full ? -E2BIG : 0;
}

static int get_fields(struct record_state *state, struct record_in *in, struct record *ret)
{
	const struct field *fields = layouts[ret->type].fields;
	uint64_t key = record_get_number(in, fields[0].most), *last, value;

	if (in->bad)
		return -EBADMSG;
	last = last_values(state, ret->type, key);
	store(ret, &fields[0], key);
	for (int i = 1; i < FIELDS_MAX && fields[i].size; i++) {
		value = fields[i].from_now ? ret->now_ns : last[i];
		if (in->at < in->end)
			value += record_get_difference(in);
		if (in->bad || value > fields[i].most)
			return -EBADMSG;
		store(ret, &fields[i], value);
		last[i] = value;
	}
	return 0;
}

int record_fields_get(struct record_state *state, struct record_in *in, bool has_time,
		      struct record *ret)
{
	int r = 0;

	if (has_time)
		state->now_ns += record_get_difference(in);
	if (in->bad)
		return -EBADMSG;
	ret->now_ns = state->now_ns;
	if (layouts[ret->type].slots)
		r = get_fields(state, in, ret);
	if (r < 0)
		return r;
	return in->at < in->end ? -EPROTONOSUPPORT : 0;
}

bool record_same_decision(const struct decision *a, const struct decision *b)
{
	const struct field *fields = layouts[RECORD_DECIDE].fields;
	const struct record ra = { .decision = *a }, rb = { .decision = *b };

	for (int i = 0; i < FIELDS_MAX && fields[i].size; i++)
		if (load(&ra, &fields[i]) != load(&rb, &fields[i]))
			return false;
	return true;
}
