/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The daemon's messages: each is one line for the journal and for monitors. */

#include "actuator/restore.h"
#include "daemon/state.h"

/* Writes a line to the journal and to monitors. about may be NULL. */
void journal_tell(struct manager *manager, enum message message, const struct message_about *about,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Logs the result of restoring a control. */
void journal_report_restore(void *userdata, const struct restore_result *result);

/*
 * Logs, if r, the result of a restoration, is a negative errno, that not all of `what` ("the clamps
 * of tasks") was restored, and that the rest is in the file of run_dir.
 */
void journal_tell_left(int r, const char *what, const char *run_dir, const char *file);
