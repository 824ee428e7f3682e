/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of clamps share: the table (uclamps.c), children (uclamps_forked.c), the way back
 * (uclamps_restore.c). */

#include <stdbool.h>

#include "actuator/uclamps.h"
#include "actuator/uclamps_journal.h"

/*
 * Tasks that were given back what they had, or are gone, and whose children we may not have heard
 * of yet.
 */
#define UCLAMPS_RECENT 256

struct entry {
	struct uclamped clamped; /* pid 0: free */
	struct uclamp ours;
	uint64_t changed_ns;
	bool pending; /* ours is not written yet: the rate limit */
	bool refused; /* not tried again before all are looked at */
};

struct uclamps {
	const char *directory;
	int journal_fd; /* −1: not begun */
	size_t lines;	/* of the journal */
	struct entry *entries;
	size_t size; /* a power of two */
	size_t n;
	uint64_t next_ns;
	struct uclamped recent[UCLAMPS_RECENT];
	size_t n_recent; /* ever; the place of the next is modulo UCLAMPS_RECENT */
	struct uclamps_counts counts;
};

/* NULL: none. Valid until the next insertion or removal. */
struct entry *uclamps_lookup(const struct uclamps *clamps, uint32_t pid);
struct entry *uclamps_insert(struct uclamps *clamps, const struct entry *entry);
void uclamps_remove(struct uclamps *clamps, struct entry *entry);

/* A task that carries nothing of ours any more, or is gone, and may have forked while it did. */
void uclamps_remember(struct uclamps *clamps, const struct uclamped *clamped);

/* The higher floor and the lower cap, which wins where they cross. */
struct uclamp uclamps_merge(struct uclamp own, struct uclamp ours);

/* As uclamps_set(), whatever the rate limit says. */
int uclamps_write_now(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns);
