/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Takes the kernel's userspace governor for a domain. */

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
 * The tunables of a governor that is about to be replaced, to be saved. What cannot be kept is no
 * reason not to replace it, but one to say so: it is named in domain->unsaved. Returns how many.
 */
size_t governor_collect_tunables(struct actuator_domain *domain, const char *governor,
				 struct tunable tunables[TUNABLES_PER_GOVERNOR_MAX]);
