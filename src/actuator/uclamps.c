// SPDX-License-Identifier: GPL-2.0-only
/* The table of tasks with clamps that we wrote, the writes to one of them, and their children. */
#include "actuator/uclamps.h"

#include <errno.h>
#include <stdlib.h>

#include "core/pid_index.h"
#include "shared/cleanup.h"

static const struct uclamp none = { UCLAMP_LEAST, UCLAMP_MOST };

/*
 * Number of released tasks that are remembered, since records of their forks may still be on their
 * way.
 */
#define RECENT 256

struct uclamps {
	struct task_log log; /* of struct uclamped */
	uint64_t next_ns;
	struct uclamped recent[RECENT];
	size_t n_recent; /* ever added; the next goes to n_recent modulo RECENT */
	struct uclamps_counts counts;
};

struct uclamps *uclamps_new(const char *directory)
{
	struct uclamps *clamps = calloc(1, sizeof(*clamps));

	if (!clamps)
		return NULL;
	clamps->next_ns = UINT64_MAX;
	return task_log_init(&clamps->log, &uclamps_log, directory) ? clamps : uclamps_free(clamps);
}

struct uclamps *uclamps_free(struct uclamps *clamps)
{
	if (clamps)
		task_log_deinit(&clamps->log);
	free(clamps);
	return NULL;
}

/* The higher floor and the lower cap, which wins where they cross. */
static struct uclamp merge(struct uclamp own, struct uclamp ours)
{
	struct uclamp merged = {
		.min_cap = own.min_cap > ours.min_cap ? own.min_cap : ours.min_cap,
		.max_cap = own.max_cap < ours.max_cap ? own.max_cap : ours.max_cap,
	};

	if (merged.min_cap > merged.max_cap)
		merged.min_cap = merged.max_cap;
	return merged;
}

/* A clamp that another program changed becomes the task's own, to be merged with ours. */
static void take_foreign(struct uclamps *clamps, struct uclamped *clamped, struct uclamp now)
{
	if (now.min_cap != clamped->put.min_cap)
		clamped->own.min_cap = now.min_cap;
	if (now.max_cap != clamped->put.max_cap)
		clamped->own.max_cap = now.max_cap;
	clamps->counts.foreign += !uclamp_equals(now, clamped->put);
	clamped->put = now;
}

/*
 * The pid became another task's between our look and our write. That task's own clamps are not
 * known, so it gets the kernel's default.
 */
static void spare_stranger(const struct uclamped *clamped, struct uclamp now)
{
	struct uclamp stranger;

	if (uclamp_read(clamped->task.pid, &stranger) == 0 && uclamp_equals(stranger, clamped->put))
		uclamp_write(clamped->task.pid, now, none);
}

/*
 * Adds the line, writes, and then checks that the pid still is that task's. A write that only
 * restores the task's own clamps needs no line: a restoration finds nothing to do there.
 */
static int write_task(struct uclamps *clamps, struct uclamped *clamped, int task_fd,
		      struct uclamp merged)
{
	struct uclamp now = clamped->put;
	int r;

	clamped->was = now;
	clamped->put = merged;
	r = task_log_add_line(&clamps->log, clamped);
	if (r == 0 || uclamp_equals(merged, clamped->own))
		r = uclamp_write(clamped->task.pid, now, merged);
	if (r < 0) {
		clamped->put = now;
		return r == -ESRCH ? UCLAMPS_GONE : r;
	}
	clamps->counts.writes++;
	if (task_is_alive(task_fd))
		return UCLAMPS_DONE;
	spare_stranger(clamped, now);
	return UCLAMPS_GONE;
}

/* The entry of the task with this pid and start, added if need be, with its present clamps. */
static int take_entry(struct uclamps *clamps, uint32_t pid, uint64_t start, struct uclamped **ret)
{
	struct uclamped *entry = task_log_find(&clamps->log, pid);
	struct uclamp now;
	int r = uclamp_read(pid, &now);

	if (r < 0)
		return r;
	if (entry && entry->task.start != start) {
		task_log_drop(&clamps->log, entry);
		entry = NULL;
	}
	if (entry) {
		take_foreign(clamps, entry, now);
	} else {
		const struct uclamped fresh = {
			.task = { pid, true, start },
			.own = now,
			.put = now,
		};

		entry = task_log_put(&clamps->log, &fresh);
	}
	*ret = entry;
	return entry ? 0 : -ENOSPC;
}

static bool is_none(struct uclamp ours)
{
	return ours.min_cap <= UCLAMP_LEAST && ours.max_cap >= UCLAMP_MOST;
}

static void remember(struct uclamps *clamps, const struct uclamped *clamped)
{
	clamps->recent[clamps->n_recent++ % RECENT] = *clamped;
}

