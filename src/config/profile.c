// SPDX-License-Identifier: GPL-2.0-only
#include "config/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/keys.h"
#include "shared/cleanup.h"

/* profiles->n: there is no profile with this name. */
static uint32_t find_place(const struct policy_profiles *profiles, const char *name)
{
	uint32_t i = 0;

	while (i < profiles->n && strcmp(profiles->entries[i].name, name) != 0)
		i++;
	return i;
}

const struct policy_profile *policy_profiles_find(const struct policy_profiles *profiles,
						  const char *name)
{
	uint32_t i = find_place(profiles, name);

	return i < profiles->n ? &profiles->entries[i] : NULL;
}

int policy_profile_open(struct policy_profiles *profiles, struct policy_place place,
			const char *name, struct policy_profile **ret, char **ret_message)
{
	uint32_t i = find_place(profiles, name);

	if (!strcmp(name, "auto"))
		return policy_error_set(ret_message, -EINVAL, place,
					"[profile auto] cannot be: wakegovctl profile auto leaves "
					"the choice to conditions");
	if (i == POLICY_PROFILES_MAX)
		return policy_error_set(ret_message, -E2BIG, place,
					"found one more [profile NAME], expected at most %d with "
					"those that are built in",
					POLICY_PROFILES_MAX);
	*ret = &profiles->entries[i];
	if (i == profiles->n) {
		profiles->n++;
		**ret = (struct policy_profile){ 0 };
		strcpy((*ret)->name, name);
	}
	return 0;
}

/* "22:00-06:00" */
static bool parse_times(const char *word, struct policy_when *when)
{
	unsigned int from_h, from_m, until_h, until_m;
	int end = 0;

	if (sscanf(word, "%2u:%2u-%2u:%2u%n", &from_h, &from_m, &until_h, &until_m, &end) != 4 ||
	    word[end] || from_h > 23 || until_h > 23 || from_m > 59 || until_m > 59)
		return false;
	when->by_time = true;
	when->from_min = from_h * 60 + from_m;
	when->until_min = until_h * 60 + until_m;
	return when->from_min != when->until_min;
}

/* Parses the conditions, of which each kind may be given once. */
static bool parse_when(char *text, struct policy_when *when)
{
	char *rest, *word = strtok_r(text, " \t", &rest);

	when->given = word;
	for (; word; word = strtok_r(NULL, " \t", &rest)) {
		bool is_battery = !strcmp(word, "battery");

		if (is_battery || !strcmp(word, "mains")) {
			if (when->power != POLICY_POWER_ANY)
				return false;
			when->power = is_battery ? POLICY_POWER_BATTERY : POLICY_POWER_MAINS;
		} else if (!strcmp(word, "rule")) {
			const char *name = strtok_r(NULL, " \t", &rest);

			if (when->rule[0] || !name || strlen(name) >= sizeof(when->rule))
				return false;
			strcpy(when->rule, name);
		} else if (when->by_time || !parse_times(word, when)) {
			return false;
		}
	}
	return when->given;
}

static int assign_when(struct policy_profile *profile, struct policy_place place,
		       const char *section, const char *text, char **ret_message)
{
	_cleanup_free_ char *copy = strdup(text);
	char shown[POLICY_TEXT_SIZE], hint[POLICY_HINT_SIZE];

	if (!copy)
		return -ENOMEM;
	if (!strcmp(profile->name, POLICY_PROFILE_DEFAULT))
		return policy_error_set(ret_message, -EINVAL, place,
					"[profile " POLICY_PROFILE_DEFAULT "] when: this is the "
					"one that holds where no other does");
	if (profile->when_place.file == place.file)
		return policy_error_set_again(ret_message, place, section, "when",
					      profile->when_place.line);
	profile->when_place = place;
	free(profile->when.text);
	profile->when = (struct policy_when){ .text = strdup(text) };
	if (!profile->when.text)
		return -ENOMEM;
	if (parse_when(copy, &profile->when))
		return 0;
	policy_text_escape(text, shown);
	policy_error_hint(shown, hint);
	return policy_error_set(ret_message, -EINVAL, place,
				"[%s] when: found '%s', expected battery or mains, times of day "
				"such as 22:00-06:00, rule NAME, or several with blanks between "
				"that must all hold%s",
				section, shown, hint);
}

/* The setting with this key, or a new one. NULL: no memory. */
static struct policy_setting *find_setting(struct policy_profile *profile, const char *name)
{
	struct policy_setting *settings = profile->settings;
	char *copy;

	for (uint32_t i = 0; i < profile->n_settings; i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	settings = reallocarray(settings, profile->n_settings + 1, sizeof(*settings));
	if (!settings)
		return NULL;
	profile->settings = settings;
	copy = strdup(name);
	if (!copy)
		return NULL;
	settings[profile->n_settings] = (struct policy_setting){ .name = copy };
	return &settings[profile->n_settings++];
}

int policy_profile_assign(struct policy_profile *profile, struct policy_place place,
			  const char *section, const char *name, const char *text,
			  char **ret_message)
{
	const char *dot = strrchr(name, '.');
	struct policy_setting *setting;
	char shown[POLICY_TEXT_SIZE];
	char *value;

	if (!strcmp(name, "when"))
		return assign_when(profile, place, section, text, ret_message);
	policy_text_escape(name, shown);
	if (!dot || dot == name || !dot[1] || !strncmp(name, "profile ", strlen("profile ")))
		return policy_error_set(ret_message, -EINVAL, place,
					"[%s] unknown key '%s'; expected when, or a key of another "
					"section such as domain.headroom, domain "
					"policy0.max-frequency, rule NAME.cap",
					section, shown);
	if (!strncmp(name, "wakegov.", strlen("wakegov.")) ||
	    !strcmp(dot + 1, POLICY_OPP_POWER_KEY))
		return policy_error_set(ret_message, -EINVAL, place,
					"[%s] %s: what takes effect when wakegovd starts cannot be "
					"a profile's",
					section, name);
	setting = find_setting(profile, name);
	if (!setting)
		return -ENOMEM;
	if (setting->place.file == place.file)
		return policy_error_set_again(ret_message, place, section, name,
					      setting->place.line);
	value = strdup(text);
	if (!value)
		return -ENOMEM;
	free(setting->value);
	setting->value = value;
	setting->place = place;
	return 0;
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
