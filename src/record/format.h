/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording: the calls that changed an engine, in order, and its decisions.
 *
 *	file	magic, version (u32), block…
 *	block	length (u16), ~length (u16), CRC-32 of the rest (u32), record…
 *	record	type and flag (1 byte), length (varint), body
 *
 * All numbers are little-endian. A block of about RECORD_BLOCK_BYTES of records is written as a
 * whole, so a file that is cut anywhere is readable up to the last whole block, and a changed byte
 * is found before its block is used. A crash loses the open block: the daemon closes one in the
 * first round that is a second after the last, so this is up to RECORD_BLOCK_BYTES of about a
 * second, or of the time before the machine became idle.
 *
 * Blocks are not compressed: records are differences from earlier ones, and the rest is nanoseconds
 * and utilisations that cannot be predicted. zstd at level 1 saves a fifth of a recording of the
 * simulator's twelve readers, for 130 ns more per input.
 *
 * The first records are the topology, one for each of its domains, the policy, and the engine's
 * state (engine_state()) in pieces: its size, the piece's offset, and its bytes. Zeros are left
 * out, except in the last piece; a new engine has one piece with a size of 0. The last record is
 * RECORD_END, which a cut file lacks.
 *
 * Inputs of the core change over time. A new field goes to the end of its row in record/fields.c, a
 * new record type to the end of the list: old recordings then read as 0, and an older reader
 * refuses a recording only if it uses the addition. RECORD_VERSION goes up when bytes get another
 * meaning. Only a wakegov with the same state can read a state: its own header tells (struct
 * engine_state_header).
 */

#include "core/decision.h"
#include "core/engine.h"
#include "core/input.h"
#include "core/settings.h"
#include "record/codec.h"

#define RECORD_MAGIC	   "wakegov\x1a"
#define RECORD_MAGIC_SIZE  8
#define RECORD_VERSION	   9
#define RECORD_FILE_HEADER (RECORD_MAGIC_SIZE + 4)

#define RECORD_BLOCK_BYTES 4096
#define RECORD_BODY_MAX	   32768
#define RECORD_BLOCK_MAX   (RECORD_BLOCK_BYTES + RECORD_BODY_MAX + 16)

_Static_assert(RECORD_BLOCK_MAX <= UINT16_MAX, "the length of a block has 16 bits");

/* The body starts with a difference of time; without the flag the time is the last record's. */
#define RECORD_FLAG_TIME 0x80

enum record_type {
	RECORD_END,
	RECORD_TOPOLOGY,
	RECORD_TOPOLOGY_DOMAIN,
	RECORD_POLICY, /* at the start; later engine_set_policy() */
	RECORD_CPU,    /* engine_apply(), by the type of the input */
	RECORD_TASK,
	RECORD_TASK_END,
	RECORD_DEVICE,
	RECORD_DEVICE_END,
	RECORD_LIMITS,
	RECORD_DOMAIN,
	RECORD_ADVANCE,
	RECORD_DECIDE, /* engine_decide(), its decision, and engine_commit() */
	RECORD_FORGET_TARGET,
	RECORD_POP_ENDED,  /* engine_pop_ended(), if it gave a handle */
	RECORD_OVERRIDE,   /* engine_apply() */
	RECORD_TASK_RULES, /* likewise */
	RECORD_CLASS_RUN,
	RECORD_CO_RUNNER,
	RECORD_POP_CLASS,  /* engine_pop_class(), if a task waited */
	RECORD_POP_CLAMP,  /* engine_pop_clamp(), likewise */
	RECORD_REFERENCE,  /* engine_apply() */
	RECORD_OWN_CLAMPS, /* likewise */
	RECORD_BURSTS,
	RECORD_STATE, /* engine_load(), at the start */
	RECORD_OPP,   /* engine_apply() */
	RECORD_TYPES,
};

/* One call. Calls without a time have that of the last call with one. */
struct record {
	enum record_type type;
	uint64_t now_ns;
	enum engine_outcome outcome; /* of RECORD_DECIDE */
	union {
		struct input input; /* its own now_ns is the same */
		struct decision decision;
		uint32_t domain;	     /* RECORD_FORGET_TARGET */
		uint32_t handle;	     /* RECORD_POP_ENDED */
		struct task_class class;     /* RECORD_POP_CLASS; pid 0: unchanged */
		struct task_clamp clamp;     /* RECORD_POP_CLAMP; likewise */
		const struct policy *policy; /* borrowed from the reader until the next record */
	};
};

/* Converts between types of inputs and of their records; -1: none. */
enum record_type record_type_of_input(enum input_type type);
int record_input_type(enum record_type type);

static inline bool record_is_input(enum record_type type)
{
	return record_input_type(type) >= 0;
}

/* Whether records of this type have a time. */
static inline bool record_is_timed(enum record_type type)
{
	return type != RECORD_POLICY;
}
