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
