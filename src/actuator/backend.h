/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A backend is a lever: it makes a domain run at what was decided. Each offers the same steps:
 *
 *	probe      can this lever move this domain? found out by trying, never by kernel version
 *	save       originals go to disk before the first write (actuator/originals.h)
 *	apply      ask for a frequency
 *	read back  what the kernel says it runs at now
 *	restore    put the originals back, unless somebody else changed the control after us
 *
 * A domain that somebody else took over is theirs: apply and restore leave it alone from then on.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/topology.h"

struct actuator_domain;

/* What happened, beside failure (negative errno). Expected outcomes are not errors. */
enum actuator_outcome {
	ACTUATOR_DONE = 0,
	ACTUATOR_UNCHANGED = 1, /* that is what was asked for already: nothing was written */
	ACTUATOR_FOREIGN = 2,	/* somebody else changed the control: it is theirs now */
	ACTUATOR_OFFLINE = 3,	/* every CPU of the domain is offline */
};

struct backend {
	const char *name;
	/*
	 * Takes the control of the domain, after its originals are saved. Returns 0, or a negative
	 * errno with *ret_why a static sentence that says what is missing and what to do; then
	 * nothing is changed.
	 */
	int (*acquire)(struct actuator_domain *domain, const char **ret_why);
	/* Asks for khz. Returns an actuator_outcome or a negative errno. */
	int (*apply)(struct actuator_domain *domain, uint32_t khz);
	/*
	 * Checks that the control is still ours (the governor, the value last asked for).
	 * Returns ACTUATOR_DONE, ACTUATOR_FOREIGN, ACTUATOR_OFFLINE or a negative errno.
	 */
	int (*verify)(struct actuator_domain *domain);
	/* Puts the originals back where the control is still ours. Per control; 0 or first error.
	 */
	int (*release)(struct actuator_domain *domain);
};

extern const struct backend backend_setspeed;
extern const struct backend backend_observe;
