// SPDX-License-Identifier: GPL-2.0-only
/* The log of affinities, from which those of a daemon that was killed are restored. */
#include <errno.h>
#include <stdio.h>

#include "actuator/affinities_private.h"
#include "actuator/affinity_task.h"
#include "actuator/uclamp_task.h"
#include "shared/cleanup.h"

static void print_masks(const void *entry, char *ret, size_t size)
{
	const struct affinity *affinity = entry;
	char own[CPU_MASK_TEXT_SIZE], put[CPU_MASK_TEXT_SIZE];

	cpu_mask_print(&affinity->own, own);
	cpu_mask_print(&affinity->put, put);
	snprintf(ret, size, "%s %s", own, put);
}

static bool parse_masks(const char *text, void *ret)
{
	struct affinity *affinity = ret;
	char own[CPU_MASK_TEXT_SIZE], put[CPU_MASK_TEXT_SIZE];

	_Static_assert(CPU_MASK_TEXT_SIZE > 280, "the widths below");
	return sscanf(text, "%280s %280s", own, put) == 2 && cpu_mask_parse(own, &affinity->own) &&
	       cpu_mask_parse(put, &affinity->put) && !cpu_mask_is_empty(&affinity->own);
}

const struct task_log_kind affinities_log = {
	.file = { .name = "affinities", .version = 1, .is_log = true },
	.max_tasks = AFFINITIES_MAX,
	.size = sizeof(struct affinity),
	.print = print_masks,
	.parse = parse_masks,
};

bool affinity_is_ours(const struct affinity *affinity, const struct cpu_mask *now)
{
	struct cpu_mask limit, put;

	if (cpu_mask_equals(now, &affinity->put))
		return true;
	affinity_read_cpuset(affinity->task.pid, &limit);
	put = cpu_mask_and(&affinity->put, &limit);
	if (cpu_mask_equals(now, &put))
		return true;
	/* The kernel resets an affinity of which no CPU is online. */
	affinity_read_online(&limit);
	put = cpu_mask_and(&put, &limit);
	return cpu_mask_is_empty(&put);
}

static void tell_task(struct restore_tasks *run, const struct affinity *affinity,
		      enum restore_outcome outcome, const struct cpu_mask *now, int error)
{
	char own[CPU_MASK_TEXT_SIZE], current[256] = "";

	cpu_mask_print(&affinity->own, own);
	if (now)
		cpu_mask_print_list(now, current, sizeof(current));
	restore_tasks_tell(run, affinity->task.pid, outcome, own, current, error);
}

void affinity_restore(struct restore_tasks *run, const struct affinity *affinity)
{
	struct cpu_mask now;
	int r = affinity_read(affinity->task.pid, &now);

	if (r == 0 && !affinity_is_ours(affinity, &now)) {
		tell_task(run, affinity, RESTORE_TAKEN_OVER, &now, 0);
		return;
	}
	if (r == 0)
		r = affinity_write(affinity->task.pid, &affinity->own);
	if (r == 0)
		run->done++;
	else if (r != -ESRCH)
		tell_task(run, affinity, RESTORE_FAILED, NULL, r);
}

/*
 * The last line of the task with the mask that it has now: not its last line if the daemon was
 * killed between line and write. If no line has that mask, the last one.
 */
static const struct affinity *find_put(const struct affinity *line, const struct affinity *end,
				       uint64_t start, const struct cpu_mask *now)
{
	const struct affinity *found = NULL, *last = NULL;

	for (; line < end; line++) {
		if (start && line->task.start != start)
			continue;
		last = line;
		if (cpu_mask_equals(now, &line->put))
			found = line;
	}
	return found ?: last;
}

static void restore(struct restore_tasks *run, const void *first, const void *end)
{
	const struct affinity *line = first;
	_cleanup_close_ int fd = -1;
	struct cpu_mask now;
	uint64_t start;

	fd = uclamp_open_task(line->task.pid, &start);
	if (fd < 0 || affinity_read(line->task.pid, &now) < 0)
		return;
	line = find_put(line, end, start, &now);
	if (line && !cpu_mask_equals(&now, &line->own))
		affinity_restore(run, line);
}

static bool read_child(uint32_t pid, void *ret)
{
	return affinity_read(pid, &((struct affinity *)ret)->put) == 0;
}

static bool gave(const void *line, const void *child)
{
	return cpu_mask_equals(&((const struct affinity *)line)->put,
			       &((const struct affinity *)child)->put);
}

static void restore_heir(struct restore_tasks *run, uint32_t pid, const void *line)
{
	struct affinity heir = *(const struct affinity *)line;

	heir.task.pid = pid;
	affinity_restore(run, &heir);
}

const struct restore_tasks_kind affinities_kind = {
	.log = &affinities_log,
	.what = "affinity",
	.restore = restore,
	.read = read_child,
	.gave = gave,
	.restore_heir = restore_heir,
};

int affinities_restore(const char *directory, restore_report_t report, void *userdata)
{
	return restore_tasks_of_log(&affinities_kind, directory, report, userdata);
}
