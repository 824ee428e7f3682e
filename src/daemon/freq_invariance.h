/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What frequencies are to the manager: that by which capacity is measured, and that which CPUs
 * have, where the machine counts it. */

#include <stdint.h>

struct input_task;
struct manager;

/*
 * The frequency at which each domain's CPUs are worth their capacity: by the policy, the turbo
 * registers, and whether turbo is switched off now. At the start, after a reload, and when turbo
 * may have been switched; the core and the accounting hear of what is another then.
 */
void freq_invariance_choose_references(struct manager *manager);

/* Finds out what counts frequencies. 0 or a negative errno. */
int freq_invariance_start(struct manager *manager);

/* Accounts a CPU at the frequency that it really has, if it works; nothing is read of an idle one.
 */
void freq_invariance_measure_cpu(struct manager *manager, uint32_t cpu, uint64_t now_ns);

/*
 * The frequency at which a task that was just sampled ran, where an experiment compares two: since
 * the last edge of a window, also if its CPU is idle at this one.
 */
void freq_invariance_measure_tried(struct manager *manager, struct input_task *task,
				   uint64_t now_ns);

/* Its counters may start anew: it was offline, or the machine suspended. */
void freq_invariance_forget(struct manager *manager, uint32_t cpu);
