/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Tasks that inherited a setting from a task in the log of a daemon that was killed
 * (actuator/task_log.h), and have no line themselves.
 */

#include "actuator/task_log.h"

struct heirs {
	const struct task_log_kind *kind;
	const void *lines; /* of the log, sorted as task_log_read() does */
	size_t n;
	/* Reads the task's setting into an entry. Returns whether it can be an inherited one. */
	bool (*read)(uint32_t pid, void *ret);
	/* Whether a child that has the setting of this entry could have it from the line's task. */
	bool (*gave)(const void *line, const void *child);
	void (*restore)(void *userdata, uint32_t pid, const void *line);
	void *userdata;
};

/*
 * Calls restore for each task of the machine that could have inherited its setting, with the line
 * of its nearest ancestor, or of a thread of that process. Returns 0 or -ENOMEM.
 */
int heirs_restore(const struct heirs *heirs);
