/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What uclamps.c (the table), uclamps_forked.c (children) and uclamps_restore.c share. */

#include <stdbool.h>

#include "actuator/uclamps.h"
#include "actuator/uclamps_journal.h"

/*
 * Number of released tasks that are remembered, since records of their forks may still be on their
 * way.
 */
#define UCLAMPS_RECENT 256

struct entry {
	struct uclamped clamped; /* pid 0: free */
	struct uclamp ours;
	uint64_t changed_ns;
	bool pending; /* the rate limit delays the write of our clamps */
	bool refused; /* not tried again before uclamps_check_all() */
};

struct uclamps {
	const char *directory;
	int journal_fd; /* −1: no line was written yet */
	size_t lines;	/* of the journal */
	struct entry *entries;
	size_t size; /* a power of two */
	size_t n;
	uint64_t next_ns;
	struct uclamped recent[UCLAMPS_RECENT];
	size_t n_recent; /* ever added; the next goes to n_recent modulo UCLAMPS_RECENT */
	struct uclamps_counts counts;
};

/* The entry or NULL. Valid until the next insertion or removal. */
struct entry *uclamps_lookup(const struct uclamps *clamps, uint32_t pid);
struct entry *uclamps_insert(struct uclamps *clamps, const struct entry *entry);
void uclamps_remove(struct uclamps *clamps, struct entry *entry);

/* Remembers a task that is released or gone, and may have forked before. */
void uclamps_remember(struct uclamps *clamps, const struct uclamped *clamped);

/* The higher floor and the lower cap, which wins where they cross. */
struct uclamp uclamps_merge(struct uclamp own, struct uclamp ours);

/* As uclamps_set(), without the rate limit. */
int uclamps_write_now(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns);
