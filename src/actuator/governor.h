/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Switches the kernel governor of a domain: to `userspace`, with which setspeed drives it, or to
 * another one for a while. Before the switch, the governor and the tunables that the kernel frees
 * with it are saved, so that a crash is undone.
 */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/domain.h"
#include "actuator/saved.h"

#define GOVERNOR_USERSPACE "userspace"

/*
 * Whether the driver chooses frequencies itself, and offers only performance and powersave as names
 * for its two ways of doing so.
 */
bool governor_driver_chooses(const char *driver);

#define TUNABLES_PER_GOVERNOR_MAX 32

/*
 * Reads the governor's tunables that can be read and written, policyN's or else the shared ones,
 * sorted by name. Leaves out those that cannot be saved (a name or value that is too long or not
 * one word, an error, more than n_max); ret_unsaved names them, and may be cut. Returns the number,
 * 0 for a governor without tunables, or a negative errno.
 */
int governor_collect_tunables(uint32_t policy, const char *governor, struct saved_value *ret,
			      size_t n_max, char *ret_unsaved, size_t unsaved_size);

/*
 * Saves the controls, the governor's tunables among them, switches scaling_governor to
 * `userspace` through libcpupower (the kernel loads cpufreq_userspace when it can) and opens
 * scaling_setspeed into domain->setspeed_fd. Tunables that cannot be saved are named in
 * domain->unsaved. Returns 1; 0 when it was `userspace` already; -EBUSY when the domain is offline;
 * or another negative errno with domain->why filled. On failure nothing is changed and the saved
 * values are forgotten.
 */
int governor_switch(struct actuator_domain *domain);

/*
 * Switches the domain to a governor for a while, after saving the switch, and keeps the name in
 * domain->lent_to. Returns 0, or a negative errno with domain->why filled and nothing changed.
 */
int governor_lend(struct actuator_domain *domain, const char *governor);

/*
 * A control beside the frequency, saved and restored like the others:
 * energy_performance_preference of a domain, by which drivers that choose frequencies themselves
 * (intel_pstate, amd-pstate) weigh power against speed. It keeps a word until the next change
 * (restore_and_set()).
 */

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
