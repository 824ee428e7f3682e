/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One task with clamps of ours: an entry of the table (uclamps.c), and of its log (uclamped.c). */

#include "actuator/task.h"
#include "actuator/task_log.h"

/*
 * Task, own and put are its line in the log. The last line of a task counts;
 * the task has the clamps of that line or, if the daemon was killed between line and write, of the
 * one before.
 */
struct uclamped {
	struct logged_task task;
	struct uclamp own;  /* the task's own */
	struct uclamp put;  /* our last write */
	struct uclamp was;  /* our write before that, or what we found */
	struct uclamp ours; /* put is own and ours, merged */
	uint64_t mark;	    /* of struct known_task */
	uint64_t changed_ns;
	bool pending;	/* the rate limit delays the write of our clamps */
	bool refused;	/* not tried again before uclamps_check_all() */
	bool inherited; /* it has its parent's clamps, and no line in the log */
};

static inline void uclamped_set_min(struct uclamp *clamp, struct uclamp from)
{
	clamp->min_cap = from.min_cap;
	clamp->default_min = from.default_min;
}

/*
 * The clamps of that task, or of one that could have inherited from it, without ours: each clamp
 * that we wrote, by the last write or the one before, becomes the task's own.
 */
struct uclamp uclamped_own(const struct uclamped *from, struct uclamp now);
