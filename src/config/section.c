// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/draft.h"
#include "core/topology.h"
#include "shared/cleanup.h"
#include "shared/text.h"

/* Bounds of an opp-power. */
#define KHZ_LEAST 1000	     /* 1 MHz … */
#define KHZ_MOST  100000000  /* … to 100 GHz, as other frequencies of a policy */
#define UW_MOST	  1000000000 /* 1000W */

_Static_assert(POLICY_NO_DOMAIN_SECTION + 1 == 0, "[domain] is section 0 of opp_powers");

/* Another section is open now, without keys so far. */
static void begin(struct policy_sections *sections)
{
	memset(sections->key_lines, 0, sizeof(sections->key_lines));
	sections->rule = NULL;
	sections->class = NULL;
	sections->profile = NULL;
	sections->has_powers = false;
	sections->is_open = true;
}

static int open_once(struct policy_sections *sections, struct policy_place place,
		     unsigned int *first_line, const char *name, char **ret_message)
{
	if (*first_line)
		return policy_error_set(ret_message, -EINVAL, place,
					"found section [%s] again, expected it once in a file; "
					"the first is at line %u",
					name, *first_line);
	*first_line = place.line;
	begin(sections);
	return 0;
}

/* own: name without "domain ". */
static int open_domain(struct policy_sections *sections, struct policy *policy,
		       struct policy_place place, const char *name, const char *own,
		       char **ret_message)
{
	char shown[POLICY_TEXT_SIZE];
	uint32_t number, i = 0;

	if (!policy_domain_number(own, &number)) {
		policy_text_escape(name, shown);
		return policy_error_set(ret_message, -EINVAL, place,
					"unknown section [%s]; expected [domain policyN] with N "
					"from 0 to %d",
					shown, TOPOLOGY_CPUS_MAX - 1);
	}
	while (i < policy->n_domain_sections && strcmp(policy->domain_sections[i].name, own) != 0)
		i++;
	if (i == POLICY_DOMAIN_SECTIONS_MAX)
		return policy_error_set(ret_message, -E2BIG, place,
					"found one more [domain policyN], expected at most %d",
					POLICY_DOMAIN_SECTIONS_MAX);
	if (i == policy->n_domain_sections) {
		policy->domain_sections[i] = (struct policy_domain_section){};
		strcpy(policy->domain_sections[i].name, own);
		policy->n_domain_sections++;
	}
	sections->domain_section = i;
	sections->current = POLICY_SECTION_DOMAIN;
	return open_once(sections, place, &sections->domain_section_lines[i], name, ret_message);
}

static int open_profile(struct policy_sections *sections, struct policy_profiles *profiles,
			struct policy_place place, const char *name, const char *own,
			char **ret_message)
{
	struct policy_profile *profile;
	int r = policy_error_check_name(place, name, own, ret_message);

	if (r == 0)
		r = policy_profile_open(profiles, place, own, &profile, ret_message);
	if (r == 0)
		r = open_once(sections, place,
			      &sections->profile_lines[profile - profiles->entries], name,
			      ret_message);
	if (r == 0)
		sections->profile = profile;
	return r;
}

/* What follows prefix in name; NULL: it begins otherwise. */
static const char *behind(const char *prefix, const char *name)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

/* A section of the table in config/keys.h. */
static int open_plain(struct policy_sections *sections, struct policy_place place, const char *name,
		      char **ret_message)
{
	char shown[POLICY_TEXT_SIZE], list[256] = "";
	const char *closest = NULL;

	for (int i = 0; i < POLICY_SECTIONS; i++) {
		if (!strcmp(name, policy_section_name(i))) {
			sections->current = i;
			sections->domain_section = POLICY_NO_DOMAIN_SECTION;
			return open_once(sections, place, &sections->section_lines[i], name,
					 ret_message);
		}
		strcat(strcat(strcat(list, "["), policy_section_name(i)), "], ");
		suggest_closest(name, policy_section_name(i), &closest);
	}
	policy_text_escape(name, shown);
	return policy_error_set(ret_message, -EINVAL, place,
				"unknown section [%s]; expected one of %s[domain policyN], [class "
				"NAME], [rule NAME], [profile NAME]%s%s%s",
				shown, list, closest ? "; did you mean [" : "", closest ?: "",
				closest ? "]?" : "");
}

int policy_section_open(struct policy_sections *sections, struct policy_draft *draft,
			struct policy_place place, const char *header, char **ret_message)
{
	const char *end = strchr(header, ']'), *rest = end ? end + 1 : "", *own;
	_cleanup_free_ char *name = NULL;
	char shown[POLICY_TEXT_SIZE];

