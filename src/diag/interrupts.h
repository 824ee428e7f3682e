/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Finds the interrupt by which a block device reports completions to a CPU, in /proc/interrupts. */

#include <stdint.h>
#include <stdio.h>

struct interrupt {
	uint32_t number; /* as in /proc/irq */
	char name[64];	 /* of its action: nvme0q3, virtio1-req.0, ahci[0000:00:1f.2] */
};

/*
 * Among the interrupts in table, a text in the form of /proc/interrupts, finds the one most
 * frequent on cpu whose action names a part of path. A part names a driver's instance: a component
 * of path with a digit. Actions have it as it is, or with a suffix that starts with a punctuation
 * character, and NVMe's with the queue: nvme0q3. Returns 0; -ENOENT when none of them ever occurred
 * there, or the CPU has no column (it is offline); -ENOMEM; or the error of reading.
 */
int interrupts_find(FILE *table, const char *path, uint32_t cpu, struct interrupt *ret);

/*
 * The same in /proc/interrupts for a disk of /sys/block. path is its device's in /sys, and for
 * NVMe, whose disks may have several controllers, the controller of the disk's name. Returns as
 * above.
 */
int interrupts_of_disk(const char *disk, uint32_t cpu, struct interrupt *ret);
