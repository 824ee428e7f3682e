/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Utilisation on the core's side: the kernel side accounts it (include/wakegov/decay.h), the core
 * asks what it calls for and when it will have changed.
 */

#include <stdint.h>

#include "core/topology.h"

/* headroom · utilisation, in capacity: what a CPU at util_q wants. May exceed its capacity. */
uint32_t utilisation_demand_cap(uint32_t util_q, uint32_t headroom_percent);

/*
 * What a CPU of this capacity wants that has worked without an idle moment for burst_ns: its share
 * of the capacity as the burst has of rise_time_ns, all of it from then on. It has no headroom.
 */
uint32_t utilisation_burst_cap(uint32_t capacity, uint64_t burst_ns, uint64_t rise_time_ns);

/* The longest burst for which khz is enough. */
uint64_t utilisation_covered_burst_ns(const struct topology_domain *domain, uint32_t khz,
				      uint64_t rise_time_ns);

/* The highest utilisation for which khz is enough with this headroom. */
uint32_t utilisation_covered_q(const struct topology_domain *domain, uint32_t khz,
			       uint32_t headroom_percent);

/*
 * How long an idle CPU takes to decay from util_q to less than threshold_q; 0 when it is there,
 * UINT64_MAX when it never gets there (threshold 0).
 */
uint64_t utilisation_decay_ns(uint32_t util_q, uint32_t threshold_q);
