/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Chooses the frequency at which a CPU has its full capacity. If that is the highest OPP, there is
 * no choice. If it depends on the number of working cores, above the OPPs, the policy decides.
 *
 * The highest frequencies of an Intel CPU are decoded from its model-specific registers, by the
 * rules of arch/x86/kernel/cpu/aperfmperf.c, so that utilisation means the same as in the
 * scheduler. An AMD CPU's are named by the firmware, and the kernel takes the midpoint of the
 * nominal and the highest one: arch/x86/kernel/acpi/cppc.c.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/settings.h"

struct turbo {
	uint32_t base_khz;
	uint32_t one_khz;  /* with one working core; 0: not known */
	uint32_t four_khz; /* with four if they differ, else with one; on AMD the midpoint */
};

/*
 * The policy's choice, with decoded turbo (NULL: unknown). Returns the frequency, or 0: the
 * domain's highest OPP. *ret_why is NULL, or a phrase on why the choice differs from the policy.
 */
uint32_t reference_choose(const struct policy_reference *policy, const struct turbo *turbo,
			  const char **ret_why);

/* The files that switch turbo, ended by NULL; a machine has at most one of them. */
extern const char *const reference_turbo_switches[];
bool reference_turbo_is_off(void);
/* The frequency without turbo, from the driver of policyN; 0: unknown. */
uint32_t reference_base_khz(uint32_t policy);

/*
 * Reads the registers of the first online CPU if it is an Intel one, or the firmware's values for
 * an AMD one. Returns 0, or a negative errno and a phrase. A turbo that is switched off in /sys
 * counts as none on Intel; on AMD the kernel ignores that switch.
 */
int reference_read_turbo(struct turbo *ret, const char **ret_why);

/* Reads the register into *ret. Returns 0, or a negative errno if there is no such register. */
typedef int (*turbo_read_t)(void *userdata, uint32_t reg, uint64_t *ret);

/*
 * Reads and decodes the registers of an Intel CPU of family 6. Returns 0; -ENODATA with *ret_why a
 * static phrase if they have no value or an impossible one; or another negative errno if they are
 * not readable. With turbo switched off by firmware the result is the base frequency.
 */
int turbo_decode(uint32_t model, turbo_read_t read, void *userdata, struct turbo *ret,
		 const char **ret_why);

/*
 * The frequencies of an AMD CPU: amd_set_max_freq_ratio(). Returns 0, or -ENODATA and a phrase if
 * the two are not known or impossible.
 */
int turbo_of_amd(uint32_t nominal_khz, uint32_t highest_khz, struct turbo *ret,
		 const char **ret_why);
