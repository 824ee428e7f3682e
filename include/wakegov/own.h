/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The utilisation clamps that a task has requested for itself, by sched_setattr(2) or uclampset(1),
 * or that its cgroup allows, in one word. 0: none.
 */

#include <linux/types.h>

#define WAKEGOV_CAPACITY_MAX 1024	/* SCHED_CAPACITY_SCALE */
#define WAKEGOV_OWN_GROUP    (1U << 31) /* the maximum is its cgroup's, or that of the sysctls */

static inline __u32 wakegov_own(__u32 min_cap, __u32 max_cap)
{
	return min_cap | (WAKEGOV_CAPACITY_MAX - max_cap) << 16;
}

static inline __u32 wakegov_own_min(__u32 own)
{
	return own & 0xffff;
}

static inline __u32 wakegov_own_max(__u32 own)
{
	return WAKEGOV_CAPACITY_MAX - ((own & ~WAKEGOV_OWN_GROUP) >> 16);
}
