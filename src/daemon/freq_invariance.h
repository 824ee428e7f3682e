/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The frequencies of CPUs: the one at which they have their capacity, and the measured one where
 * the machine has counters.
 */

#include <stdint.h>

struct input_task;
struct core;

/*
 * Chooses the frequency at which each domain's CPUs have their capacity, by the policy, the turbo
 * registers, and whether turbo is off now. Call it at start, after a reload, and when turbo may
 * have been switched; the core and the accounting get changes.
 */
void freq_invariance_choose_references(struct core *core);

/* Finds the machine's frequency counters. Returns 0 or a negative errno. */
int freq_invariance_start(struct core *core);

/*
 * Drops the capabilities that neither the clamps of tasks nor the counters need: at the end of the
 * start, and when counters are given up. Returns 0 or a negative errno, which was logged.
 */
int freq_invariance_drop_capabilities(struct core *core);

/* Accounts a CPU at its measured frequency, if it works; an idle CPU is not read. */
void freq_invariance_measure_cpu(struct core *core, uint32_t cpu, uint64_t now_ns);

/*
 * Measures the frequency at which a just sampled task ran, for an experiment: since the last edge
 * of a window, also if its CPU is idle now.
 */
void freq_invariance_measure_tried(struct core *core, struct input_task *task, uint64_t now_ns);
