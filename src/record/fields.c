// SPDX-License-Identifier: GPL-2.0-only
#include "record/fields.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
#define FIELD(_field, _expect, _like, _most) \
	{ offsetof(struct record, _field), sizeof(((struct record *)0)->_field), (_expect), (_like), \
	  (_most) }
#define U64(_field) FIELD(_field, RECORD_EXPECT_LAST, 0, UINT64_MAX)
#define U32(_field) FIELD(_field, RECORD_EXPECT_LAST, 0, UINT32_MAX)
#define NOW(_field) FIELD(_field, RECORD_EXPECT_NOW, 0, UINT64_MAX)
#define LIKE(_field, _like) FIELD(_field, RECORD_EXPECT_LIKE, _like, UINT64_MAX)
/* Numbers, words and flags of which the core relies on not being more. */
#define MOST(_field, _most) FIELD(_field, RECORD_EXPECT_LAST, 0, _most)
#define FLAG(_field) MOST(_field, 1)
#define END { 0, 0, 0, 0, 0 }

/* A comm goes as two numbers, of which the last byte is its NUL. */
#define COMM(_field) \
	{ offsetof(struct record, _field), 8, RECORD_EXPECT_LAST, 0, UINT64_MAX }, \
	{ offsetof(struct record, _field[8]), 8, RECORD_EXPECT_LAST, 0, UINT64_MAX >> 8 }
#define TASK_IO(_i) \
	U64(input.task.ios[_i].ios), U64(input.task.ios[_i].host_ns), \
	U64(input.task.ios[_i].host_cpu_ns)
#define TASK_DEVICE(_i) MOST(input.task.ios[_i].device, INPUT_DEVICES_MAX - 1)

#define TALLY(_t) U64(_t.ios), U64(_t.other_ios), U64(_t.level_ns), U64(_t.time_ns)
#define EXPERIMENT(_e) \
	U64(_e.random), U64(_e.mark_ns), TALLY(_e.mark), U64(_e.settled_ns), U64(_e.next_ns), \
	U64(_e.aged_ns), U64(_e.reopen_ns), U64(_e.worse_ns), U64(_e.pair_ns), U64(_e.sum), \
	U64(_e.squares), U64(_e.weight), U64(_e.pairs), U64(_e.device_sum), \
	U64(_e.device_squares), U32(_e.scale), U32(_e.predicted), U32(_e.found), U32(_e.first), \
	U32(_e.first_device), U32(_e.first_level), U32(_e.on_level), U32(_e.off_level), \
	U32(_e.tries), U32(_e.tried), MOST(_e.verdict, EXPERIMENT_SAME), MOST(_e.window, 2), \
	MOST(_e.same, UINT8_MAX), FLAG(_e.order), FLAG(_e.rest), FLAG(_e.arm), FLAG(_e.again), \
	U64(_e.window_ns), U64(_e.looked_ns), U64(_e.looked_ios), U64(_e.silence_ns), U64(_e.silent_ns), \
	U64(_e.seen_ns), FLAG(_e.is_long), FLAG(_e.is_confirmed)
#define WINDOW(_w) \
	U64(_w.start_ns), U64(_w.io_waits), U64(_w.io_starts), U64(_w.host_cpu_ns), \
	U64(_w.think_ns), U64(_w.in_flight_ns), U32(_w.max_depth), U32(_w.level), U64(_w.seen_ns), \
	U64(_w.level_ns), U32(_w.device_of[0]), U32(_w.device_of[1]), U32(_w.device_of[2]), \
	U32(_w.device_of[3]), U64(_w.ios_of[0]), U64(_w.ios_of[1]), U64(_w.ios_of[2]), \
	U64(_w.ios_of[3])
