/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* An engine to which the records of a file are played, one after the other. */

#include "record/reader.h"
#include "record/recorder.h"

struct player {
	const struct record_reader *reader; /* borrowed, after record_reader_begin() */
	struct recorder *again;		    /* records what is played; NULL for not */
	struct engine *engine;
	bool *active; /* per domain: engine_decide() asserts it, and a file may say anything */
};

/* Returns 0 or -ENOMEM. In both cases player_deinit() is right afterwards. */
int player_init(struct player *player, const struct record_reader *reader,
		const struct policy *policy, struct recorder *again);
void player_deinit(struct player *player);

/*
 * Tells the engine what record says it was told. Not for what is decided and what follows from
 * that: RECORD_DECIDE, RECORD_TAKE_…; nor for RECORD_POLICY. Returns 0, or -EBADMSG for a
 * piece that no engine can have known.
 */
int player_tell(struct player *player, const struct record *record);
