/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What /proc says of a thread, at this moment; it may end at any. Only what the kernel has at hand:
 * files of /proc/PID that go to the memory of a process can make their reader wait for ever.
 */

#include <stdint.h>
#include <sys/types.h>

/* As the kernel's, with the NUL at its end. */
#define PROCESS_COMM_SIZE 16

/* The name of that thread. Returns 0 or a negative errno. */
int process_comm(pid_t pid, char ret[static PROCESS_COMM_SIZE]);

/*
 * known, where that is a name and not "", else the name that the thread has now, in buffer; NULL
 * for pid 0 and for one that is gone.
 */
const char *process_name(uint32_t pid, const char *known, char buffer[static PROCESS_COMM_SIZE]);