	/* inih ignores text behind the bracket; a key there would be lost. */
	rest += strspn(rest, " \t");
	if (!end || (*rest && *rest != ';')) {
		policy_text_escape(header, shown);
		return policy_error_set(ret_message, -EINVAL, place,
					"found '%s', expected a [section] alone on its line",
					shown);
	}
	name = strndup(header + 1, end - header - 1);
	if (!name)
		return -ENOMEM;
	own = behind("domain ", name);
	if (own)
		return open_domain(sections, &draft->policy, place, name, own, ret_message);
	own = behind("profile ", name);
	if (own)
		return open_profile(sections, &draft->profiles, place, name, own, ret_message);
	if (!behind("rule ", name) && !behind("class ", name))
		return open_plain(sections, place, name, ret_message);
	begin(sections);
	return policy_rules_open(sections, &draft->policy, place, name, ret_message);
}

/* "io-boost", "domain policy4" or "rule backup". */
#define SECTION_NAME_SIZE (sizeof("profile ") + POLICY_NAME_SIZE)

static void name_open_section(const struct policy_draft *draft,
			      const struct policy_sections *sections,
			      char ret[static SECTION_NAME_SIZE])
{
	const char *kind = policy_section_name(sections->current), *own = NULL;

	if (sections->profile) {
		kind = "profile";
		own = sections->profile->name;
	} else if (sections->rule) {
		kind = "rule";
		own = sections->rule->name;
	} else if (sections->class) {
		kind = "class";
		own = sections->class->name;
	} else if (sections->domain_section != POLICY_NO_DOMAIN_SECTION) {
		own = draft->policy.domain_sections[sections->domain_section].name;
	}
	snprintf(ret, SECTION_NAME_SIZE, "%s%s%s", kind, own ? " " : "", own ?: "");
}

static int refuse_key(enum policy_section section, const char *section_name,
		      struct policy_place place, const char *name, char **ret_message)
{
	const struct policy_key *keys;
	const char *closest = NULL;
	char list[256] = "";
	size_t n;

	/* Keys of earlier versions that have no meaning any more. */
	if (section == POLICY_SECTION_IO_BOOST &&
	    (!strcmp(name, "check-window") || !strcmp(name, "back-off-min") ||
	     !strcmp(name, "back-off-max")))
		return policy_error_set(ret_message, -EINVAL, place,
					"[%s] %s is gone: whether a boost pays is tried in windows "
					"of its own (wakegov(7)); slack says which gain is worth "
					"one",
					section_name, name);
	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		if (keys[i].section != section)
			continue;
		strcat(strcat(list, list[0] ? ", " : ""), keys[i].name);
		suggest_closest(name, keys[i].name, &closest);
	}
	if (section == POLICY_SECTION_DOMAIN) {
		strcat(list, ", " POLICY_OPP_POWER_KEY);
		suggest_closest(name, POLICY_OPP_POWER_KEY, &closest);
	}
	return policy_error_set_unknown_key(ret_message, place, section_name, name, list, closest);
}

static int parse_power(const char *text, struct policy_opp_power *ret)
{
	size_t length = strcspn(text, " \t");
	_cleanup_free_ char *frequency = strndup(text, length);
	uint64_t khz, uw;

	if (!frequency)
		return -ENOMEM;
	text += length;
	text += strspn(text, " \t");
	if (policy_units_parse(&policy_units_frequency, frequency, &khz) < 0 ||
	    policy_units_parse(&policy_units_power, text, &uw) < 0 || khz < KHZ_LEAST ||
	    khz > KHZ_MOST || uw < 1 || uw > UW_MOST)
		return -EINVAL;
	ret->khz = khz;
	ret->uw = uw;
	return 0;
}

