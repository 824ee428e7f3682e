/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Measures the daemon's own cost, and keeps its memory small: its tables are sized for the worst
 * case and mostly empty.
 */

#include <stdint.h>

/*
 * Sets how malloc() and the kernel manage this process's memory. Call it before large allocations.
 * A refused setting only costs memory.
 */
void footprint_limit(void);

/* Frees memory that only the start needed. */
void footprint_trim(void);

/* User and system time of this process. */
uint64_t footprint_cpu_us(void);

/* Proportional set size in KiB; 0: not known. */
uint64_t footprint_pss_kib(void);
