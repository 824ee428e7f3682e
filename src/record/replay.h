/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Replays a recording on a new engine and compares its decisions with the recorded ones. */

#include "record/player.h"

#define REPLAY_NO_TASK UINT32_MAX

enum replay_outcome {
	REPLAY_SAME,	/* every decision is the same, and the recording is complete */
	REPLAY_CUT,	/* every decision is the same up to where the file is cut */
	REPLAY_DIFFERS, /* stopped at the first difference */
};

struct replay {
	uint64_t n_inputs;
	uint64_t n_decisions; /* decisions made, including the one that differs */
	bool begun;	      /* begin_ns is known: */
	uint64_t begin_ns;    /* time of the first record with one */
	uint64_t end_ns;      /* time of the last */
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