#define DECISION(_d) \
	U32(_d.want_cap), U32(_d.wanted_khz), U32(_d.target_khz), U32(_d.previous_khz), \
	MOST(_d.timing, TIMING_RATE_LIMITED), MOST(_d.reason, REASON_LAST), U32(_d.pid), \
	U32(_d.cpu), MOST(_d.limiter, LIMITER_LAST), COMM(_d.comm), NOW(_d.now_ns), \
	U32(_d.rule), U32(_d.capped_pid)

#define OVERRIDE(_o) \
	U32(_o.domain), U32(_o.min_khz), U32(_o.max_khz), U32(_o.frozen_khz), U32(_o.uid), \
	NOW(_o.end_ns)

#define AT_WORK(_a) U32(_a.cap), U32(_a.cpu), U32(_a.pid), U32(_a.rule), U64(_a.until_ns)
#define INPUT_DEVICE(_d) \
	MOST(_d.device, INPUT_DEVICES_MAX - 1), U64(_d.completions), U64(_d.idle_ns), \
	U32(_d.depth), U32(_d.completion_cpu)

#define ROW(_slots, ...) { _slots, (const struct record_field[]){ __VA_ARGS__, END } }

/* Eight fields share a byte that says which of them are as expected: those that change come first. */
static const struct record_layout layouts[RECORD_TYPES] = {
	[RECORD_CPU] = ROW(256,
		U32(input.cpu.cpu), U32(input.cpu.util_q), FLAG(input.cpu.running),
		U64(input.cpu.idle_since_ns), U32(input.cpu.est_q), U64(input.cpu.burst_ns)),
	[RECORD_TASK] = ROW(256,
		U32(input.task.handle), NOW(input.task.last_io_ns), U64(input.task.io_waits),
		LIKE(input.task.io_starts, 2), LIKE(input.task.ios[0].ios, 3),
		U64(input.task.ios[0].host_ns), LIKE(input.task.ios[0].host_cpu_ns, 5),
		U64(input.task.in_flight_ns), U32(input.task.busy_ppm),
		U32(input.task.depth), U32(input.task.cpu), U32(input.task.level_q),
		U32(input.task.max_depth), TASK_IO(1), TASK_IO(2), TASK_IO(3),
		MOST(input.task.n_ios, TASK_IOS_MAX), U32(input.task.pid), U32(input.task.tgid),
		COMM(input.task.comm), FLAG(input.task.watched),
		TASK_DEVICE(0), TASK_DEVICE(1), TASK_DEVICE(2), TASK_DEVICE(3)),
	[RECORD_TASK_END] = ROW(1, U32(input.ended_pid)),
	[RECORD_DEVICE] = ROW(INPUT_DEVICES_MAX,
		MOST(input.device.device, INPUT_DEVICES_MAX - 1), U64(input.device.completions),
		U64(input.device.idle_ns), U32(input.device.depth),
		U32(input.device.completion_cpu)),
	[RECORD_DEVICE_END] = ROW(1, MOST(input.ended_device, INPUT_DEVICES_MAX - 1)),
	[RECORD_LIMITS] = ROW(64,
		U32(input.limits.domain), U32(input.limits.min_khz), U32(input.limits.max_khz)),
	[RECORD_DOMAIN] = ROW(1,
		U32(input.domain.domain), FLAG(input.domain.active), FLAG(input.domain.driven),
		FLAG(input.domain.clamps)),
	[RECORD_DECIDE] = ROW(256, U32(decision.domain), DECISION(decision)),
	[RECORD_FORGET_TARGET] = ROW(1, U32(domain)),
	[RECORD_TAKE_BACK] = ROW(1, U32(domain)),
	[RECORD_TAKE_ENDED] = ROW(1, U32(handle)),
	[RECORD_TASK_RULES] = ROW(256,
		U32(input.task_rules.pid), U64(input.task_rules.matched),
		U32(input.task_rules.tgid), COMM(input.task_rules.comm)),
	[RECORD_CLASS_RUN] = ROW(256,
		U32(input.class_run.cpu), NOW(input.class_run.ran_ns), NOW(input.class_run.long_running_ns),
		U64(input.class_run.matched), U32(input.class_run.ran_pid),
		U32(input.class_run.long_running_pid), U32(input.class_run.own)),
	[RECORD_CO_RUNNER] = ROW(256, U32(input.co_runner.pid), U64(input.co_runner.matched),
		U32(input.co_runner.own)),
	[RECORD_REFERENCE] = ROW(256, U32(input.reference.domain), U32(input.reference.khz)),
	[RECORD_OWN_CLAMPS] = ROW(256, U32(input.own_clamps.pid), U32(input.own_clamps.own)),
	[RECORD_BURSTS] = ROW(256, U64(input.bursts.length_ns), U64(input.bursts.matched), U32(input.bursts.own)),
	[RECORD_TAKE_CLASS] = ROW(256, U32(class.pid), U32(class.class), U32(class.before)),
	[RECORD_TAKE_CLAMP] = ROW(256,
		U32(clamp.pid), U32(clamp.min_cap), U32(clamp.max_cap),
		MOST(clamp.min_why, CLAMP_NEIGHBOUR), MOST(clamp.max_why, CLAMP_NEIGHBOUR),
		U32(clamp.min_rule), U32(clamp.max_rule)),
	[RECORD_OVERRIDE] = ROW(64, U32(input.override.id), OVERRIDE(input.override)),
	/* Each comes once: what is remembered is that of the one before. */
	[RECORD_PIECE_CPU] = ROW(1,
		U32(piece.index), U32(piece.cpu.util_q), FLAG(piece.cpu.running),
		U64(piece.cpu.idle_since_ns), U32(piece.cpu.est_q), U64(piece.cpu.burst_ns)),
	[RECORD_PIECE_DOMAIN] = ROW(1,
		U32(piece.index), FLAG(piece.domain.active), FLAG(piece.domain.driven),
		FLAG(piece.domain.due), FLAG(piece.domain.clamps), U32(piece.domain.effective_cap),
		AT_WORK(piece.domain.uncap), U64(piece.domain.watch_ran),
		U64(piece.domain.watch_long_running), U32(piece.domain.scaling_min_khz),
		U32(piece.domain.scaling_max_khz), U64(piece.domain.changed_ns),
		U64(piece.domain.lower_since_ns), U64(piece.domain.next_ns),
		DECISION(piece.domain.last), FLAG(piece.domain.falls_at_once),
		U32(piece.domain.trial)),
	[RECORD_PIECE_DEVICE] = ROW(1,
		U32(piece.index), FLAG(piece.device.present),
		INPUT_DEVICE(piece.device.totals), INPUT_DEVICE(piece.device.rates.since),
		U64(piece.device.rates.since_ns), FLAG(piece.device.rates.known),
		U32(piece.device.rates.completions_per_s), U32(piece.device.rates.idle_permille),
		U64(piece.device.sampled_ns), U64(piece.device.next_ns), U32(piece.device.n_users),
		U64(piece.device.ios), U64(piece.device.edge_ns),
		U32(piece.device.completion_domain), U32(piece.device.n_completed_there)),
	[RECORD_PIECE_GROUP] = ROW(1,
		U32(piece.index), FLAG(piece.group.used), FLAG(piece.group.moved_limits),
		U32(piece.group.device), U32(piece.group.tgid), U32(piece.group.kind),
		U32(piece.group.ratio), U32(piece.group.found_ratio),
		U32(piece.group.depth_milli), U32(piece.group.n_tasks),
		U32(piece.group.n_asked), U64(piece.group.seen_ns), U64(piece.group.due_ns),
		TALLY(piece.group.tally), EXPERIMENT(piece.group.experiment)),
	[RECORD_PIECE_TASK] = ROW(1,
		U32(piece.index), U32(piece.task.pid), U32(piece.task.tgid), U32(piece.task.handle),
		FLAG(piece.task.released), U32(piece.task.cpu), COMM(piece.task.comm),
		MOST(piece.task.io_boost.state, IO_BOOST_LAPSED), FLAG(piece.task.io_boost.granted),
		FLAG(piece.task.io_boost.watched),
		U64(piece.task.io_boost.hold_end_ns), U64(piece.task.io_boost.next_ns),
		U32(piece.task.io_boost.rate_per_s), U32(piece.task.io_boost.device),
		U32(piece.task.io_boost.ratio), U32(piece.task.io_boost.held_ratio),
		U32(piece.task.io_boost.wanted_khz), U32(piece.task.io_boost.n_windows),
		U64(piece.task.io_boost.io_waits), U64(piece.task.io_boost.io_starts),
		U64(piece.task.io_boost.seen_ns), U32(piece.task.io_boost.level),
		U32(piece.task.io_boost.group), U32(piece.task.io_boost.depth_milli),
		U32(piece.task.io_boost.traced_per_s), FLAG(piece.task.io_boost.sends_requests),
		U32(piece.task.io_boost.held_windows), U32(piece.task.io_boost.traced_windows),
		WINDOW(piece.task.io_boost.window),
		U64(piece.task.flip.moved_ns), U64(piece.task.flip.until_ns),
		U32(piece.task.flip.domain), U32(piece.task.flip.khz),
		U32(piece.task.io_boost.window.busy_ppm), U64(piece.task.io_boost.window.busy_ns),
		U32(piece.task.io_boost.window.depth)),
	[RECORD_PIECE_RULED_TASK] = ROW(1,
		U32(piece.index), U32(piece.ruled_task.pid), U32(piece.ruled_task.tgid),
		COMM(piece.ruled_task.comm), U64(piece.ruled_task.matched)),
	[RECORD_PIECE_OVERRIDE] = ROW(1,
		U32(piece.index), U32(piece.override.id), OVERRIDE(piece.override)),
	[RECORD_PIECE_CLAMP_CLASS] = ROW(1, U32(piece.index), U64(piece.class.matched), U32(piece.class.own),
		U64(piece.class.burst_ns)),
	[RECORD_PIECE_CLASS_RUN] = ROW(1,
		U32(piece.index), U32(piece.class_run.class), U64(piece.class_run.run.ran_ns),
		U64(piece.class_run.run.long_running_ns), U32(piece.class_run.run.ran_pid),
		U32(piece.class_run.run.long_running_pid)),
	[RECORD_PIECE_CLAMPED] = ROW(1,
		U32(piece.index), U32(piece.clamped.pid), COMM(piece.clamped.comm),
		U32(piece.clamped.class), U32(piece.clamped.told_class), U32(piece.clamped.co_runner_class),
		U32(piece.clamped.boost_cap), FLAG(piece.clamped.does_io), U32(piece.clamped.own),
		U32(piece.clamped.given_min_cap),
		U32(piece.clamped.given_max_cap), FLAG(piece.clamped.waits_for_class),
		FLAG(piece.clamped.waits_for_clamp)),
	[RECORD_PIECE_REST] = ROW(1,
		U32(piece.index), U64(piece.rest.refused_tasks),
		U64(piece.rest.refused_ruled_tasks), U64(piece.rest.refused_clamped),
		U64(piece.rest.refused_classes), U32(piece.rest.classes_epoch),
		U32(piece.rest.classes_version), U64(piece.rest.devices_next_ns),
		FLAG(piece.rest.tracing.on), FLAG(piece.rest.tracing.ends),
		U64(piece.rest.tracing.until_ns), U64(piece.rest.tracing.began_ns),
		U64(piece.rest.tracing.quiet_ns), U64(piece.rest.groups_next_ns),
		U32(piece.rest.group_turn), U32(piece.rest.n_groups_begun)),
};

