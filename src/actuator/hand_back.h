/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Gives a driven domain to another kernel governor for a while. First every control is restored,
 * then the governor is switched; the switch is saved like every other, so that it is undone after a
 * crash. Meanwhile the domain is ACTUATOR_STATE_HANDED_BACK.
 */

#include <stdbool.h>

#include "actuator/backend.h"

/* Whether the domain's driver offers the governor. */
bool actuator_offers_governor(const struct actuator_domain *domain, const char *governor);

/*
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
