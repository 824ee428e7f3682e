/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What a busy CPU takes at each OPP of a domain, where somebody says it. */

#include "core/settings.h"
#include "core/topology.h"

enum power_source {
	POWER_UNKNOWN,
	POWER_POLICY, /* opp-power, in uW */
	POWER_KERNEL, /* its energy model, in uW or a scale of its own */
};

/*
 * Fills opp_power from the first of them that has every OPP of the domain; none: zeros. The
 * kernel's is in debugfs, which only root can read.
 */
enum power_source power_find(const struct policy *policy, struct topology_domain *domain);

/* "the policy's opp-power", "the kernel's energy model"; NULL where it is unknown. */
const char *power_source_name(enum power_source source);
