/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A table of the tasks whose setting the daemon changed, and its log (shared/statefile.h), from
 * which the settings are restored after the daemon was killed:
 *
 *	task 4711 88123 0-1024 0-300	number, start in ticks, its own setting, what we write now
 *
 * Each line is in the file before its write. A daemon that is killed between the two leaves a task
 * with the setting of the line before, or with its own: both count as ours. Any other setting was
 * made by another program, and stays. Children inherit their parent's setting without a line of
 * their own, so a restoration searches all tasks for them. uclamps.c has such a table of clamps,
 * affinities.c one of affinities.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actuator/saved.h"
#include "shared/statefile.h"

/* The first member of each entry. */
struct logged_task {
	uint32_t pid;
	bool kept;	/* it has our setting: a rewritten log contains it */
	uint64_t start; /* ticks since boot */
};

/* One restoration; see task_restore_report(). */
struct task_restore {
	restore_report_t report; /* may be NULL */
	void *userdata;
	const char *what; /* of struct task_log_kind */
	size_t done;	  /* tasks; the kind's functions count */
	int error;	  /* the first one */
};

struct task_log_kind {
	struct statefile file;
	const char *what; /* "clamps" or "affinity", for messages */
	uint32_t max_tasks;
	size_t size; /* of an entry */
	/* Prints and parses the two settings of an entry. */
	void (*print)(const void *entry, char *ret, size_t size);
	bool (*parse)(const char *text, void *ret);
	/* Merges a later line of a task with the one before: the task may have either's setting. */
	void (*follow)(void *line, const void *before);
	/* Restores a task by its line or, for an heir, by an ancestor's. */
	void (*restore)(struct task_restore *run, uint32_t pid, const void *line);
	/* Reads a task's setting into an entry. Returns whether it can be an inherited one. */
	bool (*read)(uint32_t pid, void *ret);
	/* Whether a child with this entry's setting could have it from the line's task. */
	bool (*gave)(const void *line, const void *child);
};

struct task_log {
	const struct task_log_kind *kind;
	const char *directory;
	int fd;	      /* −1: no line was written yet */
	size_t lines; /* of the file */
	struct pid_index *index;
	char *entries;
};

/* directory is borrowed and must exist. Returns false without memory. Deinitialise in any case. */
bool task_log_init(struct task_log *log, const struct task_log_kind *kind, const char *directory);
void task_log_deinit(struct task_log *log);

/* The entry or NULL. An entry keeps its place until it is dropped. */
void *task_log_find(const struct task_log *log, uint32_t pid);
/* Adds an entry for a task that has none. Returns it, or NULL when the table is full. */
void *task_log_add(struct task_log *log, const void *entry);
void task_log_drop(struct task_log *log, const void *entry);
/* Walks them: NULL gives the first, NULL is returned after the last. Any may be dropped. */
void *task_log_next(const struct task_log *log, const void *after);

/*
 * Appends a line for the entry; rewrites the log first if it has become long. Returns 0 or a
 * negative errno such as -ENOSPC.
 */
int task_log_add_line(struct task_log *log, const void *entry);

/* Replaces the file atomically by a line for each kept entry. 0 or a negative errno. */
int task_log_begin(struct task_log *log);

/*
 * Initialises a table with the tasks of an earlier run's log, each with its last line. Without a
 * file of this boot there are none. Returns 0 or a negative errno, as statefile_open() does.
 * Deinitialise in any case.
 */
int task_log_load(struct task_log *log, const struct task_log_kind *kind, const char *directory);

/*
 * Restores the task of each kept entry, and tasks without an entry that could have inherited their
 * setting from an ancestor with one, or from a thread of that process. Drops all entries, and
 * removes the log when no task failed. report (may be NULL) gets one call for each task that failed
 * or that another program changed, and one for all others together, as there can be thousands.
 * Returns 0 or the first error; without memory the log stays.
 */
int task_log_release(struct task_log *log, restore_report_t report, void *userdata);

/*
 * The same from the log of a daemon that was killed. Returns 0, also without a log, or a negative
 * errno; statefile_refusal() tells whether the log was refused.
 */
int task_log_restore(const struct task_log_kind *kind, const char *directory,
		     restore_report_t report, void *userdata);

/* For the kinds: reports one task, and keeps the first error. */
void task_restore_report(struct task_restore *run, uint32_t pid, enum restore_outcome outcome,
			 const char *value, const char *current, int error);
