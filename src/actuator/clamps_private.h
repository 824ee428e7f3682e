/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of clamps share: the table (clamps.c), children (clamps_forked.c), the way back
 * (clamps_restore.c). */

#include <stdbool.h>

#include "actuator/clamps.h"
#include "actuator/clamps_journal.h"

/* Tasks that were given back what they had, and whose children we may not have heard of yet. */
#define CLAMPS_RECENT 64

struct entry {
	struct clamped clamped; /* pid 0: free */
	struct clamp ours;
	uint64_t changed_ns;
	bool pending; /* ours is not written yet: the rate limit */
	bool refused; /* by the kernel: not tried again */
};

struct clamps {
	const char *directory;
	int journal_fd; /* −1: not begun */
	size_t lines;	/* of the journal */
	struct entry *entries;
	size_t size; /* a power of two */
	size_t n;
	uint64_t next_ns;
	struct clamped recent[CLAMPS_RECENT];
	size_t n_recent; /* ever; the place of the next is modulo CLAMPS_RECENT */
	struct clamps_counts counts;
};

/* NULL: none. Valid until the next insertion or removal. */
struct entry *clamps_lookup(const struct clamps *clamps, uint32_t pid);
struct entry *clamps_insert(struct clamps *clamps, const struct entry *entry);
void clamps_remove(struct clamps *clamps, struct entry *entry);

/* A task that carries nothing of ours any more, and may have forked while it did. */
void clamps_remember(struct clamps *clamps, const struct clamped *clamped);

/* The higher floor and the lower cap, which wins where they cross. */
struct clamp clamps_merge(struct clamp own, struct clamp ours);

/* As clamps_set(), whatever the rate limit says. */
int clamps_write_now(struct clamps *clamps, uint32_t pid, struct clamp ours, uint64_t now_ns);
