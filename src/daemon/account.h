/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Enters decisions into the account (daemon/stats.h). The gain of a boost is what the experiments
 * found: the share of its tasks' I/Os that would not have been sent without it. Its cost is the
 * difference between the domain's target and the frequency in the experiment's other arm; without
 * an experiment, the highest other demand. The saving of a cap is the difference between the demand
 * before the cap and the target. The total is compared with the governor that each domain had
 * before wakegov, by that governor's rule: the highest limit under performance, the lowest under
 * powersave unless a driver chooses by itself, else what the CPUs' utilisation asks for.
 */

#include <stdint.h>

#include "daemon/stats.h"

struct account;
struct decision;
struct manager;

/* NULL without memory. */
struct account *account_new(const struct topology *topology);
struct account *account_free(struct account *account);

/* The time by both clocks. The wall clock is read once a minute, so a jump is noticed that late. */
struct stats_time account_time(struct account *account, uint64_t now_ns);

/* Sets the CPUs' known power, by which energy is estimated from now on. */
void account_set_powers(struct manager *manager);
/* Enters a decision for a domain, also one that did not change the target. */
void account_take(struct manager *manager, const struct decision *decision);
/* The domain was set to khz, or released (0). */
void account_set_target(struct manager *manager, uint32_t domain, uint32_t khz, uint64_t now_ns);
/* Counts up to now. Returns the present time. */
struct stats_time account_catch_up(struct manager *manager);
