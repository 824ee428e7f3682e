/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Reads a disk's attributes in /sys/block. */

#include <stdbool.h>
#include <stdint.h>

/* The name under /sys/block of the disk that the kernel calls `name`; both WAKEGOV_DISK_SIZE long.
 */
void disk_sysfs_name(const char *name, char *ret);

/*
 * Whether the disk passes its requests on to others: dm, md, whatever names slaves, and a loop
 * device unless its file is in memory.
 */
bool disk_is_stacked(const char *name);

/*
 * Whether the disk exists and still has this sequence number: another disk, or another medium, has
 * another.
 */
bool disk_is_there(const char *name, uint64_t seq);

/*
 * The number of requests that the driver has now. -ENODATA where the kernel does not count them
 * (queue/iostats is 0), or another negative errno.
 */
int disk_read_in_flight(const char *name, uint32_t *ret);
