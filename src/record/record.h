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
#include <stdio.h>

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

/*
 * Records the calls that change an engine, as the engine reports them (engine_set_tap()). A
 * recording starts with the state of the engine, and ends before the recorder is freed: with
 * engine_set_tap(engine, NULL, NULL), or with the engine. A failed write fails no call: the first
 * failure is kept, nothing more is written, and recorder_end() returns it.
 */

/* Writes all of data, or returns a negative errno. Called with whole frames, in order. */
typedef int (*record_write_t)(void *userdata, const void *data, size_t size);

struct recorder {
	/* For the caller to read. */
	int error;	/* 0, or of a write or the compression */
	uint64_t bytes; /* that were written */

	/* recorder.c */
	record_write_t write;
	void *userdata;
	struct ZSTD_CCtx_s *zstd;
	uint64_t now_ns; /* of the last call with a time */
	size_t n;	 /* bytes of the open frame */
	uint8_t frame[RECORD_FRAME_BYTES];
};

/* Writes nothing yet. NULL without memory. */
struct recorder *recorder_new(record_write_t write, void *userdata);
struct recorder *recorder_free(struct recorder *recorder);

/* Begins a recording of an engine: its state at now_ns, and every later call. */
void recorder_begin(struct recorder *recorder, struct engine *engine, uint64_t now_ns);
/* Writes the open frame. Returns recorder->error. */
int recorder_flush(struct recorder *recorder);
/*
 * Writes the end and flushes; nothing may be recorded after it. now_ns before the last call counts
 * as the time of that. Returns recorder->error.
 */
int recorder_end(struct recorder *recorder, uint64_t now_ns);

/*
 * Reads a recording, call by call. Nothing in a file is trusted: every call that is returned is
 * safe for an engine of its topology, except engine_decide() for a domain that is not active
 * (player_play() checks that).
 */

enum record_outcome {
	RECORD_ENDED, /* complete, and at its end */
	RECORD_READ,
	RECORD_CUT, /* the file ends before the recording; everything before the cut was read */
};

struct record_reader {
	/* For the caller to read, after record_reader_begin(). */
	struct topology *topology;
	struct policy policy; /* at the beginning */
	void *state;	      /* the same: engine_state_size() bytes for engine_load(), unchecked */
	/* From the beginning to the end, or so far to the last call: CLOCK_MONOTONIC there. */
	uint64_t begin_ns, end_ns;
	uint64_t offset; /* of the frame with the last call, or of what could not be read */
	char why[160];	 /* the last failure with its offset, or where the file is cut */

	/* reader.c */
	FILE *file;
	struct ZSTD_DCtx_s *zstd;
	size_t n_compressed, at_compressed; /* bytes that were read, and those that were used */
	size_t n, at;			    /* the same of the frame */
	uint64_t next_offset;		    /* of the bytes to be read from the file */
	union {
		struct input input;
		struct decision decision;
		struct task_class class;
		struct task_clamp clamp;
		struct policy policy;
	} body; /* of the last call */
	uint8_t compressed[RECORD_FRAME_BYTES];
	uint8_t frame[RECORD_FRAME_BYTES];
};

/* Reads nothing yet. file is borrowed. NULL without memory. */
struct record_reader *record_reader_new(FILE *file);
struct record_reader *record_reader_free(struct record_reader *reader);

/*
 * Reads the description of the engine; call it once, first. Returns 0, or a negative errno with a
 * reason in reader->why: -ENODATA for an empty file or one that is cut before the first call,
 * -EBADMSG for a damaged or foreign one, -EPROTONOSUPPORT for one of another build, -ENOMEM, -EIO.
 */
int record_reader_begin(struct record_reader *reader);

/*
 * Reads the next call; what it points to is borrowed until the one after. A call without a time has
 * that of the last call with one. Returns an enum record_outcome, or as record_reader_begin().
 */
int record_reader_next(struct record_reader *reader, struct engine_call *ret);

