// SPDX-License-Identifier: GPL-2.0-only
/* The table of tasks with our clamps, and the writes to one task. */
#include "actuator/uclamps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pid_index.h"
#include "shared/cleanup.h"

static const struct uclamp none = { UCLAMP_LEAST, UCLAMP_MOST, true };

static void uclamped_set_min(struct uclamp *clamp, struct uclamp from)
{
	clamp->min_cap = from.min_cap;
	clamp->default_min = from.default_min;
}

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

/*
 * The clamps of that task, or of a possible heir of it, without ours: each clamp that is our last
 * write, or the one before, is replaced by the task's own.
 */
static struct uclamp uclamped_own(const struct uclamped *from, struct uclamp now)
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

struct uclamps *uclamps_new(const char *directory, task_lives_t lives, void *userdata)
{
	struct uclamps *clamps = calloc(1, sizeof(*clamps));

	if (!clamps)
		return NULL;
	clamps->next_ns = UINT64_MAX;
	clamps->lives = lives;
	clamps->userdata = userdata;
	return task_log_init(&clamps->log, &uclamps_log, directory) ? clamps : uclamps_free(clamps);
}

struct uclamps *uclamps_free(struct uclamps *clamps)
{
	if (clamps)
		task_log_deinit(&clamps->log);
	free(clamps);
	return NULL;
}

/* A task as identify() found it. */
struct live_task {
	struct known_task task;
	int fd; /* task_open(); -1: the caller knows that it lives */
};

static void live_task_close(struct live_task *live)
{
	close_fdp(&live->fd);
}

static int identify(const struct uclamps *clamps, uint32_t pid, struct live_task *ret)
{
	const struct uclamped *entry = task_log_find(&clamps->log, pid);

	*ret = (struct live_task){ .task.pid = pid, .fd = -1 };
	if (entry) {
		ret->task.start = entry->task.start;
		ret->task.mark = entry->mark;
	}
	if (clamps->lives && clamps->lives(clamps->userdata, &ret->task))
		return 0;
	ret->task.mark = 0;
	ret->fd = task_open(pid, &ret->task.start);
	return ret->fd < 0 ? ret->fd : 0;
}

/* Whether the task still has its pid. */
static bool is_still_there(const struct uclamps *clamps, const struct live_task *live)
{
	_cleanup_close_ int fd = -1;
	struct known_task now = live->task;

	if (live->fd >= 0)
		return task_is_alive(live->fd);
	if (clamps->lives(clamps->userdata, &now))
		return now.start == live->task.start;
	fd = task_open(now.pid, &now.start);
	return fd >= 0 && now.start == live->task.start;
}

/* The higher floor and the lower cap, which wins where they cross. */
static struct uclamp merge(struct uclamp own, struct uclamp ours)
{
	struct uclamp merged = {
		.min_cap = own.min_cap > ours.min_cap ? own.min_cap : ours.min_cap,
		.max_cap = own.max_cap < ours.max_cap ? own.max_cap : ours.max_cap,
		.default_min = own.default_min && own.min_cap >= ours.min_cap,
	};

	if (merged.min_cap > merged.max_cap)
		merged = (struct uclamp){ merged.max_cap, merged.max_cap };
	return merged;
}

/*
 * Adds the line, writes, and then checks that the pid is still that task's. A write that only
 * restores the task's own clamps needs no line: restoring finds nothing to do there.
 */
static int write_task(struct uclamps *clamps, struct uclamped *clamped,
		      const struct live_task *live, struct uclamp merged)
{
	struct uclamp now = clamped->put, stranger;
	int r;

	clamped->was = now;
	clamped->put = merged;
	clamped->inherited = false;
	r = task_log_add_line(&clamps->log, clamped);
	if (r == 0 || uclamp_equals(merged, clamped->own))
		r = uclamp_write(clamped->task.pid, now, merged);
	if (r < 0) {
		clamped->put = now;
		return r == -ESRCH ? UCLAMPS_GONE : r;
	}
	clamps->writes++;
	if (is_still_there(clamps, live))
		return UCLAMPS_DONE;
	/*
	 * Another task got the pid between our check and our write. Its own clamps are not known,
	 * so it gets the kernel's default.
	 */
	if (uclamp_read(clamped->task.pid, &stranger) == 0 && uclamp_equals(stranger, merged))
		uclamp_write(clamped->task.pid, stranger, none);
	return UCLAMPS_GONE;
}

/*
 * The entry of the task with this pid and start, added if need be, with its present clamps. A clamp
 * that another program changed becomes the task's own, to be merged with ours.
 */
