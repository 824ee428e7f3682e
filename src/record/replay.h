/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Feeds a recording to a new engine and holds its decisions against those that were recorded. */

#include "record/player.h"

#define REPLAY_NO_TASK UINT32_MAX

enum replay_outcome {
	REPLAY_SAME,	/* every decision, and the recording is whole */
	REPLAY_CUT,	/* every decision up to where the file is cut */
	REPLAY_DIFFERS, /* ended at the first that is another */
};

struct replay {
	uint64_t n_inputs;
	uint64_t n_decisions; /* that were made, with the one that differs */
	bool begun;	      /* begin_ns is known: */
	uint64_t begin_ns;    /* of the first record that has a time */
	uint64_t end_ns;      /* of the last */
	/* Where it differs. */
	struct decision recorded;
	struct decision replayed;
	enum record_type type;		       /* RECORD_DECIDE, or what was said of a task … */
	uint32_t recorded_task, replayed_task; /* … and of which: a pid, or the tracer's handle */
};

/*
 * Replays what reader gives, after record_reader_begin(). again records the replay, NULL for not.
 * Returns an enum replay_outcome, or a negative errno and the reason in record_reader_why(), where
 * that is not -ENOMEM; *ret is set then too.
 */
int replay_run(struct record_reader *reader, struct recorder *again, struct replay *ret);
