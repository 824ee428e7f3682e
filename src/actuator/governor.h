/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Switches a domain to the kernel's userspace governor. */

#include "actuator/tunables.h"

struct actuator_domain;

#define GOVERNOR_USERSPACE "userspace"

/*
 * Saves the controls, the governor's tunables among them, switches scaling_governor to
 * `userspace` through libcpupower (the kernel loads cpufreq_userspace when it can) and opens
 * scaling_setspeed into domain->setspeed_fd. Tunables that cannot be saved are named in
 * domain->unsaved. Returns 1; 0 when it was `userspace` already; -EBUSY when the domain is offline;
 * or another negative errno with domain->why filled. On failure nothing is changed and the saved
 * values are forgotten.
 */
int governor_take(struct actuator_domain *domain);

/*
 * Collects the tunables of a governor that is about to be replaced, to be saved. One that cannot be
 * saved does not prevent the replacement; domain->unsaved names it. Returns their number.
 */
size_t governor_collect_tunables(struct actuator_domain *domain, const char *governor,
				 struct tunable tunables[TUNABLES_PER_GOVERNOR_MAX]);