static int find_or_add(struct uclamps *clamps, const struct known_task *task, struct uclamped **ret)
{
	uint32_t pid = task->pid;
	struct uclamped *entry = task_log_find(&clamps->log, pid);
	struct uclamp now;
	int r = uclamp_read(pid, &now);

	if (r < 0)
		return r;
	if (entry && entry->task.start != task->start) {
		task_log_drop(&clamps->log, entry);
		entry = NULL;
	}
	if (entry) {
		if (now.min_cap != entry->put.min_cap)
			uclamped_set_min(&entry->own, now);
		if (now.max_cap != entry->put.max_cap)
			entry->own.max_cap = now.max_cap;
		if (now.max_cap > entry->put.max_cap && now.max_cap > entry->ours.max_cap) {
			clamps->escapes++;
			clamps->escaped = pid;
		}
		entry->put = now;
	} else {
		const struct uclamped fresh = {
			.task = { pid, true, task->start },
			.own = now,
			.put = now,
		};

		entry = task_log_add(&clamps->log, &fresh);
	}
	*ret = entry;
	if (!entry)
		return -ENOSPC;
	entry->mark = task->mark;
	return 0;
}

static bool is_none(struct uclamp ours)
{
	return ours.min_cap <= UCLAMP_LEAST && ours.max_cap >= UCLAMP_MOST;
}

static void remember(struct uclamps *clamps, const struct uclamped *clamped)
{
	clamps->recent[clamps->n_recent++ % UCLAMPS_RECENT] = *clamped;
}

/* Drops the entry of a task that is gone or has none of our clamps. */
static int finish(struct uclamps *clamps, struct uclamped *entry, int r, uint64_t now_ns)
{
	if (r == UCLAMPS_GONE || (r >= 0 && is_none(entry->ours))) {
		remember(clamps, entry);
		task_log_drop(&clamps->log, entry);
		return r;
	}
	entry->refused = r < 0;
	if (r == UCLAMPS_DONE)
		entry->changed_ns = now_ns;
	return r;
}

/* A task that keeps inherited clamps gets a line: its parent, whose line covers it, may end. */
static int keep(struct uclamps *clamps, struct uclamped *entry)
{
	int r = entry->inherited ? task_log_add_line(&clamps->log, entry) : 0;

	entry->inherited = false;
	if (r < 0 && uclamp_write(entry->task.pid, entry->put, entry->own) == 0)
		entry->put = entry->own;
	return r < 0 ? r : UCLAMPS_UNCHANGED;
}

/* As uclamps_set(), at once. With `of`, only if that entry's task still has the pid. */
static int write_now(struct uclamps *clamps, uint32_t pid, const struct uclamped *of,
		     struct uclamp ours, uint64_t now_ns)
{
	_cleanup_(live_task_close) struct live_task live;
	struct uclamped *entry;
	struct uclamp merged;
	int r = identify(clamps, pid, &live);

	if (r >= 0 && of && of->task.start != live.task.start)
		r = -ESRCH;
	r = r < 0 ? r : find_or_add(clamps, &live.task, &entry);
	if (r == -ESRCH) {
		entry = task_log_find(&clamps->log, pid);
		return entry ? finish(clamps, entry, UCLAMPS_GONE, now_ns) : UCLAMPS_GONE;
	}
	if (r < 0)
		return r;

	entry->ours = ours;
	entry->pending = false;
	merged = merge(entry->own, ours);
	if (uclamp_equals(merged, entry->put))
		return finish(clamps, entry, keep(clamps, entry), now_ns);
	return finish(clamps, entry, write_task(clamps, entry, &live, merged), now_ns);
}

/* Writes the first change at once, further ones at the rate limit. */
static int postpone(struct uclamps *clamps, struct uclamped *entry, struct uclamp ours)
{
	uint64_t due_ns = entry->changed_ns + UCLAMPS_RATE_LIMIT_NS;

	entry->ours = ours;
	entry->pending = true;
	if (due_ns < clamps->next_ns)
		clamps->next_ns = due_ns;
	return UCLAMPS_LATER;
}

