/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Switches the kernel governor of a domain: to `userspace`, through which setspeed drives it, or to
 * another one for a while. A switch is saved before it is made, with the tunables of the governor
 * that the kernel frees by it, so that it is undone after a crash.
 */

#include <stdbool.h>

#include "actuator/backend.h"

#define GOVERNOR_USERSPACE "userspace"

/*
 * Whether the driver chooses frequencies itself, and offers only the names performance and
 * powersave for its two ways to do it.
 */
bool governor_driver_chooses(const char *driver);

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
 * Gives a driven domain to another governor for a while: restores every control, then switches. The
 * domain is ACTUATOR_STATE_HANDED_BACK until actuator_end_hand_back().
 *
 * governor NULL means the one that was there before us. Returns ACTUATOR_DONE; ACTUATOR_TAKEN_OVER
 * and ACTUATOR_OFFLINE as release and verify of struct backend; or a negative errno with
 * domain->why filled. The domain is not driven in any of these cases.
 */
int actuator_hand_back(struct actuator_domain *domain, const struct backend *backend,
		       const char *governor);

/*
 * Checks that the domain still has the governor that it was given. Returns ACTUATOR_DONE;
 * ACTUATOR_TAKEN_OVER, and the domain is yielded; ACTUATOR_OFFLINE; or a negative errno.
 */
int actuator_verify_handed_back(struct actuator_domain *domain);

/*
 * Restores what was there before us, so that the domain can be acquired. Returns as
 * actuator_verify_handed_back().
 */
int actuator_end_hand_back(struct actuator_domain *domain);
