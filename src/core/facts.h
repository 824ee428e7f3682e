/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The facts of tasks and processes that rules match, at one moment. */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"

/* Of one thread. */
struct task_facts {
	uint32_t pid; /* thread id */
	uint32_t tgid;
	uint64_t start_ns;  /* since boot; distinguishes tasks with the same pid */
	uint64_t cgroup_id; /* in the unified hierarchy: the inode of its directory */
	uint32_t uid;	    /* the effective one */
	uint32_t scheduler; /* SCHED_OTHER and the like */
	int32_t nice;
	bool kernel_thread;
	uint32_t parent; /* tgid */
	char comm[TASK_COMM_SIZE];
};

typedef void (*facts_handler_t)(void *userdata, const struct task_facts *facts);

/* The program of a process. If a text is unknown, its second field gives the reason, for people. */
struct process_facts {
	char exe[768];
	const char *exe_unknown; /* NULL: it is known */
	char command[3072];	 /* arguments with a blank between them, cut to fit */
	const char *command_unknown;
};

typedef void (*process_facts_t)(void *userdata, uint32_t tgid, struct process_facts *ret);
