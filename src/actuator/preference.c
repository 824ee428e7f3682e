// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/preference.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "actuator/domain.h"
#include "actuator/saved.h"
#include "shared/cleanup.h"
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
		return "the performance governor allows no energy-preference but performance: set "
		       "powersave in scaling_governor, then reload";
	case PREFERENCE_FOREIGN:
		return "another program set energy_performance_preference; its value stays";
	case PREFERENCE_DYNAMIC:
		return "amd-pstate's dynamic_epp sets energy_performance_preference; it is left to "
		       "the kernel";
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

static bool is_word_of(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *found = strstr(list, word); found; found = strstr(found + 1, word))
		if ((found == list || found[-1] == ' ') &&
		    (found[length] == ' ' || found[length] == '\0'))
			return true;
	return false;
}

/* Checks whether the driver would accept the word; a write that must fail is not made. */
static int check_word(uint32_t policy, const char *word)
{
	char governor[CONTROL_VALUE_SIZE] = "", offered[256] = "";

	control_load(CONTROL_GOVERNOR, policy, governor, sizeof(governor));
	if (strcmp(governor, "performance") == 0)
		return PREFERENCE_REFUSED;
	if (control_read_file(policy, AVAILABLE_FILE, offered, sizeof(offered)) > 0 &&
	    !is_word_of(offered, word))
		return -EINVAL;
	return PREFERENCE_DONE;
}

static int write_back(uint32_t policy, const char *word)
{
	char now[CONTROL_VALUE_SIZE];
	int r = control_store(CONTROL_PREFERENCE, policy, word);

	if (r == 0)
		r = control_load(CONTROL_PREFERENCE, policy, now, sizeof(now));
	if (r < 0)
		return r;
	return strcmp(now, word) == 0 ? PREFERENCE_DONE : -EIO;
}

/*
 * From one word to another goes by way of the word before us: if wakegovd is killed in between, the
 * control holds a word that the file of saved values knows.
 */
static int save_and_write(struct actuator_domain *domain, const char *now, const char *word)
{
	struct saved_value entry = {
		.policy = domain->info->first_cpu,
		.control = CONTROL_PREFERENCE,
	};
	const struct saved_value *saved = saved_find(domain->saved, entry.policy, entry.control);
	int r = saved ? write_back(entry.policy, saved->value) : PREFERENCE_DONE;

	if (r != PREFERENCE_DONE)
		return r;
	snprintf(entry.value, sizeof(entry.value), "%s", saved ? saved->value : now);
	snprintf(entry.put, sizeof(entry.put), "%s", word);
	saved_drop(domain->saved, entry.policy, entry.control);
	r = saved_add(domain->saved, &entry, 1, NULL, 0);
	if (r == 0)
		r = write_back(entry.policy, word);
	if (r == PREFERENCE_DONE)
		domain->writes++;
	return r;
}

/* Drops the saved value: the preference is not ours to restore any more. */
static int leave(struct actuator_domain *domain, int outcome)
{
	int r = saved_forget_control(domain->saved, domain->info->first_cpu, CONTROL_PREFERENCE);

	return r < 0 ? r : outcome;
}

int preference_set(struct actuator_domain *domain, const char *word)
{
	uint32_t policy = domain->info->first_cpu;
	const struct saved_value *saved = saved_find(domain->saved, policy, CONTROL_PREFERENCE);
	char now[CONTROL_VALUE_SIZE], before[CONTROL_VALUE_SIZE];
	int r;

	if (!word && !saved)
		return PREFERENCE_UNCHANGED;
	r = control_load(CONTROL_PREFERENCE, policy, now, sizeof(now));
	if (r < 0)
		return r == -ENOENT ? PREFERENCE_MISSING : r;
	if (preference_is_dynamic())
		return saved ? leave(domain, PREFERENCE_DYNAMIC) : PREFERENCE_DYNAMIC;
	if (saved && strcmp(now, saved->put) != 0)
		return leave(domain, PREFERENCE_FOREIGN);
	if (!word)
		word = strcpy(before, saved->value);
	if (strcmp(now, word) == 0)
		return PREFERENCE_UNCHANGED;
	r = check_word(policy, word);
	return r == PREFERENCE_DONE ? save_and_write(domain, now, word) : r;
}
