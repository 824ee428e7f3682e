/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * One task: its identity, its utilisation clamps (sched_setattr(2)) and its affinity
 * (sched_setaffinity(2)). A clamp is a capacity, 0…1024: while the task is runnable, the kernel's
 * governor takes the CPU's utilisation as at least the minimum and at most the maximum.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shared/cpu_mask.h"

#define UCLAMP_LEAST 0
#define UCLAMP_MOST  1024

struct uclamp {
	uint16_t min_cap;
	uint16_t max_cap;
	/*
	 * The minimum is the kernel's default, which depends on whether the policy is a real-time
	 * one: UCLAMP_LEAST, or sched_util_clamp_min_rt_default.
	 */
	bool default_min;
};

static inline bool uclamp_equals(struct uclamp one, struct uclamp other)
{
	return one.min_cap == other.min_cap && one.max_cap == other.max_cap;
}

/*
 * The clamps with which schedutil gives `wanted`. Before Linux 6.8 it clamps first and then adds
 * its margin of a quarter; clamps_last: it clamps last.
 */
static inline struct uclamp uclamp_less_margin(struct uclamp wanted, bool clamps_last)
{
	if (clamps_last)
		return wanted;
	if (wanted.max_cap < UCLAMP_MOST)
		wanted.max_cap = wanted.max_cap * 4 / 5;
	wanted.min_cap = (wanted.min_cap * 4 + 4) / 5;
	/* The kernel refuses a minimum above the maximum. */
	if (wanted.min_cap > wanted.max_cap)
		wanted.min_cap = wanted.max_cap;
	return wanted;
}

/*
 * Opens a descriptor for this task only, even after its pid is reused, and fills *ret_start with
 * its start time in ticks since boot. Returns the descriptor or a negative errno, -ESRCH when there
 * is no such task.
 */
int task_open(uint32_t pid, uint64_t *ret_start);

/* Whether the task of the descriptor still lives. */
bool task_is_alive(int task_fd);

/*
 * Whether this kernel has utilisation clamps, tested by writing our own unchanged. Returns 0;
 * -EOPNOTSUPP (CONFIG_UCLAMP_TASK is missing) or another negative errno (-EPERM: a filter of system
 * calls).
 */
int uclamp_probe(void);

/* The requested clamps of the task. Returns 0, -ESRCH or another negative errno. */
int uclamp_read(uint32_t pid, struct uclamp *ret);

/*
 * Changes the task's clamps from `from` to `to`; policy, priority and an unchanged clamp stay. The
 * kernel's default is written as "not set": on a change of the scheduling policy the kernel treats
 * the two differently. Returns 0, -ESRCH, -EPERM (CAP_SYS_NICE is missing) or another negative
 * errno.
 */
int uclamp_write(uint32_t pid, struct uclamp from, struct uclamp to);

/* Reads the task's affinity, offline CPUs included. Returns 0, -ESRCH or another negative errno. */
int affinity_read(uint32_t pid, struct cpu_mask *ret);

/*
 * Sets the affinity; the kernel narrows it to the cpuset. Returns 0, -ESRCH, -EINVAL (a per-CPU
 * kernel thread, or none of the CPUs is online and in the cpuset), -EPERM (CAP_SYS_NICE is missing)
 * or another negative errno.
 */
int affinity_write(uint32_t pid, const struct cpu_mask *mask);

/* The CPUs of the task's cpuset, or all if it has none. */
void affinity_read_cpuset(uint32_t pid, struct cpu_mask *ret);

/* The CPUs that are online. */
void affinity_read_online(struct cpu_mask *ret);
