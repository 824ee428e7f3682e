/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A governor under simulation: what it is told, and nothing else of the machine than what its
 * original could read. It answers with sim_request_khz() and sim_set_timer(). Every callback but
 * start may be NULL.
 */

#include "sim/sim.h"

struct sim_governor {
	const char *name;
	const char *summary; /* for --help */

	/* Sets sim->governor_data. fixed_khz as in sim_new(). Returns 0 or a negative errno. */
	int (*start)(struct sim *sim, const uint32_t *fixed_khz);
	void (*stop)(struct sim *sim);

	/* sched_switch: cpu->current has just taken the place of prev; NULL is the idle task. */
	void (*on_switch)(struct sim *sim, struct sim_cpu *cpu, struct sim_thread *prev);
	/* The thread was put on, or has left, the run queue of its CPU. in_iowait is set for I/O.
	 */
	void (*on_wake)(struct sim *sim, struct sim_thread *thread);
	void (*on_sleep)(struct sim *sim, struct sim_thread *thread);
	/* A wake-up moves the thread from another CPU to thread->cpu; before on_wake. */
	void (*on_move)(struct sim *sim, struct sim_thread *thread, uint32_t from);
	/* The thread begins, as the other one's child, which is on its CPU; no on_wake. It ends
	 * after on_sleep, and before it wakes its parent. */
	void (*on_fork)(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent);
	void (*on_exit)(struct sim *sim, struct sim_thread *thread, struct sim_thread *parent);
	void (*on_tick)(struct sim *sim, struct sim_cpu *cpu);
	void (*on_io_start)(struct sim *sim, struct sim_thread *thread);
	/* The interrupt of a completed request of the thread begins on the CPU. */
	void (*on_io_complete)(struct sim *sim, struct sim_thread *thread, struct sim_cpu *cpu);
	/* The frequency of the domain has just become another. */
	void (*on_frequency)(struct sim *sim, uint32_t domain);
	/* The highest frequency that the domain may have has just become another. */
	void (*on_limit)(struct sim *sim, uint32_t domain);
	void (*on_timer)(struct sim *sim);
};

/* All that have a name on the command line, in the order of the output; NULL ends. */
extern const struct sim_governor *const sim_governors[];

/* Not in the list: every domain at its fixed_khz. */
extern const struct sim_governor sim_governor_fixed;
extern const struct sim_governor sim_governor_wakegov;

/* NULL if there is none of that name. */
const struct sim_governor *sim_governor_find(const char *name);

#define sim_tell(sim, callback, ...)                                     \
	do {                                                             \
		if ((sim)->governor->callback)                           \
			(sim)->governor->callback((sim), ##__VA_ARGS__); \
	} while (0)
