/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/*
 * Gives up what only a start needs: BPF programs are loaded, and the kernel lets whoever has them
 * attach them. CAP_SYS_NICE stays, for the clamps of tasks, and what opens a CPU's counters once
 * more (counters.h, frequency/reference.h). Returns 0 or a negative errno, which was logged.
 */
int capabilities_drop(struct manager *manager);
