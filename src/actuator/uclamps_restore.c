// SPDX-License-Identifier: GPL-2.0-only
/* Restores the clamps of a table, and those in the log of a daemon that was killed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void restore(struct restore_tasks *run, const void *first, const void *end)
{
	for (const struct entry *entry = first; entry < (const struct entry *)end; entry++) {
		const struct uclamped *clamped = &entry->clamped;
		_cleanup_close_ int fd = -1;
		uint64_t start;

		fd = uclamp_open_task(clamped->task.pid, &start);
		if (fd >= 0 && start == clamped->task.start)
			restore_clamp(run, clamped->task.pid, clamped);
	}
}

/*
 * Keeps the last line of each task, with the clamps of the line before it in `was`. Returns their
 * number.
 */
static size_t merge(void *read, size_t n)
{
	struct entry *lines = read;
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

/* A task that has the kernel's default clamps did not inherit ours. */
static bool read_child(uint32_t pid, void *ret)
{
	struct uclamp *now = &((struct entry *)ret)->clamped.put;

	return uclamp_read(pid, now) == 0 &&
	       (now->min_cap != UCLAMP_LEAST || now->max_cap != UCLAMP_MOST);
}

static bool gave(const void *line, const void *child)
{
	const struct uclamped *from = &((const struct entry *)line)->clamped;
	struct uclamp now = ((const struct entry *)child)->clamped.put;
	bool min = is_ours(now.min_cap, from->put.min_cap, from->was.min_cap);
	bool max = is_ours(now.max_cap, from->put.max_cap, from->was.max_cap);

	return (min && now.min_cap != from->own.min_cap) ||
	       (max && now.max_cap != from->own.max_cap);
}

static void restore_heir(struct restore_tasks *run, uint32_t pid, const void *line)
{
	restore_clamp(run, pid, &((const struct entry *)line)->clamped);
}

static const struct restore_tasks_kind clamps_kind = {
	.log = &uclamps_log,
	.what = "clamps",
	.merge = merge,
	.restore = restore,
	.read = read_child,
	.gave = gave,
	.restore_heir = restore_heir,
};

int uclamps_restore(const char *directory, restore_report_t report, void *userdata)
{
	return restore_tasks_of_log(&clamps_kind, directory, report, userdata);
}

int uclamps_release(struct uclamps *clamps, restore_report_t report, void *userdata)
{
	struct restore_tasks run = { report, userdata, &clamps_kind };
	const struct entry *entry = NULL;

	while ((entry = task_log_next(&clamps->log, entry)))
		restore(&run, entry, entry + 1);
	task_log_clear(&clamps->log);
	clamps->next_ns = UINT64_MAX;
	return restore_tasks_finish(&run, clamps->log.directory);
}
