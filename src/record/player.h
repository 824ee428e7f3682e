/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Plays the records of a file to an engine. */

#include "record/reader.h"
#include "record/recorder.h"

/*
 * Creates the engine of the recording's beginning, with the given policy, whose sizes must be those
 * of the recorded one. again records the played calls; NULL: no. Call it after
 * record_reader_begin(). Returns 0, -ENOMEM, or a failure whose reason is in record_reader_why().
 */
int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret);

/*
 * Repeats the recorded call on the engine. Not for decisions and their consequences: RECORD_DECIDE,
 * RECORD_TAKE_…; nor for RECORD_POLICY.
 */
void player_tell(struct engine *engine, const struct record *record);
