/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What uclamps.c (the table), uclamps_forked.c (children) and uclamps_restore.c share. */

#include "actuator/task_log.h"
#include "actuator/uclamps.h"

/*
 * Number of released tasks that are remembered, since records of their forks may still be on their
 * way.
 */
#define UCLAMPS_RECENT 256

/*
 * A line of the log. The last one of a task counts; the task has the clamps of that line or, if the
 * daemon was killed between line and write, of the one before.
 */
struct uclamped {
	struct logged_task task;
	struct uclamp own; /* the task's own */
	struct uclamp put; /* our last write */
	struct uclamp was; /* our write before that, or what we found */
};

extern const struct task_log_kind uclamps_log;

struct entry {
	struct uclamped clamped;
	struct uclamp ours;
	uint64_t changed_ns;
	bool pending; /* the rate limit delays the write of our clamps */
	bool refused; /* not tried again before uclamps_check_all() */
};

struct uclamps {
	struct task_log log; /* of struct entry */
	uint64_t next_ns;
	struct uclamped recent[UCLAMPS_RECENT];
	size_t n_recent; /* ever added; the next goes to n_recent modulo UCLAMPS_RECENT */
	struct uclamps_counts counts;
};

/* Remembers a task that is released or gone, and may have forked before. */
void uclamps_remember(struct uclamps *clamps, const struct uclamped *clamped);

/* The higher floor and the lower cap, which wins where they cross. */
struct uclamp uclamps_merge(struct uclamp own, struct uclamp ours);

/* As uclamps_set(), without the rate limit. */
int uclamps_write_now(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns);