/* Drops the entry of a task that is gone or has none of our clamps. */
static int finish(struct uclamps *clamps, struct uclamped *entry, int r, uint64_t now_ns)
{
	if (r == UCLAMPS_GONE || (r >= 0 && is_none(entry->ours))) {
		remember(clamps, entry);
		task_log_drop(&clamps->log, entry);
		return r;
	}
	if (r < 0)
		clamps->counts.refused += !entry->refused;
	entry->refused = r < 0;
	if (r == UCLAMPS_DONE)
		entry->changed_ns = now_ns;
	return r;
}

/* As uclamps_set(), without the rate limit. */
static int write_now(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns)
{
	_cleanup_close_ int task_fd = -1;
	struct uclamped *entry;
	struct uclamp merged;
	uint64_t start;
	int r;

	task_fd = task_open(pid, &start);
	r = task_fd < 0 ? task_fd : take_entry(clamps, pid, start, &entry);
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
		return finish(clamps, entry, UCLAMPS_UNCHANGED, now_ns);
	return finish(clamps, entry, write_task(clamps, entry, task_fd, merged), now_ns);
}

/* Writes the first change at once, further ones at the rate limit. */
static int put_off(struct uclamps *clamps, struct uclamped *entry, struct uclamp ours)
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
		return put_off(clamps, entry, ours);
	return write_now(clamps, pid, ours, now_ns);
}

uint64_t uclamps_next_ns(const struct uclamps *clamps)
{
	return clamps->next_ns;
}

int uclamps_check(struct uclamps *clamps, uint32_t pid, uint64_t now_ns)
{
	struct uclamped *entry = task_log_find(&clamps->log, pid);

	if (!entry || entry->refused || entry->pending)
		return UCLAMPS_UNCHANGED;
	if (now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
		return put_off(clamps, entry, entry->ours);
	return write_now(clamps, pid, entry->ours, now_ns);
}

void uclamps_check_all(struct uclamps *clamps, uint64_t now_ns)
{
	struct uclamped *entry = NULL;

	while ((entry = task_log_next(&clamps->log, entry)))
		if (entry->refused)
			write_now(clamps, entry->task.pid, entry->ours, now_ns);
		else
			uclamps_check(clamps, entry->task.pid, now_ns);
}

void uclamps_flush(struct uclamps *clamps, uint64_t now_ns)
{
	struct uclamped *entry = NULL;

	if (now_ns < clamps->next_ns)
		return;
	clamps->next_ns = UINT64_MAX;
	while ((entry = task_log_next(&clamps->log, entry)))
		if (entry->pending && now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
			put_off(clamps, entry, entry->ours);
		else if (entry->pending)
			write_now(clamps, entry->task.pid, entry->ours, now_ns);
}

/* The parent's entry, or its former one: the parent can have forked before its last write. */
static const struct uclamped *find_parent(const struct uclamps *clamps, uint32_t parent)
{
	const struct uclamped *entry = task_log_find(&clamps->log, parent);

	if (entry)
		return entry;
	for (size_t i = 0; i < RECENT; i++)
		if (clamps->recent[i].task.pid == parent)
			return &clamps->recent[i];
	return NULL;
}

int uclamps_forked(struct uclamps *clamps, uint32_t parent, uint32_t child)
{
	const struct uclamped *from = find_parent(clamps, parent);
	struct uclamped *entry = task_log_find(&clamps->log, child);
	struct uclamp ours = none;
	_cleanup_close_ int fd = -1;
	struct uclamped fresh = { .task = { .pid = child, .kept = true } };
	int r;

	if (!from)
		return UCLAMPS_UNCHANGED;
	fd = task_open(child, &fresh.task.start);
	r = fd < 0 ? fd : uclamp_read(child, &fresh.put);
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
		ours = entry->ours;
		entry->own = uclamped_own(from, entry->own);
	} else if (uclamp_equals(fresh.own, fresh.put)) {
		return UCLAMPS_UNCHANGED;
	} else {
		if (entry)
			task_log_drop(&clamps->log, entry);
		remember(clamps, &fresh);
		if (!task_log_put(&clamps->log, &fresh))
			return -ENOSPC;
	}
	r = write_now(clamps, child, ours, 0);
	clamps->counts.forked += r == UCLAMPS_DONE;
	return r;
}

int uclamps_release(struct uclamps *clamps, restore_report_t report, void *userdata)
{
	clamps->next_ns = UINT64_MAX;
	return task_log_release(&clamps->log, report, userdata);
}

void uclamps_count(const struct uclamps *clamps, struct uclamps_counts *ret)
{
	*ret = clamps->counts;
	ret->tasks = pid_index_count(clamps->log.index);
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
