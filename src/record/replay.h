/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Feeds a recording to a new engine and holds its decisions against those that were recorded. */

#include <stdio.h>

#include "record/reader.h"
#include "record/recorder.h"

enum replay_outcome {
	REPLAY_SAME,	/* every decision, and the recording is whole */
	REPLAY_CUT,	/* every decision up to where the file is cut */
	REPLAY_DIFFERS, /* ended at the first that is another */
};

struct replay {
	uint64_t n_inputs;
	uint64_t n_decisions; /* that were made, with the one that differs */
	/* Where it differs. */
	struct decision recorded;
	struct decision replayed;
	bool other_end; /* it is not a decision but whose boost ended: */
	uint32_t recorded_handle, replayed_handle;
};

/*
 * Replays what reader gives, after record_reader_begin(). policy is obeyed in place of every one in
 * the recording, to see what it would have changed; NULL: as it was. again records the replay, NULL
 * for not. Returns an enum replay_outcome, or a negative errno and the reason in
 * record_reader_why(), where that is not -ENOMEM; *ret is set then too.
 */
int replay_run(struct record_reader *reader, const struct policy *policy, struct recorder *again,
	       struct replay *ret);

/* "5.120 s policy0 1800 -> 400 MHz (wanted 400), io-boost, pid 12 (dd), …"; without a line end. */
void replay_print_decision(FILE *out, const struct topology *topology,
			   const struct decision *decision);