/*
 * Every field by its position. One that is added in src/core does not compile here: it goes to the
 * end of its row above, or nobody can replay what depends on it.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#define ALL_OF_DECISION { 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0, 0 }
static const struct {
	struct input_cpu input_cpu;
	struct input_task_io io;
	struct input_task input_task;
	struct input_device input_device;
	struct input_limits limits;
	struct input_domain input_domain;
	struct input_override override;
	struct input_task_rules task_rules;
	struct input_class_run class_run;
	struct input_co_runner co_runner;
	struct input_own_clamps own_clamps;
	struct input_bursts bursts;
	struct input_reference reference;
	struct task_class class;
	struct task_clamp clamp;
	struct decision decision;
	struct engine_cpu cpu;
	struct domain domain; /* info and policy are of the start, override of its own piece;
			       * the explanation decides nothing */
	struct io_device device;
	struct io_group group;
	struct experiment experiment;
	struct engine_rest rest;
	struct engine_clamp_class engine_clamp_class;
	struct engine_class_run run;
	struct clamped_task clamped; /* its links are the queues' own */
	struct io_window window;
	struct io_boost boost;
	struct task_flip flip;
	struct task task;
	struct ruled_task ruled_task;
} all_fields __attribute__((unused)) = {
	{ 0, 0, 0, 0, 0, 0 },
	{ 0, 0, 0, 0 },
	{ 0, 0, 0, 0, { 0 }, 0, 0, 0, 0, 0, 0, 0, 0, false, 0, { { 0, 0, 0, 0 } } },
	{ 0, 0, 0, 0, 0 },
	{ 0, 0, 0 },
	{ 0, 0, 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0 },
	{ 0, 0, { 0 }, 0 },
	{ 0, 0, 0, 0, 0, 0, 0 },
	{ 0, 0, 0 },
	{ 0, 0 },
	{ 0, 0, 0 },
	{ 0, 0 },
	{ 0, 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0 },
	ALL_OF_DECISION,
	{ 0, 0, 0, 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0, NULL, { .rate_limit_ns = 0 }, 0, 0, { .min_khz = 0 }, 0,
	  { 0, 0, 0, 0, 0 }, 0, 0, 0, 0, ALL_OF_DECISION, { .n_contenders = 0 } },
	{ 0, { 0, 0, 0, 0, 0 }, 0, 0, { { 0, 0, 0, 0, 0 }, 0, 0, 0, 0 }, 0, 0, 0, 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0 }, { .arm = false } },
	{ 0, 0, { 0, 0, 0, 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0 }, 0, 0, 0 },
	{ 0, 0, 0 },
	{ 0, { 0, 0, 0, 0 } },
	{ 0, { 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 } },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, { 0 } },
	{ 0, 0, 0, 0 },
	{ 0, 0, 0, 0, 0, { 0 }, { 0 }, { 0 } },
	{ 0, 0, { 0 }, 0 },
};

