/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What /proc says of a process, at this moment; it may end at any. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_COMMAND_SIZE 512

/* The user that it runs as. Returns 0, or a negative errno: -ENOENT when it is gone. */
int process_owner(pid_t pid, uid_t *ret);

/* As the kernel's, with the NUL at its end. */
#define PROCESS_COMM_SIZE 16

/* The name of that thread. Returns 0 or a negative errno. */
int process_comm(pid_t pid, char ret[static PROCESS_COMM_SIZE]);

/*
 * known, where that is a name and not "", else the name that the thread has now, in buffer; NULL
 * for pid 0 and for one that is gone.
 */
const char *process_name(uint32_t pid, const char *known, char buffer[static PROCESS_COMM_SIZE]);

/*
 * Its command line with a blank between arguments, cut to fit, always with a NUL at its end; empty
 * for a kernel thread. Returns 0 or a negative errno.
 */
int process_command(pid_t pid, char ret[static PROCESS_COMMAND_SIZE]);
