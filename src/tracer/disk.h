/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Reads a disk's attributes in /sys/block. */

#include <stdbool.h>
#include <stdint.h>

/* The name under /sys/block of the kernel's disk `name`. Both are WAKEGOV_DISK_SIZE long. */
void disk_sysfs_name(const char *name, char *ret);

/*
 * Whether the disk passes its requests on to others: dm, md, any disk with slaves, and a loop
 * device unless its file is in memory.
 */
bool disk_is_stacked(const char *name);

/*
 * Whether the disk exists and still has this sequence number, which changes with the disk and the
 * medium.
 */
bool disk_is_there(const char *name, uint64_t seq);

enum disk_direction { DISK_READS, DISK_WRITES, DISK_DIRECTIONS };

/* The kernel's totals of a disk's reads or writes. */
struct disk_requests {
	uint64_t done;
	uint64_t time_ns; /* the sum of their durations, in steps of 1 ms */
};

struct disk_totals {
	struct disk_requests of[DISK_DIRECTIONS];
	uint32_t in_flight; /* now */
};

/*
 * Returns 0, -ENODATA where the kernel does not count (queue/iostats is 0), or another negative
 * errno.
 */
int disk_read_totals(const char *name, struct disk_totals *ret);