/* Takes one line of the table; the first in a file replaces what earlier files gave. */
static int assign_power(struct policy_draft *draft, struct policy_sections *sections,
			struct policy_place place, const char *section, const char *text,
			char **ret_message)
{
	struct policy *policy = &draft->policy;
	struct policy_opp_power opp = { .section = sections->domain_section + 1 };
	const struct policy_opp_power *before;
	char shown[POLICY_TEXT_SIZE], hint[POLICY_HINT_SIZE];
	int r = parse_power(text, &opp);
	uint32_t n = 0;

	if (r == -ENOMEM)
		return r;
	policy_text_escape(text, shown);
	policy_error_hint(shown, hint);
	if (r < 0)
		return policy_error_set(ret_message, r, place,
					"[%s] " POLICY_OPP_POWER_KEY
					": found '%s', expected a frequency from 1MHz to 100GHz "
					"and what a busy CPU takes at it, from 1uW to 1000W, such "
					"as 1200MHz 340mW%s",
					section, shown, hint);
	if (!sections->has_powers) {
		for (uint32_t i = 0; i < policy->n_opp_powers; i++)
			if (policy->opp_powers[i].section != opp.section)
				policy->opp_powers[n++] = policy->opp_powers[i];
		policy->n_opp_powers = n;
	}
	before = sections->has_powers ? &policy->opp_powers[policy->n_opp_powers - 1] : NULL;
	if (before && opp.khz <= before->khz)
		return policy_error_set(ret_message, -EINVAL, place,
					"[%s] " POLICY_OPP_POWER_KEY
					": found '%s', expected a frequency above the %g MHz of "
					"the line before",
					section, shown, before->khz / 1000.0);
	if (policy->n_opp_powers == POLICY_OPP_POWERS_MAX)
		return policy_error_set(ret_message, -E2BIG, place,
					"[%s] " POLICY_OPP_POWER_KEY
					": found one more, expected at most %d in all",
					section, POLICY_OPP_POWERS_MAX);
	sections->has_powers = true;
	policy->opp_powers[policy->n_opp_powers++] = opp;
	return 0;
}

/* Takes a key of the table in config/keys.h. */
static int assign_key(struct policy_draft *draft, struct policy_sections *sections,
		      struct policy_place place, const char *section, const char *name,
		      const char *text, char **ret_message)
{
	const struct policy_key *key = policy_keys_find(sections->current, name);
	_cleanup_free_ char *expected = NULL;
	char shown[POLICY_TEXT_SIZE], hint[POLICY_HINT_SIZE];
	struct policy_value value;
	unsigned int *first_line;
	size_t n;

	if (!key)
		return refuse_key(sections->current, section, place, name, ret_message);
	first_line = &sections->key_lines[key - policy_keys_get(&n)];
	if (*first_line)
		return policy_error_set_again(ret_message, place, section, name, *first_line);
	*first_line = place.line;
	if (policy_value_parse(key, text, &value) == 0) {
		policy_draft_set(draft, key, sections->domain_section, &value, text, place);
		return 0;
	}
	expected = policy_value_describe(key);
	if (!expected)
		return -ENOMEM;
	policy_text_escape(text, shown);
	policy_error_hint(shown, hint);
	return policy_error_set(ret_message, -EINVAL, place, "[%s] %s: found '%s', expected %s%s",
				section, key->name, shown, expected, hint);
}

int policy_section_assign(struct policy_sections *sections, struct policy_draft *draft,
			  struct policy_place place, const char *name, const char *text,
			  char **ret_message)
{
	bool is_power = !strcmp(name, POLICY_OPP_POWER_KEY);
	bool is_more = is_power && sections->has_powers;
	char section[SECTION_NAME_SIZE];
	int r;

	name_open_section(draft, sections, section);
	if (sections->profile)
		r = policy_profile_assign(sections->profile, place, section, name, text,
					  ret_message);
	else if (sections->rule || sections->class)
		r = policy_rules_assign(sections, draft, place, section, name, text, ret_message);
	else if (is_power && sections->current == POLICY_SECTION_DOMAIN)
		r = assign_power(draft, sections, place, section, text, ret_message);
	else
		r = assign_key(draft, sections, place, section, name, text, ret_message);
	if (r < 0 || !draft->origins || sections->rule == &sections->left_out)
		return r;
	return policy_origins_note(draft->origins, section, name, text, place, is_more);
}

int policy_section_apply(struct policy_draft *draft, const struct policy_setting *setting,
			 char **ret_message)
{
	struct policy_sections sections = { .domain_section = POLICY_NO_DOMAIN_SECTION };
	const char *dot = strrchr(setting->name, '.');
	_cleanup_free_ char *header = NULL;
	int r;

	if (asprintf(&header, "[%.*s]", (int)(dot - setting->name), setting->name) < 0) {
		header = NULL;
		return -ENOMEM;
	}
	r = policy_section_open(&sections, draft, setting->place, header, ret_message);
	if (r == 0)
		r = policy_section_assign(&sections, draft, setting->place, dot + 1, setting->value,
					  ret_message);
	return r;
}
