/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "daemon/state.h"

/*
 * Drops the capabilities that only the start needs: BPF programs are loaded, and the kernel lets
 * the holder of their descriptors attach them. CAP_SYS_NICE stays for the clamps of tasks, and
 * those that reopen a CPU's counters (counters.h, frequency/reference.h) stay while these are used:
 * it is called again when they are given up. Returns 0 or a negative errno, which was logged.
 */
int capabilities_drop(struct manager *manager);
