// SPDX-License-Identifier: GPL-2.0-only
/* Children of tasks with clamps that we wrote. */
#include <errno.h>

#include "actuator/uclamps_private.h"
#include "shared/cleanup.h"

/* The parent's entry, or its former one: the parent can have forked before its last write. */
static const struct uclamped *find_parent(const struct uclamps *clamps, uint32_t parent)
{
	const struct entry *entry = task_log_find(&clamps->log, parent);

	if (entry)
		return &entry->clamped;
	for (size_t i = 0; i < UCLAMPS_RECENT; i++)
		if (clamps->recent[i].task.pid == parent)
			return &clamps->recent[i];
	return NULL;
}

static bool inherits(uint16_t now, uint16_t put, uint16_t was, uint16_t own)
{
	return now != own && (now == put || now == was);
}

/* The child's own clamps: each one that is not ours it has from its parent's own, or set itself. */
static struct uclamp own_of(const struct uclamped *parent, struct uclamp now)
{
	struct uclamp own = now;

	if (inherits(now.min_cap, parent->put.min_cap, parent->was.min_cap, parent->own.min_cap))
		own.min_cap = parent->own.min_cap;
	if (inherits(now.max_cap, parent->put.max_cap, parent->was.max_cap, parent->own.max_cap))
		own.max_cap = parent->own.max_cap;
	return own;
}

/* The child may have forked before the write, and its children inherited the clamps that it had. */
static int remember_gone(struct uclamps *clamps, uint32_t child, const struct uclamped *parent)
{
	struct uclamped gone = *parent;

	gone.task.pid = child;
	uclamps_remember(clamps, &gone);
	return UCLAMPS_GONE;
}

int uclamps_forked(struct uclamps *clamps, uint32_t parent, uint32_t child)
{
	const struct uclamped *from = find_parent(clamps, parent);
	struct entry *entry = task_log_find(&clamps->log, child);
	struct uclamp ours = { UCLAMP_LEAST, UCLAMP_MOST };
	_cleanup_close_ int fd = -1;
	struct entry fresh = { .clamped.task = { .pid = child, .kept = true } };
	int r;

	if (!from)
		return UCLAMPS_UNCHANGED;
	fd = uclamp_open_task(child, &fresh.clamped.task.start);
	r = fd < 0 ? fd : uclamp_read(child, &fresh.clamped.put);
	if (r == -ESRCH)
		return remember_gone(clamps, child, from);
	if (r < 0)
		return r;
	fresh.clamped.was = fresh.clamped.put;
	fresh.clamped.own = own_of(from, fresh.clamped.put);

	/* An existing entry may hold clamps that the child inherited from ours as its own. */
	if (entry && entry->clamped.task.start == fresh.clamped.task.start) {
		ours = entry->ours;
		entry->clamped.own = own_of(from, entry->clamped.own);
	} else if (uclamp_equals(fresh.clamped.own, fresh.clamped.put)) {
		return UCLAMPS_UNCHANGED;
	} else {
		if (entry)
			task_log_drop(&clamps->log, entry);
		uclamps_remember(clamps, &fresh.clamped);
		if (!task_log_put(&clamps->log, &fresh))
			return -ENOSPC;
	}
	r = uclamps_write_now(clamps, child, ours, 0);
	clamps->counts.forked += r == UCLAMPS_DONE;
	return r;
}