int uclamps_set(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns)
{
	struct uclamped *entry = task_log_find(&clamps->log, pid);

	if (!entry && is_none(ours))
		return UCLAMPS_UNCHANGED;
	if (entry && uclamp_equals(entry->ours, ours) && !entry->pending)
		return UCLAMPS_UNCHANGED;
	if (entry && entry->refused && !is_none(ours))
		return UCLAMPS_UNCHANGED;
	if (entry && entry->changed_ns && now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
		return postpone(clamps, entry, ours);
	return write_now(clamps, pid, NULL, ours, now_ns);
}

int uclamps_check(struct uclamps *clamps, uint32_t pid, uint64_t now_ns)
{
	struct uclamped *entry = task_log_find(&clamps->log, pid);
	struct uclamp now;

	if (!entry || entry->refused || entry->pending)
		return UCLAMPS_UNCHANGED;
	/* The task mostly has our last write; reading /proc would take twenty times as long. */
	if (uclamp_read(pid, &now) == 0 && uclamp_equals(now, entry->put))
		return UCLAMPS_UNCHANGED;
	if (now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
		return postpone(clamps, entry, entry->ours);
	return write_now(clamps, pid, entry, entry->ours, now_ns);
}

void uclamps_check_all(struct uclamps *clamps, uint64_t now_ns)
{
	struct uclamped *entry = NULL;

	while ((entry = task_log_next(&clamps->log, entry)))
		if (entry->refused)
			write_now(clamps, entry->task.pid, entry, entry->ours, now_ns);
		else
			uclamps_check(clamps, entry->task.pid, now_ns);
}

/* Restores the own clamps of children that have got none of ours by now. */
static void restore_children(struct uclamps *clamps, uint64_t now_ns)
{
	for (size_t i = 0; i < clamps->n_children; i++) {
		const struct uclamped *entry = task_log_find(&clamps->log, clamps->children[i]);

		if (entry && entry->inherited)
			write_now(clamps, entry->task.pid, entry, none, now_ns);
	}
	clamps->n_children = 0;
}

void uclamps_flush(struct uclamps *clamps, uint64_t now_ns)
{
	struct uclamped *entry = NULL;

	restore_children(clamps, now_ns);
	if (now_ns < clamps->next_ns)
		return;
	clamps->next_ns = UINT64_MAX;
	while ((entry = task_log_next(&clamps->log, entry)))
		if (entry->pending && now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
			postpone(clamps, entry, entry->ours);
		else if (entry->pending)
			write_now(clamps, entry->task.pid, entry, entry->ours, now_ns);
}

/* The parent's entry, or its former one, as it may have forked before its last write. */
static const struct uclamped *find_parent(const struct uclamps *clamps, uint32_t parent)
{
	const struct uclamped *entry = task_log_find(&clamps->log, parent);

	if (entry)
		return entry;
	for (size_t i = 0; i < UCLAMPS_RECENT; i++)
		if (clamps->recent[i].task.pid == parent)
			return &clamps->recent[i];
	return NULL;
}

int uclamps_forked(struct uclamps *clamps, uint32_t parent, uint32_t child)
{
	const struct uclamped *from = find_parent(clamps, parent);
	struct uclamped *entry = task_log_find(&clamps->log, child);
	_cleanup_(live_task_close) struct live_task live = { .fd = -1 };
	struct uclamped fresh = {
		.task = { .pid = child, .kept = true },
		.ours = none,
		.inherited = true,
	};
	int r;

	if (!from)
		return UCLAMPS_UNCHANGED;
	r = identify(clamps, child, &live);
	fresh.task.start = live.task.start;
	fresh.mark = live.task.mark;
	r = r < 0 ? r : uclamp_read(child, &fresh.put);
	if (r == -ESRCH) {
		/* Its children may have inherited from it before. */
		fresh = *from;
		fresh.task.pid = child;
		remember(clamps, &fresh);
		return UCLAMPS_GONE;
	}
	if (r < 0)
		return r;
	fresh.was = fresh.put;
	fresh.own = uclamped_own(from, fresh.put);

	/* An existing entry may hold clamps that the child inherited from ours as its own. */
	if (entry && entry->task.start == fresh.task.start) {
		entry->own = uclamped_own(from, entry->own);
		return write_now(clamps, child, entry, entry->ours, 0);
	}
	if (uclamp_equals(fresh.own, fresh.put))
		return UCLAMPS_UNCHANGED;
	if (entry)
		task_log_drop(&clamps->log, entry);
	remember(clamps, &fresh);
	if (clamps->n_children == UCLAMPS_CHILDREN)
		restore_children(clamps, 0);
	if (!task_log_add(&clamps->log, &fresh))
		return -ENOSPC;
	clamps->children[clamps->n_children++] = child;
	return UCLAMPS_LATER;
}

int uclamps_release(struct uclamps *clamps, restore_report_t report, void *userdata)
{
	clamps->next_ns = UINT64_MAX;
	/* The parent, whose line covers its children, may have ended. */
	restore_children(clamps, 0);
	return task_log_release(&clamps->log, report, userdata);
}

bool uclamps_find(const struct uclamps *clamps, uint32_t pid, struct uclamp *ret_own,
		  struct uclamp *ret_merged)
{
	const struct uclamped *entry = task_log_find(&clamps->log, pid);

	if (!entry)
		return false;
	*ret_own = entry->own;
	*ret_merged = entry->put;
	return true;
}
