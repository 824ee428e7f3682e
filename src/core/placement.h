/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The tasks of a group are spread over the last-level caches when they are forked (placement =
 * fork-spread), since the kernel looks for an idle CPU in one cache only (select_idle_sibling()): a
 * task may wait there while another cache has idle CPUs. It is a preference only: a cache is
 * released as soon as a task of the group had to wait while no CPU of it has been idle for
 * WAKEGOV_FULL_NS. Tasks that are forked after a back-off, which doubles, are spread over all
 * caches again. It is no part of the engine or of recordings, as it decides nothing about
 * frequencies.
 */

#include <stdbool.h>
#include <stdint.h>

#define PLACEMENT_CACHES_MAX	   64
#define PLACEMENT_GROUPS_MAX	   64
#define PLACEMENT_NO_CACHE	   UINT32_MAX

#define PLACEMENT_BACK_OFF_NS	   1000000000ULL
#define PLACEMENT_BACK_OFF_MOST_NS 64000000000ULL
/* After a placement of this length the back-off starts again at its least. */
#define PLACEMENT_LASTED_NS 60000000000ULL

enum placement_why {
	PLACEMENT_HELD,
	PLACEMENT_FULL,	   /* released: a cache had no idle CPU */
	PLACEMENT_OFFLINE, /* … all CPUs of the cache are offline */
};

struct placement {
	enum placement_why why;
	uint64_t held; /* caches, as bits, to which tasks are kept */
	uint64_t held_since_ns;
	uint64_t retry_ns; /* no cache is held again before */
	uint64_t back_off_ns;
};

static inline bool placement_holds(const struct placement *placement, uint32_t cache)
{
	return cache < PLACEMENT_CACHES_MAX && placement->held >> cache & 1;
}

/* A task is forked. Holds all caches that are online, as bits, unless one was just released. */
static inline void placement_hold(struct placement *placement, uint64_t online, uint64_t now_ns)
{
	if (now_ns < placement->retry_ns || !(online & ~placement->held))
		return;
	placement->held = online;
	placement->held_since_ns = now_ns;
	placement->why = PLACEMENT_HELD;
}

/* Releases caches, as bits. Returns whether any of them was held. */
static inline bool placement_release(struct placement *placement, uint64_t caches,
				     enum placement_why why, uint64_t now_ns)
{
	if (!(placement->held & caches))
		return false;
	if (!placement->back_off_ns || now_ns - placement->held_since_ns >= PLACEMENT_LASTED_NS)
		placement->back_off_ns = PLACEMENT_BACK_OFF_NS;
	placement->held &= ~caches;
	placement->why = why;
	placement->retry_ns = now_ns + placement->back_off_ns;
	if (placement->back_off_ns < PLACEMENT_BACK_OFF_MOST_NS)
		placement->back_off_ns *= 2;
	return true;
}
