/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Which interrupt tells a CPU that a block device is done, by /proc/interrupts. */

#include <stdint.h>
#include <stdio.h>

struct interrupt {
	uint32_t number; /* as in /proc/irq */
	char name[64];	 /* of its action: nvme0q3, virtio1-req.0, ahci[0000:00:1f.2] */
};

/*
 * Of the interrupts in table, a text in the form of /proc/interrupts, that one which came most
 * often to cpu among those whose action names a part of path. A part names a driver's instance: a
 * component of path that has a digit in it. Actions give it as it is or with a suffix that starts
 * with a sign, and NVMe's with the queue: nvme0q3. Returns 0; -ENOENT when none of them ever came
 * there, or the CPU has no column (it is offline); -ENOMEM; or what reading failed with.
 */
int interrupts_find(FILE *table, const char *path, uint32_t cpu, struct interrupt *ret);

/*
 * The same in /proc/interrupts for a disk of /sys/block. path is where its device is in /sys, and
 * for NVMe, whose disks may belong to several controllers, the controller by the disk's name.
 * Returns as above.
 */
int interrupts_of_disk(const char *disk, uint32_t cpu, struct interrupt *ret);
