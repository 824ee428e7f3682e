/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* A task to be clamped. */

#include <sys/types.h>

#include "actuator-fixture.h"
#include "actuator/uclamps.h"

/* A child that waits to be killed; with a number of its own choice where pid is not 0. */
pid_t task_start(pid_t pid);
void task_end(pid_t pid);

struct uclamp task_clamps(pid_t pid);
void task_expect(pid_t pid, uint16_t min_cap, uint16_t max_cap);

/* As uclampset(1) does. */
void task_set_by_user(pid_t pid, uint16_t min_cap, uint16_t max_cap);

/* As the daemon does, far enough from the last time for the rate limit. */
int task_set(struct fixture *f, pid_t pid, uint16_t min_cap, uint16_t max_cap);

/* A clamped task with a child that has inherited its clamps, over a fork that nobody was told of.
 */
pid_t task_start_family(pid_t *ret_child, struct fixture *f, uint16_t max_cap);
