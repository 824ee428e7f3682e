/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The scheduler's own view of utilisation, as schedutil reads it: geometric series (the closed
 * form of include/wakegov/decay.h) of running, of being runnable and of interrupts per run queue,
 * of running per thread, and util_est, what a thread had when it last went to sleep. The sum of a
 * run queue follows its threads when they move.
 */

#include "sim/sim.h"

struct pelt_cpu {
	uint32_t util_q; /* capacity · 2^20, as all _q here */
	uint32_t runnable_q;
	uint32_t interrupt_q;
	uint64_t est_q;	  /* of the threads that run or queue */
	uint32_t level_q; /* at which it accrues */
	uint64_t updated_ns;
	uint64_t thread_ns, runnable_ns, interrupt_ns; /* the CPU's totals then */
};

struct pelt_thread {
	uint32_t util_q;
	uint32_t est_q;
	uint64_t updated_ns;
	uint64_t run_ns; /* its total then */
	bool queued;
};

struct pelt {
	bool invariant; /* accrue by frequency; false: at the full capacity at every frequency */
	struct pelt_cpu cpus[PLATFORM_CPUS_MAX];
	struct pelt_thread *threads;
};

/* Returns 0 or -ENOMEM. */
int pelt_init(struct pelt *pelt, const struct sim *sim, bool invariant);
void pelt_deinit(struct pelt *pelt);

/* Brings a CPU up to now; true if a period of 1024 µs has ended since, when the kernel looks. */
bool pelt_update_cpu(struct pelt *pelt, struct sim *sim, uint32_t cpu);

void pelt_on_wake(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread);
void pelt_on_sleep(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread);
void pelt_on_switch(struct pelt *pelt, struct sim *sim, const struct sim_thread *prev);
/* Before on_wake; the thread sleeps. */
void pelt_on_move(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread,
		  uint32_t from);
/* The parent runs. */
void pelt_on_fork(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread);
/* Before on_sleep; its share of its run queue ends with it. */
void pelt_on_exit(struct pelt *pelt, struct sim *sim, const struct sim_thread *thread);
void pelt_on_frequency(struct pelt *pelt, struct sim *sim, uint32_t domain);

/* What a CPU needs, 0…capacity: max(util, runnable, util_est), scaled by interrupts. */
uint32_t pelt_need_cap(const struct pelt *pelt, uint32_t cpu, uint32_t capacity);
