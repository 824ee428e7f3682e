/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the daemon says of itself: one line for the journal, and the same for monitors. */

#include "actuator/restore.h"
#include "daemon/state.h"

/* A line for the journal, which monitors hear as well. about may be NULL. */
void journal_tell(struct manager *manager, enum message message, const struct message_about *about,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Logs what became of a control on its way back. */
void journal_report_restore(void *userdata, const struct restore_result *result);

/*
 * Logs that not all of what ("the clamps of tasks") went back, and that what is left stands in the
 * file of run_dir, where r, the outcome of a restore, is a negative errno.
 */
void journal_tell_left(int r, const char *what, const char *run_dir, const char *file);
