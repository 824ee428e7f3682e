/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A recording: the calls that changed an engine, in order, and its decisions.
 *
 *	file	struct record_head, frame…
 *	frame	of zstd, with a checksum: at most RECORD_FRAME_BYTES of records, whole or in part
 *	record	struct record_tag, and the struct of that call as it lies in memory
 *
 * The first records are the topology, the policy and a copy of the engine's memory
 * (engine_state()); the last is RECORD_END. A file that is cut anywhere is readable up to the last
 * whole frame, and a changed byte is found before its frame is used.
 *
 * Only programs of the same build read it: the head has a hash of the headers that define these
 * structs (RECORD_BUILD, by src/meson.build). Otherwise a recording may contain anything, so the
 * reader checks every value that the engine does not check itself (valid.c).
 */

#include "core/engine.h"

#define RECORD_MAGIC	   "wakegov" /* with its NUL; so is the build */
#define RECORD_MAGIC_SIZE  8
#define RECORD_BUILD_SIZE  16
#define RECORD_FRAME_BYTES (64u << 10)

struct record_head {
	char magic[RECORD_MAGIC_SIZE];
	char build[RECORD_BUILD_SIZE];
};

/* What a record may be besides an enum engine_call_type. */
enum record_type {
	RECORD_TOPOLOGY = ENGINE_POP_CLAMP + 1,
	RECORD_STATE, /* with the time at which the recording began */
	RECORD_END,   /* with the time at which it ended */
};

struct record_tag {
	uint64_t now_ns; /* a call without a time has that of the last call with one */
	uint32_t type;	 /* enum engine_call_type or enum record_type */
	uint32_t value;	 /* of an input its type, of a decision its outcome, else a number */
};

/* Where the struct of an input of this type lies in struct input, and its size; 0: no such type. */
#define RECORD_INPUT_AT offsetof(struct input, cpu)
size_t record_input_size(uint32_t type);

/* Whether the engine can trust what a recording contains. */
bool record_topology_is_valid(const struct topology *topology);
bool record_policy_is_valid(const struct policy *policy);
bool record_input_is_valid(const struct input *input, const struct topology *topology);
bool record_decision_is_valid(const struct decision *decision, const struct topology *topology);
