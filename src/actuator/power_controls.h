/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Two controls beside the frequency, saved and restored as the others are. Each holds a word until
 * the next change (restore_and_set()).
 *
 * energy_performance_preference of a domain: by it drivers that choose frequencies themselves
 * (intel_pstate, amd-pstate) weigh power against speed.
 *
 * power/pm_qos_resume_latency_us of a CPU: the kernel's idle governor puts the CPU into no idle
 * state that takes longer to leave. The file is one request of user space, which all programs
 * share.
 */

#include <stdbool.h>
#include <stdint.h>

#include "actuator/saved.h"

struct actuator_domain;

enum preference_outcome {
	PREFERENCE_DONE,
	PREFERENCE_UNCHANGED, /* it has the word already, or none is wanted */
	PREFERENCE_MISSING,   /* the domain has no such control */
	PREFERENCE_REFUSED,   /* under `performance` the kernel refuses every other word: call it
				 again when the governor changes */
	PREFERENCE_FOREIGN,   /* another program changed our word, and keeps its own */
	PREFERENCE_DYNAMIC,   /* amd-pstate sets it by the power source: left to the kernel */
	PREFERENCE_UNNAMED,   /* the kernel has no word for what is there, so it could not be put
				 back */
};

/* Whether amd-pstate's dynamic_epp is on: the kernel then refuses every word. */
bool preference_is_dynamic(void);

/*
 * Writes the word; NULL: the one from before us. Only for a domain that is held. Returns an outcome
 * or a negative errno, -EINVAL for a word that the driver does not offer.
 */
int preference_set(struct actuator_domain *domain, const char *word);

/* A sentence on an outcome or error of preference_set(word), for the journal. */
const char *preference_describe(int outcome);

enum resume_latency_outcome {
	RESUME_LATENCY_DONE,
	RESUME_LATENCY_UNCHANGED, /* the CPU is limited to that, or to less by another program */
	RESUME_LATENCY_FOREIGN,	  /* another program changed what we had set: it is theirs */
};

/*
 * Limits the CPU to us; restore_resume_latency() ends it. Returns an outcome or a negative errno,
 * -ENOENT where there is no such file; then nothing of ours is set.
 */
int resume_latency_limit(struct saved_values *saved, uint32_t cpu, uint32_t us);
