/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording: the calls that changed an engine, in order, and what it decided.
 *
 *	file	magic, version (u32), block…
 *	block	length (u16), ~length (u16), CRC-32 of the rest (u32), record…
 *	record	type and flag (1 byte), length (varint), body
 *
 * All numbers are little-endian. A block is written whole, with about RECORD_BLOCK_BYTES of
 * records, so a file that is cut anywhere is readable up to the last whole block, and a byte that
 * changed is found before its block is used. What a crash loses is the block that is open: the
 * daemon closes one in the first round that is a second after the last, so those are up to
 * RECORD_BLOCK_BYTES, of about a second, or of the time before the machine became idle.
 *
 * Blocks are not compressed: records are differences from those before, and what is left of them is
 * nanoseconds and utilisations that nothing foretells. zstd at level 1 takes a fifth away from all
 * of a recording of the simulator's twelve readers, for 130 ns more per input.
 *
 * The first records are the topology, one for each of its domains, the policy, and the engine's
 * state (engine_state()) in pieces: its size, where the piece belongs, and its bytes. What is zero
 * is left out, but for the last piece; of a new engine there is one, with a size of 0. The last
 * record is RECORD_END, which a cut file lacks.
 *
 * What the core can be told changes over time. A field that is added goes to the end of its row in
 * record/fields.c, a record type to the end of the list: old recordings then read it as 0, and an
 * older reader refuses a recording only if it makes use of it. RECORD_VERSION goes up when bytes
 * get another meaning. A state is read only by the wakegov that has the same one: its own header
 * says so (struct engine_state_header).
 */

#include "core/decision.h"
#include "core/engine.h"
#include "core/input.h"
#include "core/settings.h"

#define RECORD_MAGIC	    "wakegov\x1a"
#define RECORD_MAGIC_SIZE   8
#define RECORD_VERSION	    7
#define RECORD_FILE_HEADER  (RECORD_MAGIC_SIZE + 4)

#define RECORD_BLOCK_HEADER 8
#define RECORD_BLOCK_BYTES  4096
#define RECORD_BODY_MAX	    32768
#define RECORD_BLOCK_MAX    (RECORD_BLOCK_BYTES + RECORD_BODY_MAX + 16)

_Static_assert(RECORD_BLOCK_MAX <= UINT16_MAX, "the length of a block has 16 bits");

/* The body starts with a difference of time; without the flag the time is that of the last. */
#define RECORD_FLAG_TIME 0x80

enum record_type {
	RECORD_END,
	RECORD_TOPOLOGY,
	RECORD_TOPOLOGY_DOMAIN,
	RECORD_POLICY, /* of the start, then engine_set_policy() */
	RECORD_CPU,    /* engine_apply(), by the type of the input */
	RECORD_TASK,
	RECORD_TASK_END,
	RECORD_DEVICE,
	RECORD_DEVICE_END,
	RECORD_LIMITS,
	RECORD_DOMAIN,
	RECORD_ADVANCE,
	RECORD_DECIDE, /* engine_decide(), what came out, and engine_commit() */
	RECORD_FORGET_TARGET,
	RECORD_TAKE_ENDED, /* engine_take_ended(), where it gave a handle */
	RECORD_OVERRIDE,   /* engine_apply() */
	RECORD_TASK_RULES, /* likewise */
	RECORD_CLASS_RUN,
	RECORD_CO_RUNNER,
	RECORD_TAKE_CLASS, /* engine_take_class(), where a task waited */
	RECORD_TAKE_CLAMP, /* engine_take_clamp(), likewise */
	RECORD_REFERENCE,  /* engine_apply() */
	RECORD_OWN_CLAMPS, /* likewise */
	RECORD_BURSTS,
	RECORD_STATE, /* engine_load(), of the start */
	RECORD_TYPES,
};

/* One call. Those that take no time have that of the last that did. */
struct record {
	enum record_type type;
	uint64_t now_ns;
	enum engine_outcome outcome; /* of RECORD_DECIDE */
	union {
		struct input input; /* with its own now_ns the same */
		struct decision decision;
		uint32_t domain;	     /* RECORD_FORGET_TARGET */
		uint32_t handle;	     /* RECORD_TAKE_ENDED */
		struct task_class class;     /* RECORD_TAKE_CLASS; pid 0: it was as before */
		struct task_clamp clamp;     /* RECORD_TAKE_CLAMP; likewise */
		const struct policy *policy; /* borrowed from the reader until the next record */
	};
};

/* Between the types of inputs and those of their records; -1: it is none. */
enum record_type record_type_of_input(enum input_type type);
int record_input_type(enum record_type type);

static inline bool record_is_input(enum record_type type)
{
	return record_input_type(type) >= 0;
}

/* Whether it happened at its now_ns. */
static inline bool record_is_timed(enum record_type type)
{
	return type != RECORD_POLICY;
}