/* And every word: one more raises the highest in its rows, and its type needs a row. */
#pragma GCC diagnostic error "-Wswitch"
static __attribute__((unused)) void all_words(const struct decision *decision)
{
	switch (decision->reason) {
	case REASON_IDLE: case REASON_UTILISATION: case REASON_IO_BOOST:
	case REASON_FLOOR: case REASON_UNCAPPED: case REASON_OWN_FLOOR:
		break;
	}
	switch (decision->limiter) {
	case LIMITER_NONE: case LIMITER_POLICY_MIN: case LIMITER_POLICY_MAX:
	case LIMITER_SCALING_MIN: case LIMITER_SCALING_MAX:
	case LIMITER_OVERRIDE_MIN: case LIMITER_OVERRIDE_MAX: case LIMITER_FROZEN:
	case LIMITER_CAP: case LIMITER_OWN_CAP:
		break;
	}
	switch (decision->timing) {
	case TIMING_NOW: case TIMING_HELD: case TIMING_RATE_LIMITED:
		break;
	}
}

enum record_type record_type_of_input(enum input_type type)
{
	switch (type) {
	case INPUT_CPU: return RECORD_CPU;
	case INPUT_TASK: return RECORD_TASK;
	case INPUT_TASK_END: return RECORD_TASK_END;
	case INPUT_DEVICE: return RECORD_DEVICE;
	case INPUT_DEVICE_END: return RECORD_DEVICE_END;
	case INPUT_LIMITS: return RECORD_LIMITS;
	case INPUT_DOMAIN: return RECORD_DOMAIN;
	case INPUT_OVERRIDE: return RECORD_OVERRIDE;
	case INPUT_TASK_RULES: return RECORD_TASK_RULES;
	case INPUT_CLASS_RUN: return RECORD_CLASS_RUN;
	case INPUT_CO_RUNNER: return RECORD_CO_RUNNER;
	case INPUT_REFERENCE: return RECORD_REFERENCE;
	case INPUT_OWN_CLAMPS: return RECORD_OWN_CLAMPS;
	case INPUT_BURSTS: return RECORD_BURSTS;
	}
	return RECORD_TYPES;
}

