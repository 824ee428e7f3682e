/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Plays a recording on a new engine: to compare its decisions with the recorded ones, or for what
 * is not in the file but in an engine that gets the same inputs.
 */

#include "record/reader.h"
#include "record/recorder.h"

/*
 * Creates the engine of the recording's beginning, with the given policy, whose sizes must be those
 * of the recorded one. again records the played calls; NULL: no. Call it after
 * record_reader_begin(). Returns 0, -ENOMEM, or a failure whose reason is in record_reader_why().
 */
int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret);

#define REPLAY_NO_TASK UINT32_MAX

/* What the engine answered to a call that was played; by the record's type. */
struct played {
	const struct decision *decision; /* borrowed from the engine */
	uint32_t handle;		 /* REPLAY_NO_TASK: none */
	struct task_class class;	 /* pid 0: none */
	struct task_clamp clamp;	 /* pid 0: none */
};

/*
 * Repeats the recorded call on the engine. Returns 0, or -EBADMSG for a decision for a domain that
 * is not active, with record_reader_why().
 */
int player_play(struct engine *engine, struct record_reader *reader, const struct record *record,
		struct played *ret);

/* The time that records span. */
struct played_time {
	bool begun;		   /* begin_ns is known */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC of the recorded machine */
};

/* Extends the span to the record, unless it has no time. */
void played_time_take(struct played_time *time, const struct record *record);

enum replay_outcome {
	REPLAY_SAME,	/* every decision is the same, and the recording is complete */
	REPLAY_CUT,	/* every decision is the same up to where the file is cut */
	REPLAY_DIFFERS, /* stopped at the first difference */
};

struct replay {
	uint64_t n_inputs;
	uint64_t n_decisions; /* decisions made, including the one that differs */
	struct played_time time;
	/* The difference. */
	struct decision recorded;
	struct decision replayed;
	enum record_type type;		       /* RECORD_DECIDE, or the call about a task … */
	uint32_t recorded_task, replayed_task; /* … and the task: a pid, or the tracer's handle */
};

/*
 * Replays the records of reader, after record_reader_begin(). again records the replay; NULL: no.
 * Returns an enum replay_outcome, or a negative errno, except for -ENOMEM with the reason in
 * record_reader_why(); *ret is set then too.
 */
int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret);
