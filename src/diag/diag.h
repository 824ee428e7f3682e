/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Finds other influences on the frequency of a domain: running programs that change the same
 * controls, and the limits that keep it from the requested frequency: firmware, heat, another
 * program's limit, the driver. Looked up on request; no state is kept.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/engine.h"
#include "core/settings.h"

#define CONFLICTS_MAX 16

/*
 * Calls `found` for each running one. A program shows by its process or its files under /run.
 * Several programs own power-profiles-daemon's names on the system bus: an unknown owner is found
 * by them. The name is static; words.json has what it sets, and what to do. A bus without an answer
 * has no owner.
 */
void conflicts_find(void (*found)(void *userdata, const char *name), void *userdata);

/*
 * Whether a cooling device of this type limits CPUs. Drivers name those that lower the maximum
 * Processor or cpufreq-cpuN, and those that inject idle time intel_powerclamp or idle-cpuN.
 */
bool cooling_limits_cpus(const char *type, bool *ret_injects_idle);

struct throttle_domain {
	uint32_t first_cpu;  /* the N of policyN */
	uint32_t lowest_khz; /* its lowest OPP */
	uint32_t highest_khz;
	uint32_t scaling_min_khz;
	uint32_t scaling_max_khz;
	uint32_t request_min_khz; /* requests of others in the two files … */
	uint32_t request_max_khz; /* … which can read lower, by heat, firmware or driver */
	uint32_t asked_min_khz;	  /* our request; 0: none */
	uint32_t asked_max_khz;
	uint32_t current_khz; /* 0: not known */
};

/* What limits a domain, with what belongs to it: the type Limiter of io.wakegov.varlink. */
struct throttle {
	const char *who;
	const char *name; /* NULL: it has none */
	const char *kind; /* of a cooling device, else NULL */
	uint32_t khz;	  /* 0: none, as the others */
	uint32_t percent;
	uint32_t step, steps;
};

/*
 * Calls emit for each limit: firmware, thermal, idle-injection, max-perf-pct, min-perf-pct,
 * scaling-max, kernel-max, scaling-min, boost-off, sched-ext, driver; ends early with the result of
 * emit if that is not 0. sys is /sys.
 */
int throttle_find(const char *sys, const struct throttle_domain *domain,
		  int (*emit)(void *context, const struct throttle *found), void *context);

/*
 * advice.c: devices whose interrupts come in another domain than that of their tasks, and the
 * interrupt by which a block device reports completions to a CPU.
 */

/*
 * A block device whose completions are handled in a domain where none of its tasks runs. Then one
 * stream of I/O keeps two domains at a high frequency, or is limited by the slower one.
 */
struct misplacement {
	uint32_t cpu;		    /* CPU of the last completion … */
	uint32_t completion_domain; /* … its domain, for several samples now */
	uint32_t task_domain;	    /* domain of the busiest of its tasks */
	uint32_t n_tasks;
};

/* Whether a device's tasks run in another domain than its completions; *ret is set only then. */
bool advice_find_misplacement(const struct engine *engine, const struct topology *topology,
			      uint32_t device, struct misplacement *ret);

struct interrupt {
	uint32_t number; /* as in /proc/irq */
	char name[64];	 /* of its action: nvme0q3, virtio1-req.0, ahci[0000:00:1f.2] */
};

/*
 * Finds in table, a text like /proc/interrupts, the most frequent interrupt on cpu whose action
 * names a part of path. A part names a driver's instance: a component of path with a digit. An
 * action has it unchanged, or with a suffix that starts with a punctuation character, and NVMe's
 * with the queue: nvme0q3. Returns false when none of them ever occurred there, the CPU has no
 * column (it is offline), or the table cannot be read.
 */
bool interrupts_find(FILE *table, const char *path, uint32_t cpu, struct interrupt *ret);

/*
 * The same in /proc/interrupts for a disk of /sys/block. path is its device's in /sys; for NVMe,
 * where a disk may have several controllers, it is the controller in the disk's name. Returns as
 * above.
 */
bool interrupts_of_disk(const char *disk, uint32_t cpu, struct interrupt *ret);
