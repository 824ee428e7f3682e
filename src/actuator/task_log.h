/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A table of the tasks of which the daemon changed a setting, and its log (shared/statefile.h), by
 * which the settings are restored after the daemon was killed:
 *
 *	task 4711 88123 0-1024 0-300	number, start in ticks, its own setting, what we write now
 *
 * Each line precedes its write. uclamps.c has such a table of clamps, affinities.c one of
 * affinities.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/statefile.h"

/* Each entry begins with one. */
struct logged_task {
	uint32_t pid;
	bool kept;	/* it has our setting: a log that is begun anew has a line for it */
	uint64_t start; /* ticks since boot */
};

static inline uint32_t task_log_pid(const void *entry)
{
	const struct logged_task *task = entry;

	return task->pid;
}

struct task_log_kind {
	struct statefile file;
	uint32_t max_tasks;
	size_t size; /* of an entry */
	/* Prints and parses the two settings of an entry. */
	void (*print)(const void *entry, char *ret, size_t size);
	bool (*parse)(const char *text, void *ret);
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
void *task_log_put(struct task_log *log, const void *entry);
void task_log_drop(struct task_log *log, const void *entry);
/* Walks them: NULL gives the first, NULL is returned after the last. Any may be dropped. */
void *task_log_next(const struct task_log *log, const void *after);

/*
 * Appends a line for the entry; a log that has become long is begun anew first. Returns 0 or a
 * negative errno such as -ENOSPC.
 */
int task_log_add_line(struct task_log *log, const void *entry);

/* Replaces the file by a line for each entry that is kept, atomically. 0 or a negative errno. */
int task_log_begin(struct task_log *log);

/* Drops all entries and closes the log; the file stays. */
void task_log_clear(struct task_log *log);

/*
 * Reads the lines of an earlier run as entries, sorted by pid, start, and then as they were
 * written, into an array that the caller frees. Without a file, or with one of an earlier boot, n
 * is 0. Returns 0 or a negative errno, as statefile_open() does.
 */
int task_log_read(const char *directory, const struct task_log_kind *kind, void **ret,
		  size_t *ret_n);

/* The first of these lines with this pid, or NULL. */
const void *task_log_first(const struct task_log_kind *kind, const void *lines, size_t n,
			   uint32_t pid);
