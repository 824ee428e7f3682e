// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the policy's energy preference while the control is ours. A preference that another
 * program sets stays. If the performance governor hides the control, ours is written later.
 */
#include "actuator/governor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/sysfs.h"

#define AVAILABLE_FILE "energy_performance_available_preferences"
#define DYNAMIC_FILE   "/sys/devices/system/cpu/amd_pstate/dynamic_epp"

const char *preference_describe(int outcome)
{
	switch (outcome) {
	case PREFERENCE_DONE:
	case PREFERENCE_UNCHANGED:
		return "as the policy says";
	case PREFERENCE_MISSING:
		return "the driver has no energy_performance_preference: energy-preference has no "
		       "effect";
	case PREFERENCE_REFUSED:
		return "the performance governor allows no energy-preference but performance: the "
		       "policy's is set when scaling_governor is powersave";
	case PREFERENCE_FOREIGN:
		return "another program set energy_performance_preference; its value stays";
	case PREFERENCE_DYNAMIC:
		return "amd-pstate's dynamic_epp sets energy_performance_preference; it is left to "
		       "the kernel";
	case PREFERENCE_UNNAMED:
		return "the kernel has no word for the firmware's energy_performance_preference, "
		       "so it could not be restored, and stays: write default into the file, then "
		       "reload";
	case -EINVAL:
		return "the driver does not offer this energy-preference: see "
		       "energy_performance_available_preferences";
	default:
		return "energy_performance_preference cannot be written";
	}
}

bool preference_is_dynamic(void)
{
	char word[16];

	return sysfs_read_line(word, sizeof(word), DYNAMIC_FILE) && strcmp(word, "enabled") == 0;
}

/* The control is no longer ours to restore. Returns the outcome, or an error of saving that. */
static int leave(struct saved_values *saved, uint32_t policy, int outcome)
{
	int r;

	saved_drop(saved, saved_find(saved, policy, CONTROL_PREFERENCE));
	r = saved_save(saved);
	return r < 0 ? r : outcome;
}

int preference_set(struct actuator_domain *domain, const char *word)
{
	uint32_t policy = domain->info->first_cpu;
	struct saved_value *saved = saved_find(domain->saved, policy, CONTROL_PREFERENCE);
	bool hidden;
	char now[CONTROL_VALUE_SIZE], before[CONTROL_VALUE_SIZE];
	int r;

	if (!word && !saved)
		return PREFERENCE_UNCHANGED;
	r = control_load(CONTROL_PREFERENCE, policy, now, sizeof(now));
	/* On older kernels reading a number fails with amd-pstate. */
	if (r < 0)
		return r == -ENOENT ? PREFERENCE_MISSING : r == -EINVAL ? PREFERENCE_UNNAMED : r;
	if (preference_is_dynamic())
		return saved ? leave(domain->saved, policy, PREFERENCE_DYNAMIC)
			     : PREFERENCE_DYNAMIC;
	hidden = control_preference_is_hidden(policy, now);
	if (!hidden && saved && !saved_is_ours(saved, now))
		return leave(domain->saved, policy, PREFERENCE_FOREIGN);
	if (!word)
		word = strcpy(before, saved->value);
	if (saved && saved->hidden != hidden && (hidden || strcmp(now, word) == 0)) {
		saved->hidden = hidden;
		r = saved_save(domain->saved);
		if (r < 0)
			return r;
	}
	if (strcmp(now, word) == 0)
		return PREFERENCE_UNCHANGED;
	if (hidden)
		return PREFERENCE_REFUSED;
	/* The value from before us may be a number, which is not in the list. */
	if (word != before && control_lists(policy, AVAILABLE_FILE, word) == 0)
		return -EINVAL;
	r = restore_and_set(domain->saved, CONTROL_PREFERENCE, policy, now, word);
	if (r < 0)
		return r;
	domain->writes++;
	return PREFERENCE_DONE;
}
