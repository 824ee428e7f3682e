/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * energy_performance_preference: what drivers that choose frequencies by themselves (intel_pstate,
 * amd-pstate) weigh. A control beside a domain's lever, saved and restored with the others.
 */

#include <stdbool.h>
#include <stdint.h>

struct actuator_domain;

enum preference_outcome {
	PREFERENCE_DONE,
	PREFERENCE_UNCHANGED, /* it is so already, or none is wanted */
	PREFERENCE_MISSING,   /* the domain has no such control */
	PREFERENCE_REFUSED, /* under `performance` the kernel takes no other: nothing was written */
	PREFERENCE_FOREIGN, /* somebody changed what we had set: it is theirs */
	PREFERENCE_DYNAMIC, /* amd-pstate sets it by the power source: it is left to the kernel */
};

/* Whether amd-pstate's dynamic_epp is on: the kernel then takes no word from anybody else. */
bool preference_is_dynamic(void);

/*
 * Sets it to the word; NULL: to what it was before us. Only for a domain that is held. Returns an
 * outcome or a negative errno, -EINVAL for a word that the driver does not offer.
 */
int preference_set(struct actuator_domain *domain, const char *word);

/* A sentence on an outcome or error of preference_set(word), for the journal. */
const char *preference_describe(int outcome);
