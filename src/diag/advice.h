/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Advice to the administrator: sentences for `wakegovctl status`. */

#include <stdbool.h>

#include "core/engine.h"
#include "diag/conflicts.h"
#include "diag/interrupts.h"

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
char *advice_on_rival(const struct rival *rival);

/* "12 times a task got no cap and no floor: …": there were too many clamp classes. As below. */
char *advice_on_clamp_classes(uint64_t refused);

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
