/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Advice to the administrator: sentences for `wakegovctl status`, and the interrupt by which a
 * block device reports completions to a CPU, which one of them names.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/engine.h"
#include "diag/conflicts.h"

/*
 * A block device whose completions are handled in a domain in which none of its tasks runs. Then
 * one stream of I/O keeps two domains at a high frequency, or the slower one limits it.
 */
struct misplacement {
	uint32_t cpu;		    /* where the last completion was handled … */
	uint32_t completion_domain; /* … and has been for some samples */
	uint32_t task_domain;	    /* where the busiest of its tasks runs */
	uint32_t n_tasks;
};

/* Whether a device's tasks run in another domain than its completions; *ret is set only then. */
bool advice_find_misplacement(const struct engine *engine, const struct topology *topology,
			      uint32_t device, struct misplacement *ret);

/* "TuneD runs, and sets governors: take a profile …"; as below. */
char *advice_on_conflict(const struct conflict *conflict);

/* "12 times a task got no cap and no floor: …": there were too many clamp classes. As below. */
char *advice_on_clamp_classes(uint64_t refused);

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

/* The names of a domain for people. */
struct advice_place {
	const char *domain; /* "policy4" */
	const char *cpus;   /* "4-5" */
};

/*
 * "interrupt of nvme0q3 lands in policy0, the task runs in policy4: …" and the remedy. interrupt is
 * NULL if it is not known; n_tasks is at least 1. Returns a string that the caller frees, or NULL
 * without memory.
 */
char *advice_on_misplacement(const char *disk, const struct interrupt *interrupt,
			     const struct advice_place *completions,
			     const struct advice_place *tasks, uint32_t n_tasks);
