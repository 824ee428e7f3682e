/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What is told of tasks that get back what they had: each that does not, and the others in one. */

#include "actuator/restore.h"

struct restore_tasks {
	restore_report_t report; /* may be NULL */
	void *userdata;
	const char *what; /* "clamps": they are those of a task */
	size_t done;
	int error; /* the first one */
};

void restore_tasks_tell(struct restore_tasks *run, uint32_t pid, enum restore_outcome outcome,
			const char *value, const char *current, int error);

/* One line for all that went well: there can be thousands. Returns the first error. */
int restore_tasks_finish(const struct restore_tasks *run);
