/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The power of a busy CPU at each OPP of a domain, if a source gives it, or else an estimate. */

#include "core/settings.h"
#include "core/topology.h"

enum power_source {
	POWER_UNKNOWN,
	POWER_POLICY, /* opp-power, in uW */
	POWER_KERNEL, /* the kernel's energy model, in uW or a scale of its own */
};

/*
 * Fills opp_power from the first source that has every OPP of the domain; without one, with zeros.
 * The kernel's is in debugfs, which only root can read.
 */
enum power_source power_find(const struct policy *policy, struct topology_domain *domain);

/* "the policy's opp-power", "the kernel's energy model"; NULL where it is unknown. */
const char *power_source_name(enum power_source source);

/*
 * Relative to the power at highest_khz: f·V², with V on a line from its highest value to 0.6 of
 * that at 0 Hz. For both kinds of CPUs of an rk3399 (rk3399-opp.dtsi), the V of OPPs is within 14 %
 * of that line.
 */
double energy_power_share(double khz, double highest_khz);
