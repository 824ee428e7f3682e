/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Tasks with clamps that we wrote. Clamps set by the task itself, uclampset(1) or another program
 * are its own: ours are merged with them (the higher floor, the lower cap; the cap wins where they
 * cross), and they are restored when ours end. A clamp that another program changes in the meantime
 * becomes the task's own.
 *
 * Children inherit the clamps of their parent. One that is to have ours keeps them, and is capped
 * from its first moment; uclamps_forked() and uclamps_flush() restore the parent's own clamps for
 * the others. RESET_ON_FORK would do that too, but it is an attribute of the user's, and also drops
 * real-time priorities.
 *
 * A task is identified by its pid and start time, as pids are reused. Each write to a task is
 * preceded by a line in the log DIRECTORY/clamps; see actuator/task_log.h.
 */

#include <stdint.h>

#include "actuator/task.h"
#include "actuator/task_log.h"

#define UCLAMPS_MAX 131072 /* twice as many tasks as rules may have */

/* Least time between two changes of one task. */
#define UCLAMPS_RATE_LIMIT_NS 4000000ULL

enum uclamps_outcome {
	UCLAMPS_DONE,
	UCLAMPS_UNCHANGED, /* nothing to write */
	UCLAMPS_LATER,	   /* uclamps_flush() writes it: the last change is too recent */
	UCLAMPS_GONE,	   /* the task has exited */
};

/* A task, and the caller's evidence that it lives. */
struct known_task {
	uint32_t pid;
	uint64_t start; /* in clock ticks */
	uint64_t mark;	/* by which the caller tells that it still lives; 0: it cannot */
};

/*
 * Whether the caller knows that the task still lives, or which task has this pid; fills in *task.
 * Otherwise /proc is read, which takes ten times as long as everything else.
 */
typedef bool (*task_lives_t)(void *userdata, struct known_task *task);

/*
 * Number of released tasks that are remembered, since records of their forks may still be queued.
 */
#define UCLAMPS_RECENT 256
/* Number of children that wait for their own clamps; beyond it the first get them early. */
#define UCLAMPS_CHILDREN 256

/*
 * A task with our clamps: an entry of the table, and a line of its log.
 *
 * task, own and put make its line in the log. The last line of a task counts: the task has that
 * line's clamps or, if the daemon was killed between line and write, those of the line before.
 */
struct uclamped {
	struct logged_task task;
	struct uclamp own;  /* the task's own */
	struct uclamp put;  /* our last write */
	struct uclamp was;  /* our write before that, or what we found */
	struct uclamp ours; /* put is own and ours, merged */
	uint64_t mark;	    /* for struct known_task */
	uint64_t changed_ns;
	bool pending;	/* the rate limit delays the write of our clamps */
	bool refused;	/* not tried again before uclamps_check_all() */
	bool inherited; /* it has its parent's clamps, and no line in the log */
};

struct uclamps {
	struct task_log log; /* of struct uclamped */
	task_lives_t lives;
	void *userdata;
	uint64_t next_ns; /* when uclamps_flush() is due; UINT64_MAX: never */
	struct uclamped recent[UCLAMPS_RECENT];
	size_t n_recent; /* ever added; the next goes to n_recent modulo UCLAMPS_RECENT */
	uint32_t children[UCLAMPS_CHILDREN];
	size_t n_children;
	uint64_t writes;
	uint64_t escapes; /* clamps that another program raised above our cap … */
	uint32_t escaped; /* … and the last such task */
};

/*
 * directory is borrowed and must exist; lives may be NULL. Returns NULL without memory.
 */
struct uclamps *uclamps_new(const char *directory, task_lives_t lives, void *userdata);

/* Restores nothing: uclamps_release() does. */
struct uclamps *uclamps_free(struct uclamps *clamps);

/*
 * Sets our clamps of the task; UCLAMP_LEAST and UCLAMP_MOST mean none. Returns an outcome or a
 * negative errno. On failure the task is unchanged, and left alone until its clamps end or
 * uclamps_check_all() is called.
 */
int uclamps_set(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns);

/*
 * Checks the present clamps of a task. Changes by another program or by the task become its own and
 * are merged with ours again, so that a task cannot leave its cap by requesting more. Returns an
 * outcome or a negative errno; UCLAMPS_UNCHANGED for a task without our clamps.
 */
int uclamps_check(struct uclamps *clamps, uint32_t pid, uint64_t now_ns);
/* The same for every task, including those that were refused. */
void uclamps_check_all(struct uclamps *clamps, uint64_t now_ns);

/*
 * Writes the postponed changes that are due, and restores children's own clamps. Call it after
 * uclamps_set() was called for the children. A task that is refused is left alone, as above.
 */
void uclamps_flush(struct uclamps *clamps, uint64_t now_ns);

/*
 * Call this after parent forked child. The next uclamps_flush() restores the child's own clamps
 * instead of the inherited ones, unless uclamps_set() sets ours first. Returns UCLAMPS_LATER,
 * UCLAMPS_DONE when it wrote, UCLAMPS_UNCHANGED, UCLAMPS_GONE or a negative errno.
 */
int uclamps_forked(struct uclamps *clamps, uint32_t parent, uint32_t child);

/* Restores the clamps of every task, as task_log_release() says. */
int uclamps_release(struct uclamps *clamps, restore_report_t report, void *userdata);

/* The task's own clamps, and its present merged ones. Returns false for a task without ours. */
bool uclamps_find(const struct uclamps *clamps, uint32_t pid, struct uclamp *ret_own,
		  struct uclamp *ret_merged);

/* The log, for task_log_restore(). */
extern const struct task_log_kind uclamps_log;
