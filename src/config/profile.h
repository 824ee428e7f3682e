/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The sections [profile NAME]: keys of other sections, as "domain.headroom = 110%", that apply
 * while the profile is in force, and conditions under which it comes into force by itself. A later
 * file's section of the same name continues the profile, key by key.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config/error.h"
#include "core/settings.h"

#define POLICY_PROFILES_MAX 16

enum policy_power {
	POLICY_POWER_ANY,
	POLICY_POWER_BATTERY,
	POLICY_POWER_MAINS,
};

/* All given conditions must hold. */
struct policy_when {
	bool given;
	char text[POLICY_LINE_MAX + 1]; /* as written */
	enum policy_power power;
	bool by_time;
	uint32_t from_min, until_min; /* of the local day; exclusive */
	char rule[POLICY_NAME_SIZE];  /* the rule that must have a task; "": none */
};

struct policy_profile {
	char name[POLICY_NAME_SIZE];
	struct policy_when when;
};

/* All zero is an empty table. */
struct policy_profiles {
	struct policy_profile entries[POLICY_PROFILES_MAX];
	uint32_t n;
};

/* The profile that is in force when no other is: the first. */
#define POLICY_PROFILE_DEFAULT "balanced"

/* NULL: there is no profile with this name. */
const struct policy_profile *policy_profiles_find(const struct policy_profiles *profiles,
						  const char *name);