enum record_type record_type_of_piece(enum engine_piece_type type)
{
	switch (type) {
	case ENGINE_PIECE_CPU: return RECORD_PIECE_CPU;
	case ENGINE_PIECE_DOMAIN: return RECORD_PIECE_DOMAIN;
	case ENGINE_PIECE_DEVICE: return RECORD_PIECE_DEVICE;
	case ENGINE_PIECE_TASK: return RECORD_PIECE_TASK;
	case ENGINE_PIECE_GROUP: return RECORD_PIECE_GROUP;
	case ENGINE_PIECE_RULED_TASK: return RECORD_PIECE_RULED_TASK;
	case ENGINE_PIECE_OVERRIDE: return RECORD_PIECE_OVERRIDE;
	case ENGINE_PIECE_CLAMP_CLASS: return RECORD_PIECE_CLAMP_CLASS;
	case ENGINE_PIECE_CLASS_RUN: return RECORD_PIECE_CLASS_RUN;
	case ENGINE_PIECE_CLAMPED: return RECORD_PIECE_CLAMPED;
	case ENGINE_PIECE_REST: return RECORD_PIECE_REST;
	}
	return RECORD_TYPES;
}
#pragma GCC diagnostic pop
/* clang-format on */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a comm is put as two numbers");
_Static_assert(TASK_IOS_MAX == 4 && TASK_COMM_SIZE == 16, "the row of RECORD_TASK lists them");
_Static_assert(sizeof(struct record) <= UINT16_MAX, "an offset has 16 bits");

