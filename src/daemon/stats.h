/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the manager counts for metrics: why decisions were taken, and how long each OPP was held. */

#include <stdint.h>

#include "core/decision.h"
#include "core/topology.h"

struct stats;

/* topology is borrowed. NULL without memory. */
struct stats *stats_new(const struct topology *topology);
struct stats *stats_free(struct stats *stats);

/* The domain was told to run at a target, or was let go of (khz 0: no time counts from now on). */
void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz, uint64_t now_ns);

void stats_add_decision(struct stats *stats, const struct decision *decision);

/* Since the start. */
uint64_t stats_decisions(const struct stats *stats, enum reason reason);
uint64_t stats_limits(const struct stats *stats, enum limiter limiter);

/* How long the domain was told to run at its opp-th OPP, up to now_ns. */
uint64_t stats_opp_ns(const struct stats *stats, uint32_t domain, uint32_t opp, uint64_t now_ns);
