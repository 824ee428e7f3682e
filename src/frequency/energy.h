/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a busy CPU takes at a frequency, where nothing measures it. */

#include "core/topology.h"

/*
 * Over what it takes at highest_khz: f·V², where V falls on a line from its highest to 0.6 of that
 * at 0 Hz. Of the OPPs of an rk3399 (rk3399-opp.dtsi), both kinds, V is within 14 % of that line.
 */
double energy_power_share(double khz, double highest_khz);

/*
 * Over what it takes at the highest OPP of its domain: by the power of its OPPs where that is known
 * (frequency/power.h), on a line between two of them; else as above.
 */
double energy_share_in(const struct topology_domain *domain, double khz);
