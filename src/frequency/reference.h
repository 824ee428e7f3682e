/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The frequency at which a CPU is worth its capacity. Where it is the highest OPP there is nothing
 * to choose; where it depends on how many cores are at work, and above the OPPs, policy does.
 */

#include <stdbool.h>

#include "core/settings.h"
#include "frequency/turbo.h"

/*
 * What the policy asks for, with turbo as decoded, or NULL where nothing is known of it. Returns
 * the frequency, or 0: the domain's highest OPP. *ret_why is NULL, or a phrase that says why it is
 * not what was asked for.
 */
uint32_t reference_choose(const struct policy_reference *policy, const struct turbo *turbo,
			  const char **ret_why);

/* The files in which turbo is switched, ended by NULL; a machine has one of them or none. */
extern const char *const reference_turbo_switches[];
bool reference_turbo_is_off(void);
/* What the driver of policyN says of the frequency without turbo; 0: nothing. */
uint32_t reference_base_khz(uint32_t policy);

/* The registers of this machine's first online CPU, where it is an Intel one and they can be read:
 * 0, or a negative errno and a phrase. A turbo that was switched off in /sys is none. */
int reference_read_turbo(struct turbo *ret, const char **ret_why);
