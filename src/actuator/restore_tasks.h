/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Restores the settings of tasks that the daemon changed, also those in the log of a daemon that
 * was killed (actuator/task_log.h), and of tasks that inherited them. Reports each task that fails
 * or whose setting another program changed, and all others together.
 */

#include "actuator/restore.h"
#include "actuator/task_log.h"

struct restore_tasks {
	restore_report_t report; /* may be NULL */
	void *userdata;
	const struct restore_tasks_kind *kind;
	size_t done;
	int error; /* the first one */
};

struct restore_tasks_kind {
	const struct task_log_kind *log;
	const char *what; /* "clamps" or "affinity", for the message */
	/* Merges the sorted lines of a log where they are. Returns their number. NULL: not needed.
	 */
	size_t (*merge)(void *lines, size_t n);
	/* Restores the task of the lines from first to end, which have one pid. */
	void (*restore)(struct restore_tasks *run, const void *first, const void *end);
	/* Reads a task's setting into an entry. Returns whether it can be an inherited one. */
	bool (*read)(uint32_t pid, void *ret);
	/* Whether a child that has the setting of this entry could have it from the line's task. */
	bool (*gave)(const void *line, const void *child);
	void (*restore_heir)(struct restore_tasks *run, uint32_t pid, const void *line);
};

/*
 * Restores the tasks of the log in the directory, and tasks without a line that could have
 * inherited their setting from an ancestor with one, or from a thread of that process. Returns 0,
 * also without a log, or a negative errno; statefile_refusal() then says whether it was refused.
 */
int restore_tasks_of_log(const struct restore_tasks_kind *kind, const char *directory,
			 restore_report_t report, void *userdata);

void restore_tasks_tell(struct restore_tasks *run, uint32_t pid, enum restore_outcome outcome,
			const char *value, const char *current, int error);

/*
 * Reports the successes in one line, as there can be thousands, and removes the log of the
 * directory when no task failed. Returns 0 or the first error.
 */
int restore_tasks_finish(const struct restore_tasks *run, const char *directory);
