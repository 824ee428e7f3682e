/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* An engine to which the records of a file are played, one after the other. */

#include "record/reader.h"
#include "record/recorder.h"

/*
 * An engine as the recording began with, under the policy given, whose sizes are to be those of the
 * recorded one. again records what is played; NULL for not. After record_reader_begin(). Returns 0,
 * -ENOMEM, or a failure of which record_reader_why() has the reason.
 */
int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret);

/*
 * Tells the engine what record says it was told. Not for what is decided and what follows from
 * that: RECORD_DECIDE, RECORD_TAKE_…; nor for RECORD_POLICY.
 */
void player_tell(struct engine *engine, const struct record *record);
