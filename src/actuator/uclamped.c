// SPDX-License-Identifier: GPL-2.0-only
/* The log of clamps, and the restoring of clamps from it. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actuator/uclamps.h"

#define DEFAULT_MIN " default" /* at the end of a line: own.default_min */

static void print_clamps(const void *entry, char *ret, size_t size)
{
	const struct uclamped *clamped = entry;

	snprintf(ret, size, "%u-%u %u-%u%s", clamped->own.min_cap, clamped->own.max_cap,
		 clamped->put.min_cap, clamped->put.max_cap,
		 clamped->own.default_min ? DEFAULT_MIN : "");
}

static bool parse_clamps(const char *text, void *ret)
{
	struct uclamped *clamped = ret;
	struct uclamp *own = &clamped->own, *put = &clamped->put;

	if (sscanf(text, "%4hu-%4hu %4hu-%4hu", &own->min_cap, &own->max_cap, &put->min_cap,
		   &put->max_cap) != 4)
		return false;
	own->default_min = strstr(text, DEFAULT_MIN);
	clamped->was = *own;
	return own->min_cap <= UCLAMP_MOST && own->max_cap <= UCLAMP_MOST &&
	       put->min_cap <= UCLAMP_MOST && put->max_cap <= UCLAMP_MOST;
}

static void follow(void *line, const void *before)
{
	((struct uclamped *)line)->was = ((const struct uclamped *)before)->put;
}

struct uclamp uclamped_own(const struct uclamped *from, struct uclamp now)
{
	struct uclamp own = now;

	if (now.min_cap == from->put.min_cap || now.min_cap == from->was.min_cap)
		uclamped_set_min(&own, from->own);
	if (now.max_cap == from->put.max_cap || now.max_cap == from->was.max_cap)
		own.max_cap = from->own.max_cap;
	return own;
}

/*
 * Restores a task by its own line or, for an heir, by an ancestor's. A clamp that another program
 * changed stays, unless it contradicts the restored one.
 */
static void restore_clamps(struct task_restore *run, uint32_t pid, const void *line)
{
	const struct uclamped *clamped = line;
	struct uclamp now, target, own = clamped->own;
	char own_text[16], left_text[16];
	int r = uclamp_read(pid, &now);

	if (r == -ESRCH)
		return;
	target = r < 0 ? own : uclamped_own(clamped, now);
	if (target.min_cap > target.max_cap)
		target = (struct uclamp){ target.max_cap, target.max_cap };
	if (r == 0)
		r = uclamp_write(pid, now, target);
	if (r == 0 && uclamp_equals(target, own)) {
		run->done++;
	} else if (r != -ESRCH) {
		snprintf(own_text, sizeof(own_text), "%u-%u", own.min_cap, own.max_cap);
		snprintf(left_text, sizeof(left_text), "%u-%u", target.min_cap, target.max_cap);
		task_restore_report(run, pid, r < 0 ? RESTORE_FAILED : RESTORE_TAKEN_OVER, own_text,
				    left_text, r);
	}
}

/* A task that has the kernel's default clamps did not inherit ours. */
static bool read_child(uint32_t pid, void *ret)
{
	struct uclamp *now = &((struct uclamped *)ret)->put;

	return uclamp_read(pid, now) == 0 &&
	       (now->min_cap != UCLAMP_LEAST || now->max_cap != UCLAMP_MOST);
}

static bool gave(const void *line, const void *child)
{
	struct uclamp now = ((const struct uclamped *)child)->put;

	return !uclamp_equals(uclamped_own(line, now), now);
}

const struct task_log_kind uclamps_log = {
	.file = { .name = "clamps", .version = 1, .is_log = true },
	.what = "clamps",
	.max_tasks = UCLAMPS_MAX,
	.size = sizeof(struct uclamped),
	.print = print_clamps,
	.parse = parse_clamps,
	.follow = follow,
	.restore = restore_clamps,
	.read = read_child,
	.gave = gave,
};
