/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Between capacity and frequency, and from a frequency to the OPP that serves it. */

#include <stdbool.h>

#include "core/topology.h"

/*
 * The frequency that gives a demand of cap: f = f_reference · cap / capacity, rounded up. This is
 * schedutil's f = 1.25 · f_max · util / capacity with the headroom already inside cap.
 */
uint32_t opp_khz_for_cap(const struct topology_domain *domain, uint32_t cap);

/* What a CPU of the domain is worth at khz, rounded down: its inverse up to the reference. */
uint32_t opp_cap_at_khz(const struct topology_domain *domain, uint32_t khz);

/*
 * The lowest OPP at or above khz within [min_khz, max_khz]; the highest OPP within them when none
 * is high enough; the lowest OPP of all when max_khz is below it.
 */
uint32_t opp_at_or_above(const struct topology_domain *domain, uint32_t khz, uint32_t min_khz,
			 uint32_t max_khz);

/* The next OPP below khz, or 0 when khz is the lowest or under it. */
uint32_t opp_below(const struct topology_domain *domain, uint32_t khz);

/* Whether khz is an OPP of the domain. */
bool opp_is_one(const struct topology_domain *domain, uint32_t khz);
