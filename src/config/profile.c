// SPDX-License-Identifier: GPL-2.0-only
/* The table of profiles. */
#include "config/profile.h"

#include <stdlib.h>
#include <string.h>

uint32_t policy_profiles_place(const struct policy_profiles *profiles, const char *name)
{
	uint32_t i = 0;

	while (i < profiles->n && strcmp(profiles->entries[i].name, name) != 0)
		i++;
	return i;
}

const struct policy_profile *policy_profiles_find(const struct policy_profiles *profiles,
						  const char *name)
{
	uint32_t i = policy_profiles_place(profiles, name);

	return i < profiles->n ? &profiles->entries[i] : NULL;
}

void policy_profiles_deinit(struct policy_profiles *profiles)
{
	for (uint32_t i = 0; i < profiles->n; i++) {
		struct policy_profile *profile = &profiles->entries[i];

		for (uint32_t j = 0; j < profile->n_settings; j++) {
			free(profile->settings[j].name);
			free(profile->settings[j].value);
		}
		free(profile->settings);
		free(profile->when.text);
	}
	profiles->n = 0;
}
