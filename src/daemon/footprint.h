/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What the daemon itself costs, and how it keeps its memory small: the tables are sized for the
 * worst, and mostly empty.
 */

#include <stdint.h>

/*
 * What malloc() and the kernel are to do with this process's memory. To be called before much is
 * allocated. Where one of it is refused, more memory is used and nothing else happens.
 */
void footprint_limit(void);

/* Gives back what only the start needed. */
void footprint_trim(void);

/* User and system time of this process. */
uint64_t footprint_cpu_us(void);

/* Proportional set size in KiB; 0 when the kernel does not say. */
uint64_t footprint_pss_kib(void);
