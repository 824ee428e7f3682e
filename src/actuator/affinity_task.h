/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One task's affinity, by sched_setaffinity(2). */

#include "shared/cpu_mask.h"

/*
 * The CPUs on which the task may run, those that are offline too. Returns 0, -ESRCH or another
 * negative errno.
 */
int affinity_read(uint32_t pid, struct cpu_mask *ret);

/*
 * What its cpuset leaves of that is what it has then. Returns 0, -ESRCH, -EINVAL (it is a kernel
 * thread that stays where it is, or none of the CPUs is online and in its cpuset), -EPERM
 * (CAP_SYS_NICE) or another negative errno.
 */
int affinity_write(uint32_t pid, const struct cpu_mask *mask);

/* The CPUs of the task's cpuset; all, where it is in none. */
void affinity_read_cpuset(uint32_t pid, struct cpu_mask *ret);

/* Where it ran last, or runs. Returns a CPU, -ESRCH or another negative errno. */
int affinity_read_cpu(uint32_t pid);

/* Those that are online. */
void affinity_read_online(struct cpu_mask *ret);
