/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/* Applies changed clamps to tasks, and restores those of their children. */
void manager_apply_task_clamps(struct manager *manager, uint64_t now_ns);
/* Takes a task's own clamps: own is as in wakegov/own.h, 0 and ended when it has exited. */
void manager_take_own_clamps(struct manager *manager, uint32_t pid, uint32_t own, bool ended,
			     uint64_t now_ns);
/* Checks the clamps of every task: records of changes were lost. */
void manager_check_clamps(struct manager *manager, uint64_t now_ns);
void manager_take_child(struct manager *manager, uint32_t parent, uint32_t child);
