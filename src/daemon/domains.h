/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The state of each domain. What the actuator reports goes to the core, the journal and the
 * statistics. A domain that another program has taken over stays yielded until a user adopts it, or
 * the program restores our value.
 */

#include <stdint.h>

#include "daemon/core.h"

/*
 * Acquires a domain by the policy's backend, at the start. Returns what backend_acquire() does,
 * with the reason of a failure in actuator.why.
 */
int domains_acquire(struct core *core, uint32_t domain);

/*
 * Checks whether we still drive a domain, and whether it is online. Acquires one that is free: it
 * came back online, was handed back, or another program restored our value. Applies the policy's
 * energy preference.
 */
void domains_verify(struct core *core, uint32_t domain);

/*
 * For struct actuator_domain; core is a struct core. These will be our limits of a domain: a change
 * to them, and to what comes of them beside those of others that were last read, takes no
 * domains_verify().
 */
void domains_expect_limits(void *core, const struct actuator_domain *actuator, uint32_t min_khz,
			   uint32_t max_khz);

/* Checks the domains in whose files other programs have written since the last time. */
void domains_verify_touched(struct core *core);

/* Applies an outcome of the actuator to the state of the domain. */
void domains_set_outcome(struct core *core, uint32_t domain, int outcome);

/* Reads scaling_min/max of a domain for the core. Returns 0; -EBUSY: offline; -ENODEV: no driver */
int domains_read_limits(struct core *core, uint32_t domain);

/* Sets the policy's energy preference, also after a reload. */
void domains_set_preference(struct core *core, uint32_t domain);

/*
 * Gives all driven domains to a governor, NULL: those from before wakegov, until
 * domains_end_hand_back(). The caller has set core->handed_back_until_ns. Returns 0 or the negative
 * errno of the first that failed: then the caller takes back.
 */
int domains_hand_back(struct core *core, const char *governor);
void domains_end_hand_back(struct core *core);

/*
 * Takes back a domain that was yielded to another program, or all (NULL), and returns their number.
 * -ENOENT: no domain has the name.
 */
int domains_adopt(struct core *core, const char *name, uint32_t *ret_adopted);

/*
 * Chooses the backend of every domain again if a scheduler of sched_ext came, went or was replaced,
 * or amd-pstate's guided mode began or ended: a scheduler that has all tasks ignores clamps, and in
 * that mode they cap nothing.
 */
void domains_follow_kernel(struct core *core);

/* Looks for other programs that change the same controls, and logs new ones. */
void domains_find_conflicts(struct core *core);

/*
 * Adds OPPs when turbo is switched on, or the driver raises the highest frequency. They are only
 * added, above the others, so that counts and recordings by OPP stay right. OPPs that are not
 * allowed now lie above scaling_max_freq, which domains_read_limits() reads.
 */
void opps_follow(struct core *core, uint32_t domain);

/*
 * freq_invariance.c: the frequencies of CPUs: the one at which they have their capacity, and the
 * measured one where the machine has counters.
 */

struct input_task;

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

/*
 * Measures a CPU since the last call and accounts it at that frequency. To read an idle CPU wakes
 * it. Returns kHz, idle time excluded; 0: it could not be measured.
 */
uint32_t freq_invariance_measure(struct core *core, uint32_t cpu, uint64_t now_ns);

/* The same of a CPU that works; an idle one is not read. */
void freq_invariance_measure_cpu(struct core *core, uint32_t cpu, uint64_t now_ns);

/*
 * Measures the frequency at which a just sampled task ran, for an experiment: since the last edge
 * of a window, also if its CPU is idle now.
 */
void freq_invariance_measure_tried(struct core *core, struct input_task *task, uint64_t now_ns);
