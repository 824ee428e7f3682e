/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Who started whom: for tasks that have inherited what a daemon that was killed had put on others.
 */

#include <stdint.h>

/* How far up the line of parents an heir's ancestor is looked for. */
#define RELATIVES_GENERATIONS 8

/* The process of a task, and the parent of that; both 0 where it is gone. */
struct relatives {
	uint32_t process;
	uint32_t parent;
};

struct relatives relatives_of(uint32_t pid);

/* Every thread that there is. */
void relatives_each_task(void (*visit)(void *userdata, uint32_t pid), void *userdata);
