// SPDX-License-Identifier: GPL-2.0-only
/* [profile NAME] while it is read: its conditions, and the keys of other sections that it sets. */
#include "config/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"

int policy_profile_open(struct policy_reader *reader, const char *name)
{
	struct policy_profiles *profiles = &reader->draft->profiles;
	const char *own = strchr(name, ' ') + 1;
	uint32_t i = policy_profiles_place(profiles, own);

	if (policy_reader_check_name(reader, name) < 0)
		return -EINVAL;
	if (!strcmp(own, "auto"))
		return policy_refuse(reader, -EINVAL,
				     "[profile auto] cannot be: wakegovctl profile auto leaves the "
				     "choice to conditions");
	if (i == POLICY_PROFILES_MAX)
		return policy_refuse(
			reader, -E2BIG,
			"found one more [profile NAME], expected at most %d with those "
			"that are built in",
			POLICY_PROFILES_MAX);
	reader->profile = &profiles->entries[i];
	if (i == profiles->n) {
		profiles->n++;
		*reader->profile = (struct policy_profile){ 0 };
		strcpy(reader->profile->name, own);
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

static int assign_when(struct policy_reader *reader, const char *text)
{
	struct policy_profile *profile = reader->profile;
	_cleanup_free_ char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	if (!strcmp(profile->name, POLICY_PROFILE_DEFAULT))
		return policy_refuse(reader, -EINVAL,
				     "[profile " POLICY_PROFILE_DEFAULT
				     "] when: this is the one that "
				     "holds where no other does");
	free(profile->when.text);
	profile->when = (struct policy_when){ .text = strdup(text) };
	if (!profile->when.text)
		return -ENOMEM;
	if (parse_when(copy, &profile->when))
		return 0;
	return policy_refuse(
		reader, -EINVAL,
		"[%s] when: found '%s', expected battery or mains, times of day such as "
		"22:00-06:00, rule NAME, or several with blanks between that must all "
		"hold%s",
		reader->section, policy_shown(reader, text), reader->hint);
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

int policy_profile_assign(struct policy_reader *reader, const char *name, const char *text)
{
	const char *dot = strrchr(name, '.');
	struct policy_setting *setting;
	char *value;

	if (!strcmp(name, "when"))
		return assign_when(reader, text);
	if (!dot || dot == name || !dot[1] || !strncmp(name, "profile ", strlen("profile ")))
		return policy_refuse(
			reader, -EINVAL,
			"[%s] unknown key '%s'; expected when, or a key of another section "
			"such as domain.headroom, domain policy0.max-frequency, rule NAME.cap",
			reader->section, policy_shown(reader, name));
	if (!strncmp(name, "wakegov.", strlen("wakegov.")) ||
	    !strcmp(dot + 1, POLICY_OPP_POWER_KEY))
		return policy_refuse(reader, -EINVAL,
				     "[%s] %s: what takes effect when wakegovd starts cannot be a "
				     "profile's",
				     reader->section, name);

	setting = find_setting(reader->profile, name);
	if (!setting)
		return -ENOMEM;
	value = strdup(text);
	if (!value)
		return -ENOMEM;
	free(setting->value);
	setting->value = value;
	setting->place = reader->place;
	return 0;
}
