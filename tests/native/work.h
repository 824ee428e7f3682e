/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Child processes that give a kernel something to trace. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORK_FILE_BYTES (16 << 20)

/*
 * A file of WORK_FILE_BYTES in the current directory, open for direct reading and without a name
 * that outlives the test. Returns its descriptor, or a negative errno: no direct I/O here.
 */
int work_file_new(void);

/*
 * Computes on one CPU for ever; alone: lets nobody else run there, for which it must be ended
 * within half a second, before the kernel lets others.
 */
pid_t work_spin(uint32_t cpu, bool alone);

/* Reads 4 KiB blocks directly, with a pause after each; n = 0: for ever. Its comm is name. */
pid_t work_read(const char *name, uint32_t cpu, int file, uint32_t n, uint32_t pause_us);

/* Starts a program, without its output. */
pid_t work_exec(const char *const argv[]);

/* Ends a child that the functions above began, and waits for it. Returns its wait status. */
int work_end(pid_t pid);
/* Waits for it to end by itself. */
int work_wait(pid_t pid);

void work_pin(pid_t pid, uint32_t cpu);
