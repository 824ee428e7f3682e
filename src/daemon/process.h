/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Reads a thread's name in /proc; the thread may exit at any time. Uses only files whose contents
 * the kernel has at hand: files of /proc/PID that read a process's memory can block for ever.
 */

#include <stdint.h>
#include <sys/types.h>

/* As the kernel's TASK_COMM_LEN, with NUL. */
#define PROCESS_COMM_SIZE 16

/* Reads the name of the thread. Returns 0 or a negative errno. */
int process_comm(pid_t pid, char ret[static PROCESS_COMM_SIZE]);

/*
 * Returns `known` if it is a name and not "", else the thread's present name, in buffer; NULL for
 * pid 0 and for a thread that is gone.
 */
const char *process_name(uint32_t pid, const char *known, char buffer[static PROCESS_COMM_SIZE]);
