/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Ways for tasks to work in turn, or beside each other: chainload.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHAINLOAD_TASKS 9
#define CHAINLOAD_WORK	4000 /* steps of a turn */
#define CHAINLOAD_SKIP	77   /* exit status: not on this kernel */

struct chainload_mode {
	const char *name;
	void (*take_turn)(uint32_t me); /* of the tasks, one for the other; again and again */
	void (*prepare)(void);
	uint32_t n;   /* tasks; 0: two */
	bool crowded; /* each CPU has work that wakes none, to which interrupts happen */
};

/* Each table ends with one without a name. */
extern const struct chainload_mode chainload_turns[], chainload_children[], chainload_rings[],
	chainload_files[], chainload_alone[];

/* Of each task, where it reads, and where it writes. */
extern int chainload_ends[2][2];
extern size_t chainload_bytes; /* of a message */

uint64_t chainload_now_ns(void);
void chainload_compute(uint32_t steps);
/* Computes for so long, whatever its CPU does meanwhile. */
void chainload_work(uint64_t ns);
/* Sleeps to the end of this thread's present period, by a timer. */
void chainload_wait(uint64_t period_ns);
/* All of a message; or the process ends. */
void chainload_transfer(int fd, void *buffer, size_t bytes, bool out);
void chainload_connect_pipes(void);
/* Runs a shell's command, by a format; one that fails says that the kernel lacks what it needs. */
void chainload_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the process, as the kernel lacks something. */
void chainload_skip(const char *what) __attribute__((noreturn));
