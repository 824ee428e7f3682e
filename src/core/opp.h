/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * From the utilisation of a CPU, which the kernel side accounts (include/wakegov/decay.h), to a
 * demand of capacity; between capacity and frequency; from a frequency to the OPP that serves it.
 *
 * Where the power of a domain's OPPs is known, an OPP is inefficient if a faster one takes less
 * energy for the same work: power / frequency. It is skipped, as by CPUFREQ_RELATION_E. The kernel
 * also skips an OPP that takes equal energy (em_compute_costs() in kernel/power/energy_model.c).
 * Here that one is kept: a faster CPU goes idle more often, and each wake-up costs energy.
 */

#include <stdbool.h>

#include "core/topology.h"

/*
 * The frequency that gives a demand of cap: f = f_reference · cap / capacity, rounded up. This is
 * schedutil's f = 1.25 · f_max · util / capacity with the headroom already inside cap.
 */
uint32_t opp_khz_for_cap(const struct topology_domain *domain, uint32_t cap);

/*
 * The capacity of a CPU of the domain at khz, rounded down: the inverse of opp_khz_for_cap() up to
 * the reference.
 */
uint32_t opp_cap_at_khz(const struct topology_domain *domain, uint32_t khz);

/*
 * The lowest OPP at or above khz within [min_khz, max_khz] that is not inefficient among those; the
 * highest OPP within them when none is high enough; the lowest OPP of all when max_khz is below it.
 */
uint32_t opp_at_or_above(const struct topology_domain *domain, uint32_t khz, uint32_t min_khz,
			 uint32_t max_khz);

/* The same without regard to energy, as in the userspace governor: CPUFREQ_RELATION_L. */
uint32_t opp_lowest_at_or_above(const struct topology_domain *domain, uint32_t khz,
				uint32_t min_khz, uint32_t max_khz);

/* The next OPP below khz that is not inefficient among those up to max_khz, or 0: there is none. */
uint32_t opp_below(const struct topology_domain *domain, uint32_t khz, uint32_t max_khz);

/* The OPP that replaces OPP i if that is inefficient; 0: it is not. */
uint32_t opp_better_khz(const struct topology_domain *domain, uint32_t i);

/* The frequency within the domain's lowest and highest OPP that is closest to khz. */
uint32_t opp_clamp(const struct topology_domain *domain, uint32_t khz);

/*
 * Adds an OPP above the others. Returns false, with nothing changed, where khz is not above them,
 * or there is no place. Without its power that of the others counts as not known.
 */
bool opp_add(struct topology_domain *domain, uint32_t khz, uint32_t power);

/* Whether khz is an OPP of the domain. */
bool opp_is_one(const struct topology_domain *domain, uint32_t khz);

/*
 * The OPP at which work that is waited for is cheapest, with its power P and the price of
 * waiting, both for as long as it takes: the one with the least (P + price) / f. It is the same for
 * any amount of work. Where the powers are not known, they are f·V² with V on a line from its
 * highest value to 0.6 of that at 0 Hz, and 4 W at the highest OPP.
 */
uint32_t opp_worth_waiting(const struct topology_domain *domain, uint64_t price_uw);

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
