/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reports of tasks whose setting is restored: one for each that fails, and one for all others
 * together.
 */

#include "actuator/restore.h"

struct restore_tasks {
	restore_report_t report; /* may be NULL */
	void *userdata;
	const char *what; /* "clamps" or "affinity", for the message */
	size_t done;
	int error; /* the first one */
};

void restore_tasks_tell(struct restore_tasks *run, uint32_t pid, enum restore_outcome outcome,
			const char *value, const char *current, int error);

/* Reports the successes in one line, as there can be thousands. Returns the first error. */
int restore_tasks_finish(const struct restore_tasks *run);
