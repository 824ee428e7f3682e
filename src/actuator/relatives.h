/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The parents of tasks, to find tasks that inherited a setting from a task of a daemon that was
 * killed.
 */

#include <stdint.h>

/* Number of generations that are searched for the ancestor of a task. */
#define RELATIVES_GENERATIONS 8

/* The process of a task and its parent process; both 0 when the task is gone. */
struct relatives {
	uint32_t process;
	uint32_t parent;
};

struct relatives relatives_of(uint32_t pid);

/* Calls visit for every thread of the machine. */
void relatives_each_task(void (*visit)(void *userdata, uint32_t pid), void *userdata);
