// SPDX-License-Identifier: GPL-2.0-only
/*
 * [profile NAME]: its conditions. The keys of other sections that it sets are kept as they were
 * given, with the origins of all keys, until the profile is applied.
 */
#include "config/draft.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint32_t place_of(const struct policy_profiles *profiles, const char *name)
{
	uint32_t i = 0;

	while (i < profiles->n && strcmp(profiles->entries[i].name, name) != 0)
		i++;
	return i;
}

const struct policy_profile *policy_profiles_find(const struct policy_profiles *profiles,
						  const char *name)
{
	uint32_t i = place_of(profiles, name);

	return i < profiles->n ? &profiles->entries[i] : NULL;
}

int policy_profile_open(struct policy_reader *reader, const char *name)
{
	struct policy_profiles *profiles = &reader->draft->profiles;
	const char *own = strchr(name, ' ') + 1;
	uint32_t i = place_of(profiles, own);

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
	char copy[sizeof(profile->when.text)];

	if (!strcmp(profile->name, POLICY_PROFILE_DEFAULT))
		return policy_refuse(reader, -EINVAL,
				     "[profile " POLICY_PROFILE_DEFAULT
				     "] when: this is the one that "
				     "holds where no other does");
	profile->when = (struct policy_when){ 0 };
	snprintf(profile->when.text, sizeof(profile->when.text), "%s", text);
	strcpy(copy, profile->when.text);
	if (parse_when(copy, &profile->when))
		return 0;
	return policy_refuse(
		reader, -EINVAL,
		"[%s] when: found '%s', expected battery or mains, times of day such as "
		"22:00-06:00, rule NAME, or several with blanks between that must all "
		"hold%s",
		reader->section, policy_shown(reader, text), reader->hint);
}

int policy_profile_assign(struct policy_reader *reader, const char *name, const char *text)
{
	const char *dot = strrchr(name, '.');

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
	return 0;
}
