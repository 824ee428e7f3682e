/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A control beside the frequency, saved and restored like the others: energy_performance_preference
 * of a domain, by which drivers that choose frequencies themselves (intel_pstate, amd-pstate) weigh
 * power against speed. It keeps a word until the next change (restore_and_set()).
 */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/saved.h"

struct actuator_domain;

enum preference_outcome {
	PREFERENCE_DONE,
	PREFERENCE_UNCHANGED, /* it has the word already, or the policy names none */
	PREFERENCE_MISSING,   /* the domain has no such control */
	PREFERENCE_REFUSED,   /* under `performance` the kernel refuses every other word: call again
			       * when the governor changes */
	PREFERENCE_FOREIGN,   /* another program changed our word, and its own stays */
	PREFERENCE_DYNAMIC,   /* amd-pstate sets it by the power source: left to the kernel */
	PREFERENCE_UNNAMED,   /* the kernel has no word for the present value, so nothing could
			       * restore it */
};

/* Whether amd-pstate's dynamic_epp is on: the kernel then refuses every word. */
bool preference_is_dynamic(void);

/*
 * Writes the word; NULL: the one from before us. The domain must be held. Returns an outcome or a
 * negative errno, -EINVAL for a word that the driver does not offer.
 */
int preference_set(struct actuator_domain *domain, const char *word);

/* A sentence on an outcome or error of preference_set(word), for the journal. */
const char *preference_describe(int outcome);
