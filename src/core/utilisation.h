/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Utilisation in the core: the kernel side accounts it (include/wakegov/decay.h); the core computes
 * the demand and the time of its next change.
 */

#include <stdint.h>

#include "core/topology.h"

/* The demand of a CPU at util_q: headroom · utilisation, in capacity. May exceed its capacity. */
uint32_t utilisation_demand_cap(uint32_t util_q, uint32_t headroom_percent);

/*
 * The demand of a CPU of this capacity that has worked without an idle moment for burst_ns: the
 * share burst_ns / rise_time_ns of its capacity, at most all of it, without headroom.
 */
uint32_t utilisation_burst_cap(uint32_t capacity, uint64_t burst_ns, uint64_t rise_time_ns);

/* The longest burst for which khz suffices. */
uint64_t utilisation_covered_burst_ns(const struct topology_domain *domain, uint32_t khz,
				      uint64_t rise_time_ns);

/* The highest utilisation for which khz is enough with this headroom. */
uint32_t utilisation_covered_q(const struct topology_domain *domain, uint32_t khz,
			       uint32_t headroom_percent);

/*
 * The time in which an idle CPU decays from util_q to below threshold_q; 0 when it is there,
 * UINT64_MAX when it never gets there (threshold 0).
 */
uint64_t utilisation_decay_ns(uint32_t util_q, uint32_t threshold_q);
