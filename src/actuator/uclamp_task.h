/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * One task's utilisation clamps, by sched_setattr(2). A clamp is a capacity, 0…1024: the kernel's
 * governor sees the CPU as no less, or no more, used than that while the task is runnable there.
 */

#include <stdbool.h>
#include <stdint.h>

#define UCLAMP_LEAST 0
#define UCLAMP_MOST  1024

struct uclamp {
	uint16_t min_cap;
	uint16_t max_cap;
};

static inline bool uclamp_equals(struct uclamp one, struct uclamp other)
{
	return one.min_cap == other.min_cap && one.max_cap == other.max_cap;
}

/*
 * Whether this kernel has utilisation clamps, found out by setting our own to what they are.
 * Returns 0; -EOPNOTSUPP (CONFIG_UCLAMP_TASK is missing) or another negative errno (-EPERM: a
 * filter of system calls).
 */
int uclamp_probe(void);

/* The clamps that the task asked for, or was given. Returns 0, -ESRCH or another negative errno. */
int uclamp_read(uint32_t pid, struct uclamp *ret);

/*
 * Changes from what the task has now; policy, priority and the other clamp stay. What is the
 * kernel's default becomes "not set" again, which a change of scheduling policy tells from a value
 * that happens to be the same. Returns 0, -ESRCH, -EPERM (CAP_SYS_NICE) or another negative errno.
 */
int uclamp_write(uint32_t pid, struct uclamp from, struct uclamp to);

/*
 * A task for good, though its number may come to be another's: opens a descriptor that only ever
 * names this one, and fills *ret_start with the time of its start in ticks since boot. Returns the
 * descriptor or a negative errno, -ESRCH when there is no such task.
 */
int uclamp_open_task(uint32_t pid, uint64_t *ret_start);

/* Whether the task of the descriptor still is. */
bool uclamp_is_alive(int task_fd);
