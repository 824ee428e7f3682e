/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/* Gives tasks the clamps that the core wants them to have; their children lose them. */
void manager_apply_task_clamps(struct manager *manager, uint64_t now_ns);
/* A task asks for clamps itself: own is wakegov/own.h, 0 and ended when it has exited. */
void manager_take_own_clamps(struct manager *manager, uint32_t pid, uint32_t own, bool ended,
			     uint64_t now_ns);
/* Looks at every task's: for news of them that was lost. */
void manager_check_clamps(struct manager *manager, uint64_t now_ns);
void manager_take_child(struct manager *manager, uint32_t parent, uint32_t child);
