/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A domain that we drive, lent for a while to another governor of the kernel: first everything is
 * put back as it was before us, then the governor is switched, which is saved as any other saved
 * value is, so that a crash puts it back too. The domain is ACTUATOR_STATE_HANDED_BACK meanwhile.
 */

#include <stdbool.h>

#include "actuator/backend.h"

/* Whether the domain's driver offers the governor. */
bool actuator_offers_governor(const struct actuator_domain *domain, const char *governor);

/*
 * governor: NULL for the one that was there before us. Returns ACTUATOR_DONE; ACTUATOR_TAKEN_OVER,
 * ACTUATOR_OFFLINE as struct backend's release and verify; or a negative errno with domain->why
 * filled. The domain is not driven in any of these cases.
 */
int actuator_hand_back(struct actuator_domain *domain, const struct backend *backend,
		       const char *governor);

/*
 * Whether the governor is still the one that it was lent to. Returns ACTUATOR_DONE;
 * ACTUATOR_TAKEN_OVER, and the domain is yielded; ACTUATOR_OFFLINE; or a negative errno.
 */
int actuator_verify_handed_back(struct actuator_domain *domain);

/*
 * Ends it: what was there before us is there again, and the domain can be acquired. Returns as
 * actuator_verify_handed_back().
 */
int actuator_end_hand_back(struct actuator_domain *domain);
