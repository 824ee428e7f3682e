// SPDX-License-Identifier: GPL-2.0-only
/* Children of tasks that carry clamps of ours. */
#include <errno.h>

#include "actuator/clamps_private.h"
#include "shared/cleanup.h"

/* What the parent carries, or carried a moment ago: it can have forked before it was written to. */
static const struct clamped *find_parent(const struct clamps *clamps, uint32_t parent)
{
	const struct entry *entry = clamps_lookup(clamps, parent);

	if (entry)
		return &entry->clamped;
	for (size_t i = 0; i < CLAMPS_RECENT; i++)
		if (clamps->recent[i].pid == parent)
			return &clamps->recent[i];
	return NULL;
}

static bool inherits(uint16_t now, uint16_t put, uint16_t was, uint16_t own)
{
	return now != own && (now == put || now == was);
}

/* Which of what the child carries is ours; the rest it has from its parent, or from itself. */
static struct clamp own_of(const struct clamped *parent, struct clamp now)
{
	struct clamp own = now;

	if (inherits(now.min_cap, parent->put.min_cap, parent->was.min_cap, parent->own.min_cap))
		own.min_cap = parent->own.min_cap;
	if (inherits(now.max_cap, parent->put.max_cap, parent->was.max_cap, parent->own.max_cap))
		own.max_cap = parent->own.max_cap;
	return own;
}

int clamps_forked(struct clamps *clamps, uint32_t parent, uint32_t child)
{
	const struct clamped *from = find_parent(clamps, parent);
	struct entry *entry = clamps_lookup(clamps, child);
	struct clamp ours = { CLAMP_LEAST, CLAMP_MOST };
	_cleanup_close_ int fd = -1;
	struct entry fresh = { .clamped.pid = child };
	int r;

	if (!from)
		return CLAMPS_UNCHANGED;
	fd = clamp_open_task(child, &fresh.clamped.start);
	r = fd < 0 ? fd : clamp_read(child, &fresh.clamped.put);
	if (r < 0)
		return r == -ESRCH ? CLAMPS_GONE : r;
	fresh.clamped.was = fresh.clamped.put;
	fresh.clamped.own = own_of(from, fresh.clamped.put);

	/* One that has got clamps of its own already knew them as its parent's. */
	if (entry && entry->clamped.start == fresh.clamped.start) {
		ours = entry->ours;
		entry->clamped.own = own_of(from, entry->clamped.own);
	} else if (clamp_equals(fresh.clamped.own, fresh.clamped.put)) {
		return CLAMPS_UNCHANGED;
	} else {
		if (entry)
			clamps_remove(clamps, entry);
		clamps_remember(clamps, &fresh.clamped);
		if (!clamps_insert(clamps, &fresh))
			return -ENOMEM;
	}
	r = clamps_write_now(clamps, child, ours, 0);
	clamps->counts.forked += r == CLAMPS_DONE;
	return r;
}
