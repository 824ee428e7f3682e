/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A backend makes a domain run at the decided frequency. Each has the same steps:
 *
 *	acquire    take control, if trying shows that this backend can drive the domain; the
 *	           present values go to disk before the first write (actuator/saved.h)
 *	apply      write a frequency, and read back the present one
 *	verify     check that the control is still ours
 *	release    restore the saved values, unless another program changed the control after us:
 *	           actuator_domain_release(), alike for all
 *
 * When another program takes a domain over, the backend sets it `yielded` and drops its saved
 * values; apply and release then do nothing.
 */

#include <stdbool.h>

#include "actuator/domain.h"
#include "core/settings.h"

struct backend {
	const char *name;
	bool writes; /* false: observes only */
	/*
	 * The domain's own governor chooses the frequency between the limits, and the target is
	 * only an expectation. Limits can change without the target: call apply for every decision.
	 */
	bool leaves_governor;
	bool clamps_tasks; /* floors, caps and boosts become clamps of tasks */
	/*
	 * Takes control of the domain: saves the present values in domain->saved and on disk, then
	 * switches the control. Returns ACTUATOR_DONE; ACTUATOR_OFFLINE (nothing changed; try again
	 * when a CPU comes online); or a negative errno with domain->why, a sentence that says what
	 * is missing and what to do. On failure nothing is changed, on disk neither: -ENOSPC and
	 * the like when the values could not be saved, -EOPNOTSUPP when the domain has no such
	 * control.
	 */
	int (*acquire)(struct actuator_domain *domain);
	/*
	 * Writes the request. Returns an actuator_outcome or a negative errno. ACTUATOR_OFFLINE and
	 * failures forget the request, so that the next call writes again. On ACTUATOR_NOT_YET call
	 * again a rate limit later.
	 */
	int (*apply)(struct actuator_domain *domain, const struct actuator_request *request);
	/*
	 * Checks that the control is still ours: always the governor, and the requested value if
	 * actuator_watch saw another program write it. Call it after events of the watch or the
	 * hotplug socket, and after a resume. A domain that is online again is driven again,
	 * without a known request. Returns ACTUATOR_DONE, ACTUATOR_TAKEN_OVER, ACTUATOR_OFFLINE or
	 * a negative errno.
	 */
	int (*verify)(struct actuator_domain *domain);
};

extern const struct backend backend_setspeed;
extern const struct backend backend_limits;
extern const struct backend backend_uclamp;
extern const struct backend backend_observe; /* decides, records and explains, and writes nothing */

#define BACKEND_WHY_SIZE 512

/* The backend of a name in the policy; NULL for `auto`. */
const struct backend *backend_find(enum policy_backend backend);

/*
 * Acquires the domain with the policy's backend. `auto` tries these in order:
 *
 *	uclamp    schedutil governs the domain and the kernel has utilisation clamps
 *	setspeed  the driver offers the userspace governor
 *	limits    scaling_min_freq and scaling_max_freq can be written
 *	observe   always
 *
 * *ret is that backend; passed_over says why the earlier ones failed. Returns an actuator_outcome
 * or a negative errno, with domain->why filled and nothing changed.
 */
int backend_acquire(struct actuator_domain *domain, enum policy_backend wanted,
		    const struct backend **ret, char passed_over[static BACKEND_WHY_SIZE]);

/*
 * Restores the saved values of controls that are still ours, and drops the domain. A control that
 * fails does not stop the rest and stays in the file for `wakegovd --restore`. report (may be NULL)
 * is called for each. Returns ACTUATOR_DONE, ACTUATOR_OFFLINE (the file keeps the values until the
 * domain is back) or the first error. Does nothing on a domain that is not held.
 */
int actuator_domain_release(struct actuator_domain *domain, const struct backend *backend,
			    restore_report_t report, void *userdata);

/*
 * Gives a driven domain to another governor for a while: restores every control, then switches. The
 * domain is ACTUATOR_STATE_HANDED_BACK until actuator_end_hand_back().
 *
 * governor NULL means the domain's governor before us. Returns ACTUATOR_DONE; ACTUATOR_TAKEN_OVER
 * and ACTUATOR_OFFLINE as release and verify of struct backend; or a negative errno with
 * domain->why filled. The domain is not driven in any of these cases.
 */
int actuator_hand_back(struct actuator_domain *domain, const struct backend *backend,
		       const char *governor);

/*
 * Checks that the domain still has the governor that we gave it. Returns ACTUATOR_DONE;
 * ACTUATOR_TAKEN_OVER, and the domain is yielded; ACTUATOR_OFFLINE; or a negative errno.
 */
int actuator_verify_handed_back(struct actuator_domain *domain);

/*
 * Restores the governor from before us, so that the domain can be acquired. Returns as
 * actuator_verify_handed_back().
 */
int actuator_end_hand_back(struct actuator_domain *domain);
