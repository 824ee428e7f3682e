/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Estimates the power of a busy CPU at a frequency. */

#include "core/topology.h"

/*
 * Relative to the power at highest_khz: f·V², with V on a line from its highest value to 0.6 of
 * that at 0 Hz. For both kinds of CPUs of an rk3399 (rk3399-opp.dtsi), the V of OPPs is within 14 %
 * of that line.
 */
double energy_power_share(double khz, double highest_khz);

/*
 * Relative to the power at the highest OPP of its domain: by the power of its OPPs if known
 * (frequency/power.h), linear between two of them; else as above.
 */
double energy_share_in(const struct topology_domain *domain, double khz);
