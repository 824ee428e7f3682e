// SPDX-License-Identifier: GPL-2.0-only
/* Restores the clamps of a table, and those in the log of a daemon that was killed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/relatives.h"
#include "actuator/restore_tasks.h"
#include "actuator/uclamps_private.h"
#include "shared/cleanup.h"

static void print_clamp(char ret_text[16], struct uclamp clamp)
{
	snprintf(ret_text, 16, "%u-%u", clamp.min_cap, clamp.max_cap);
}

static void tell_task(struct restore_tasks *run, uint32_t pid, enum restore_outcome outcome,
		      struct uclamp value, struct uclamp current, int error)
{
	char value_text[16], current_text[16];

	print_clamp(value_text, value);
	print_clamp(current_text, current);
	restore_tasks_tell(run, pid, outcome, value_text, current_text, error);
}

static bool is_ours(uint16_t now, uint16_t put, uint16_t was)
{
	return now == put || now == was;
}

/*
 * The clamps to restore. A clamp that another program changed stays, unless it contradicts the
 * restored one.
 */
static struct uclamp target_of(const struct uclamped *clamped, struct uclamp now)
{
	struct uclamp target = now;

	if (is_ours(now.min_cap, clamped->put.min_cap, clamped->was.min_cap))
		target.min_cap = clamped->own.min_cap;
	if (is_ours(now.max_cap, clamped->put.max_cap, clamped->was.max_cap))
		target.max_cap = clamped->own.max_cap;
	if (target.min_cap > target.max_cap)
		target.min_cap = target.max_cap;
	return target;
}

static void restore_clamp(struct restore_tasks *run, uint32_t pid, const struct uclamped *clamped)
{
	struct uclamp now, target;
	int r = uclamp_read(pid, &now);

	if (r == -ESRCH)
		return;
	target = r < 0 ? clamped->own : target_of(clamped, now);
	if (r == 0)
		r = uclamp_write(pid, now, target);
	if (r < 0 && r != -ESRCH)
		tell_task(run, pid, RESTORE_FAILED, clamped->own, now, r);
	else if (!uclamp_equals(target, clamped->own))
		tell_task(run, pid, RESTORE_TAKEN_OVER, clamped->own, target, 0);
	else
		run->done++;
}

static void restore_task(struct restore_tasks *run, const struct uclamped *clamped)
{
	_cleanup_close_ int fd = -1;
	uint64_t start;

	fd = uclamp_open_task(clamped->task.pid, &start);
	if (fd >= 0 && start == clamped->task.start)
		restore_clamp(run, clamped->task.pid, clamped);
}

int uclamps_release(struct uclamps *clamps, restore_report_t report, void *userdata)
{
	struct restore_tasks run = { report, userdata, .what = "clamps" };
	const struct entry *entry = NULL;
	int r;

	while ((entry = task_log_next(&clamps->log, entry)))
		restore_task(&run, &entry->clamped);
	task_log_clear(&clamps->log);
	clamps->next_ns = UINT64_MAX;
	r = run.error ? 0 : statefile_remove(clamps->log.directory, &uclamps_log.file);
	return restore_tasks_finish(&run) ?: r;
}

/* A task of the log and its process. */
struct member {
	uint32_t process;
	const struct uclamped *clamped;
};

struct lines {
	struct restore_tasks *run;
	struct entry *lines; /* the last of each task, by pid */
	size_t n;
	struct member *members; /* n of them, by process */
};

/*
 * Keeps the last line of each task, with the clamps of the line before it in `was`. Returns their
 * number.
 */
static size_t merge_lines(struct entry *lines, size_t n)
{
	size_t n_tasks = 0;

	for (size_t i = 0; i < n; i++) {
		struct uclamped *last = n_tasks ? &lines[n_tasks - 1].clamped : NULL;
		struct uclamped *next = &lines[i].clamped;

		if (last && last->task.pid == next->task.pid &&
		    last->task.start == next->task.start)
			next->was = last->put;
		else
			n_tasks++;
		lines[n_tasks - 1] = lines[i];
	}
	return n_tasks;
}

