/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One task's affinity, by sched_setaffinity(2). */

#include "shared/cpu_mask.h"

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

/*
 * The CPU on which the task runs or last ran. Returns a negative errno on failure, -ESRCH when it
 * has exited.
 */
int affinity_read_cpu(uint32_t pid);

/* The CPUs that are online. */
void affinity_read_online(struct cpu_mask *ret);
