/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * The kernel and its BPF programs number tasks as the first PID namespace does. A process in
 * another one, as in a container, has other numbers for the same tasks.
 */

/* Whether this process is in the first PID namespace. */
bool pids_are_the_kernels(void);

/*
 * Whether a process, given by its number here, is in this process's PID namespace, and not in one
 * below it. False also if it is gone. Reads no file of another process, which could be refused.
 */
bool pids_are_shared_with(pid_t pid);