const struct record_layout *record_layout_of(enum record_type type)
{
	return &layouts[type];
}

int record_input_type(enum record_type type)
{
	for (int i = 0; record_type_of_input(i) != RECORD_TYPES; i++)
		if (record_type_of_input(i) == type)
			return i;
	return -1;
}

int record_piece_type(enum record_type type)
{
	for (int i = 0; record_type_of_piece(i) != RECORD_TYPES; i++)
		if (record_type_of_piece(i) == type)
			return i;
	return -1;
}

uint64_t record_field_load(const struct record_field *field, const struct record *record)
{
	const char *at = (const char *)record + field->offset;
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

void record_field_store(const struct record_field *field, struct record *record, uint64_t value)
{
	char *at = (char *)record + field->offset;
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

void record_keep_fields(const struct record *record, struct record *ret)
{
	const struct record_field *fields = layouts[record->type].fields;

	*ret = (struct record){ .type = record->type, .now_ns = record->now_ns };
	for (; fields && fields->size; fields++)
		record_field_store(fields, ret, record_field_load(fields, record));
}

bool record_same_decision(const struct decision *a, const struct decision *b)
{
	const struct record ra = { .decision = *a }, rb = { .decision = *b };

	for (const struct record_field *field = layouts[RECORD_DECIDE].fields; field->size; field++)
		if (record_field_load(field, &ra) != record_field_load(field, &rb))
			return false;
	return true;
}
