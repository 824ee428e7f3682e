/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Follows what a domain can do: turbo is switched on, or the driver raises the highest frequency.
 * OPPs are only added, above the others, so that what was counted and recorded by OPP stays right.
 * Those that a domain may not have for now lie above scaling_max_freq, which domains_read_limits()
 * reads.
 */

#include "daemon/core.h"

/* Looks whether turbo or the hardware's maximum was switched, and adds OPPs then. */
void opps_follow(struct core *core, uint32_t domain);
