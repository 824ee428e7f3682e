// SPDX-License-Identifier: GPL-2.0-only
#include "record/body.h"

/* clang-format off */
/* Numbers, enums and flags for which the core relies on an upper bound. */
#define MOST(_field, _most) { FIELD(record, _field, _most), RECORD_EXPECT_LAST, 0 }
#define FLAG(_field) MOST(_field, 1)
#define U32(_field) MOST(_field, UINT32_MAX)
#define U64(_field) MOST(_field, UINT64_MAX)
#define NOW(_field) { FIELD(record, _field, UINT64_MAX), RECORD_EXPECT_NOW, 0 }
#define LIKE(_field, _like) { FIELD(record, _field, UINT64_MAX), RECORD_EXPECT_LIKE, _like }
#define DOMAIN(_field) \
	{ FIELD(record, _field, UINT32_MAX), RECORD_EXPECT_LAST, 0, RECORD_CHECK_DOMAIN }
#define PID(_field) { FIELD(record, _field, UINT32_MAX), RECORD_EXPECT_LAST, 0, RECORD_CHECK_PID }
#define END { FIELD_END, 0, 0 }

/* A comm is written as two numbers; the last byte of the second is its NUL. */
#define COMM(_field) \
	{ { offsetof(struct record, _field), 8, UINT64_MAX }, RECORD_EXPECT_LAST, 0 }, \
	{ { offsetof(struct record, _field[8]), 8, UINT64_MAX >> 8 }, RECORD_EXPECT_LAST, 0 }
#define TASK_IO(_i) U64(input.task.ios[_i].ios)
#define TASK_DEVICE(_i) MOST(input.task.ios[_i].device, INPUT_DEVICES_MAX - 1)

#define DECISION(_d) \
	U32(_d.want_cap), U32(_d.wanted_khz), U32(_d.target_khz), U32(_d.previous_khz), \
	MOST(_d.timing, TIMING_RATE_LIMITED), MOST(_d.reason, REASON_LAST), U32(_d.pid), \
	U32(_d.cpu), MOST(_d.limiter, LIMITER_LAST), COMM(_d.comm), NOW(_d.now_ns), \
	U32(_d.rule), U32(_d.capped_pid)

#define ROW(_slots, ...) { _slots, (const struct record_field[]){ __VA_ARGS__, END } }

/*
 * Every member of each struct, or nothing that depends on it can be replayed; tests/unit asks for
 * those that are missing. New ones go to the end of their rows. Eight fields share a byte of flags,
 * so fields that change often come first.
 */
static const struct record_layout layouts[RECORD_TYPES] = {
	[RECORD_CPU] = ROW(256,
		U32(input.cpu.cpu), U32(input.cpu.util_q), FLAG(input.cpu.running),
		U64(input.cpu.idle_since_ns), U32(input.cpu.est_q), U64(input.cpu.burst_ns),
		U32(input.cpu.chain.util_q), U64(input.cpu.chain.seen_ns), U32(input.cpu.chain.pid),
		U32(input.cpu.chain.waker)),
	[RECORD_TASK] = ROW(256,
		U32(input.task.handle), NOW(input.task.last_io_ns), U64(input.task.io_waits),
		LIKE(input.task.io_starts, 2), LIKE(input.task.ios[0].ios, 3),
		U64(input.task.worked_ns), U64(input.task.waited_ns),
		U64(input.task.in_flight_ns),
		U32(input.task.cpu), U32(input.task.level_q),
		TASK_IO(1), TASK_IO(2), TASK_IO(3),
		MOST(input.task.n_ios, TASK_IOS_MAX), PID(input.task.pid), U32(input.task.tgid),
		COMM(input.task.comm), FLAG(input.task.watched),
		TASK_DEVICE(0), TASK_DEVICE(1), TASK_DEVICE(2), TASK_DEVICE(3)),
	[RECORD_TASK_END] = ROW(1, U32(input.ended_pid)),
	[RECORD_DEVICE] = ROW(INPUT_DEVICES_MAX,
		MOST(input.device.device, INPUT_DEVICES_MAX - 1), U64(input.device.completions),
		U64(input.device.in_flight_ns), U32(input.device.depth),
		U32(input.device.completion_cpu)),
	[RECORD_DEVICE_END] = ROW(1, MOST(input.ended_device, INPUT_DEVICES_MAX - 1)),
	[RECORD_LIMITS] = ROW(64,
		DOMAIN(input.limits.domain), U32(input.limits.min_khz), U32(input.limits.max_khz)),
	[RECORD_DOMAIN] = ROW(1,
		DOMAIN(input.domain.domain), FLAG(input.domain.active), FLAG(input.domain.driven),
		FLAG(input.domain.clamps)),
	[RECORD_DECIDE] = ROW(256, DOMAIN(decision.domain), DECISION(decision),
		MOST(outcome, ENGINE_NOT_SET)),
	[RECORD_FORGET_TARGET] = ROW(1, DOMAIN(domain)),
	[RECORD_POP_ENDED] = ROW(1, U32(handle)),
	[RECORD_TASK_RULES] = ROW(256,
		PID(input.task_rules.pid), U64(input.task_rules.matched),
		U32(input.task_rules.tgid), COMM(input.task_rules.comm)),
	[RECORD_CLASS_RUN] = ROW(256,
		U32(input.class_run.cpu), NOW(input.class_run.ran_ns), NOW(input.class_run.long_running_ns),
		U64(input.class_run.matched), U32(input.class_run.ran_pid),
		U32(input.class_run.long_running_pid), U32(input.class_run.own)),
	[RECORD_CO_RUNNER] = ROW(256, PID(input.co_runner.pid), U64(input.co_runner.matched),
		U32(input.co_runner.own)),
	[RECORD_REFERENCE] = ROW(256, DOMAIN(input.reference.domain), U32(input.reference.khz)),
	[RECORD_OWN_CLAMPS] = ROW(256, PID(input.own_clamps.pid), U32(input.own_clamps.own)),
	[RECORD_BURSTS] = ROW(256, U64(input.bursts.length_ns), U64(input.bursts.matched), U32(input.bursts.own)),
	[RECORD_OPP] = ROW(64, DOMAIN(input.opp.domain), U32(input.opp.khz), U32(input.opp.power)),
	[RECORD_POP_CLASS] = ROW(256, U32(class.pid), U32(class.class), U32(class.before)),
	[RECORD_POP_CLAMP] = ROW(256,
		U32(clamp.pid), U32(clamp.min_cap), U32(clamp.max_cap),
		MOST(clamp.min_why, CLAMP_NEED), MOST(clamp.max_why, CLAMP_NEED),
		U32(clamp.min_rule), U32(clamp.max_rule)),
	[RECORD_OVERRIDE] = ROW(64,
		DOMAIN(input.override.domain), U32(input.override.limits.min_khz),
		U32(input.override.limits.max_khz), U32(input.override.limits.frozen_khz),
		U32(input.override.limits.min_id), U32(input.override.limits.max_id),
		U32(input.override.limits.frozen_id)),
};

/* Every type of an input needs a row above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
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
	case INPUT_OPP: return RECORD_OPP;
	}
	return RECORD_TYPES;
}
#pragma GCC diagnostic pop
/* clang-format on */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a comm is put as two numbers");
_Static_assert(TASK_IOS_MAX == 4 && TASK_COMM_SIZE == 16, "the row of RECORD_TASK lists them");

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
