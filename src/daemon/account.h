/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What decisions are counted as (daemon/stats.h). What a boost brings is what the experiments that
 * run anyway found: of the I/Os that its tasks sent while it was given, so many would not have been
 * without it. What it costs is what the domain's target is above that of the experiment's other
 * half; where nothing was tried, above what else was asked for. A cap saves what the target is
 * below what was asked for before the cap. And all of it together is compared with the governor
 * that each domain had before wakegov, by that governor's rule: the highest limit under
 * performance, the lowest under powersave where that is not a driver's own, else what the CPUs'
 * utilisation asks for.
 */

#include <stdint.h>

#include "daemon/stats.h"

struct account;
struct decision;
struct manager;

/* NULL without memory. */
struct account *account_new(const struct topology *topology);
struct account *account_free(struct account *account);

/* The time of both clocks. The one on the wall is read once a minute: a jump is seen that late. */
struct stats_time account_time(struct account *account, uint64_t now_ns);

/* What is known of the power of CPUs is what energy is estimated by, from then on. */
void account_set_powers(struct manager *manager);
/* A decision was taken for a domain, whether it changed the target or not. */
void account_take(struct manager *manager, const struct decision *decision);
/* The domain was told to run at khz, or was let go of (0). */
void account_set_target(struct manager *manager, uint32_t domain, uint32_t khz, uint64_t now_ns);
/* Counts up to now. Returns the time that it is. */
struct stats_time account_catch_up(struct manager *manager);