static int compare_process(const void *one, const void *other)
{
	uint32_t a = ((const struct member *)one)->process;
	uint32_t b = ((const struct member *)other)->process;

	return a < b ? -1 : a > b;
}

/* Looks up the process of each task once, however many children there are. */
static int find_members(struct lines *lines)
{
	lines->members = calloc(lines->n, sizeof(*lines->members));
	if (!lines->members)
		return -ENOMEM;
	for (size_t i = 0; i < lines->n; i++)
		lines->members[i] = (struct member){
			.process = relatives_of(lines->lines[i].clamped.task.pid).process,
			.clamped = &lines->lines[i].clamped,
		};
	qsort(lines->members, lines->n, sizeof(*lines->members), compare_process);
	return 0;
}

/* Whether a child with clamps `now` could have inherited them from this task. */
static bool could_inherit(const struct uclamped *from, struct uclamp now)
{
	bool min = is_ours(now.min_cap, from->put.min_cap, from->was.min_cap);
	bool max = is_ours(now.max_cap, from->put.max_cap, from->was.max_cap);

	return (min && now.min_cap != from->own.min_cap) ||
	       (max && now.max_cap != from->own.max_cap);
}

/* The task of the process from which the clamps could be inherited, or NULL. */
static const struct uclamped *find_giver(const struct lines *lines, uint32_t process,
					 struct uclamp now)
{
	const struct member key = { .process = process }, *end = lines->members + lines->n;
	const struct member *member = bsearch(&key, lines->members, lines->n,
					      sizeof(*lines->members), compare_process);

	while (member && member > lines->members && member[-1].process == process)
		member--;
	for (; member && member < end && member->process == process; member++)
		if (could_inherit(member->clamped, now))
			return member->clamped;
	return NULL;
}

/*
 * The nearest ancestor in the log, or a thread of its process, from which the clamps could be
 * inherited; or NULL.
 */
static const struct uclamped *find_ancestor(const struct lines *lines, uint32_t pid,
					    struct uclamp now)
{
	const struct uclamped *from = NULL;

	for (int i = 0; i < RELATIVES_GENERATIONS && pid > 1 && !from; i++) {
		struct relatives relatives = relatives_of(pid);

		if (relatives.process)
			from = find_giver(lines, relatives.process, now);
		pid = relatives.parent;
	}
	return from;
}

/* Restores a task without a line that inherited clamps from an ancestor with one. */
static void restore_heir(void *userdata, uint32_t pid)
{
	const struct lines *lines = userdata;
	const struct uclamped *from = NULL;
	struct uclamp now;

	if (task_log_first(&uclamps_log, lines->lines, lines->n, pid) || uclamp_read(pid, &now) < 0)
		return;
	if (now.min_cap == UCLAMP_LEAST && now.max_cap == UCLAMP_MOST)
		return;
	from = find_ancestor(lines, pid, now);
	if (from)
		restore_clamp(lines->run, pid, from);
}

static void forget(struct lines *lines)
{
	free(lines->lines);
	free(lines->members);
}

int uclamps_restore(const char *directory, restore_report_t report, void *userdata)
{
	struct restore_tasks run = { report, userdata, .what = "clamps" };
	_cleanup_(forget) struct lines lines = { .run = &run };
	void *read;
	int r = task_log_read(directory, &uclamps_log, &read, &lines.n);

	lines.lines = read;
	lines.n = merge_lines(lines.lines, lines.n);
	if (r == 0 && lines.n)
		r = find_members(&lines);
	if (r < 0)
		return r;
	/*
	 * Children first: their ancestors' clamps, which show what they inherited, are still there.
	 */
	if (lines.n)
		relatives_each_task(restore_heir, &lines);
	for (size_t i = 0; i < lines.n; i++)
		restore_task(&run, &lines.lines[i].clamped);
	r = run.error ? 0 : statefile_remove(directory, &uclamps_log.file);
	return restore_tasks_finish(&run) ?: r;
}