/* For a well-formed record that no engine can have made: sets reader->why. Returns -EBADMSG. */
int record_reader_refuse(struct record_reader *reader, const char *why);

/*
 * Plays a recording on a new engine: to compare its decisions with the recorded ones, for what is
 * not in the file but in an engine that gets the same inputs, or to see what another policy would
 * have decided.
 */

/*
 * Creates the engine of the recording's beginning, with the given policy, whose sizes must be those
 * of the recorded one. again records the played calls; NULL: no. Call it after
 * record_reader_begin(). Returns 0, -ENOMEM, or a failure whose reason is in reader->why.
 */
int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret);

#define REPLAY_NO_TASK UINT32_MAX

enum replay_outcome {
	REPLAY_SAME,	/* every decision is the same, and the recording is complete */
	REPLAY_CUT,	/* every decision is the same up to where the file is cut */
	REPLAY_DIFFERS, /* stopped at the first difference */
};

struct replay {
	uint64_t n_inputs;
	uint64_t n_decisions; /* decisions made, including the one that differs */
	/* The last answer, or the difference. */
	struct decision recorded;
	struct decision replayed;
	enum engine_call_type type;	       /* ENGINE_COMMIT, or the call about a task … */
	uint32_t recorded_task, replayed_task; /* … and the task: a pid, or the tracer's handle */
};

/*
 * Repeats the recorded call on the engine. Returns REPLAY_SAME; REPLAY_DIFFERS if the engine
 * answered something else than was recorded; or -EBADMSG for a decision for a domain that is not
 * active, with reader->why. *ret is all zero before the first call.
 */
int player_play(struct engine *engine, struct record_reader *reader, const struct engine_call *call,
		struct replay *ret);

/*
 * Replays the records of reader, after record_reader_begin(). again records the replay; NULL: no.
 * Returns an enum replay_outcome, or a negative errno, except for -ENOMEM with the reason in
 * reader->why; *ret is set then too.
 */
int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret);

/*
 * What a recording would have been under another policy: an engine with that policy gets the
 * recorded inputs, and decides when its own rules say so.
 *
 * The tasks behave as recorded: a recording cannot tell whether they would have done more or less
 * I/O at another frequency. They are sampled when they were: a policy that would have sampled them
 * earlier decides with the sample before.
 */

#define WHAT_IF_DIFFERENCES 3

/* The frequencies decided for a domain, their times, and the number of changes. */
struct opp_times {
	const struct topology_domain *info; /* borrowed */
	uint64_t at_ns[DOMAIN_OPPS_MAX];    /* time at each OPP */
	uint64_t changes;
	uint32_t khz;	   /* present frequency; 0: none, or not ours */
	uint64_t since_ns; /* time up to which it is accounted */
};

uint64_t opp_times_total_ns(const struct opp_times *times);

/* The mean over that time; 0 without any. */
uint32_t opp_times_mean_khz(const struct opp_times *times);

/* A time from which on the two have different frequencies of a domain. */
struct what_if_difference {
	uint64_t at_ns; /* since the beginning of the recording */
	struct decision recorded;
	struct decision other;
};

struct what_if {
	uint32_t n_domains;
	struct opp_times *recorded; /* per domain */
	struct opp_times *other;
	uint64_t n_recorded; /* number of recorded decisions */
	uint64_t n_other;
	uint64_t n_differences;
	struct what_if_difference differences[WHAT_IF_DIFFERENCES]; /* the first differences */
	bool cut; /* the file is cut; reader->why says where */
};

/*
 * Plays the records of reader, after record_reader_begin(), to the end; its topology stays
 * borrowed. Returns 0, -ENOMEM, or as record_reader_next(). Call what_if_deinit() in all cases.
 */
int what_if_run(struct record_reader *reader, const struct policy *policy, struct what_if *ret);
void what_if_deinit(struct what_if *what_if);
