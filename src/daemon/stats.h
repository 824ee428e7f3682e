/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the manager counts for metrics: why decisions were taken, and how long each OPP was held. */

#include <stdint.h>

#include "core/decision.h"
#include "core/topology.h"

struct account;

/* topology is borrowed. NULL without memory. */
struct account *account_new(const struct topology *topology);
struct account *account_free(struct account *account);

/* The domain was told to run at a target, or was let go of (khz 0: no time counts from now on). */
void account_set_target(struct account *account, uint32_t domain, uint32_t khz, uint64_t now_ns);

void account_add_decision(struct account *account, const struct decision *decision);

/* Since the start. */
uint64_t account_decisions(const struct account *account, enum reason reason);
uint64_t account_limits(const struct account *account, enum limiter limiter);

/* How long the domain was told to run at its opp-th OPP, up to now_ns. */
uint64_t account_opp_ns(const struct account *account, uint32_t domain, uint32_t opp,
			uint64_t now_ns);
