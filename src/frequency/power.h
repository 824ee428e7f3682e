/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The power of a busy CPU at each OPP of a domain, from a source or as an estimate. */

#include "core/settings.h"
#include "core/topology.h"

enum power_source {
	POWER_UNKNOWN,
	POWER_POLICY, /* opp-power, in uW */
	POWER_KERNEL, /* the kernel's energy model, in uW or a scale of its own */
};

/*
 * Fills opp_power from the first source that has every OPP of the domain, or else with zeros. Only
 * root can read the kernel's, in debugfs.
 */
enum power_source power_find(const struct policy *policy, struct topology_domain *domain);

/* "the policy's opp-power", "the kernel's energy model"; NULL for an unknown source. */
const char *power_source_name(enum power_source source);
