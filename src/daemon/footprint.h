/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* How the daemon keeps its memory small: the tables are sized for the worst, and mostly empty. */

/*
 * What malloc() and the kernel are to do with this process's memory. To be called before much is
 * allocated. Where one of it is refused, more memory is used and nothing else happens.
 */
void footprint_limit(void);

/* Gives back what only the start needed. */
void footprint_trim(void);
