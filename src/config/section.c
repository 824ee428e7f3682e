// SPDX-License-Identifier: GPL-2.0-only
#include "config/section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/rules.h"
#include "config/text.h"
#include "core/topology.h"
#include "shared/cleanup.h"
#include "shared/suggest.h"

#define DOMAIN_PREFIX  "domain "
#define PROFILE_PREFIX "profile "

static int refuse_unknown(struct policy_place place, const char *name, char **ret_message)
{
	char shown[POLICY_TEXT_SIZE], list[256] = "";
	const char *closest = NULL;

	for (int i = 0; i < POLICY_SECTIONS; i++) {
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

/* Finds [domain name] in the policy, and adds it if it is new. */
static int find_domain_section(struct policy *policy, struct policy_place place, const char *name,
			       uint32_t *ret, char **ret_message)
{
	struct policy_domain_section *section;
	uint32_t i;

	for (i = 0; i < policy->n_domain_sections; i++)
		if (!strcmp(policy->domain_sections[i].name, name)) {
			*ret = i;
			return 0;
		}
	if (i == POLICY_DOMAIN_SECTIONS_MAX)
		return policy_error_set(ret_message, -E2BIG, place,
					"found one more [domain policyN], expected at most %d",
					POLICY_DOMAIN_SECTIONS_MAX);

	section = &policy->domain_sections[policy->n_domain_sections++];
	*section = (struct policy_domain_section){};
	strcpy(section->name, name);
	*ret = i;
	return 0;
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
	policy_section_begin(sections);
	return 0;
}

static int open_domain_section(struct policy_sections *sections, struct policy_draft *draft,
			       struct policy_place place, const char *name, char **ret_message)
{
	const char *domain = name + strlen(DOMAIN_PREFIX);
	char shown[POLICY_TEXT_SIZE];
	uint32_t number;
	int r;

	if (!policy_text_is_domain(domain, &number)) {
		policy_text_escape(name, shown);
		return policy_error_set(ret_message, -EINVAL, place,
					"unknown section [%s]; expected [domain policyN] with N "
					"from 0 to %d",
					shown, TOPOLOGY_CPUS_MAX - 1);
	}
	r = find_domain_section(&draft->policy, place, domain, &sections->domain_section,
				ret_message);
	if (r < 0)
		return r;
	sections->current = POLICY_SECTION_DOMAIN;
	return open_once(sections, place, &sections->domain_section_lines[sections->domain_section],
			 name, ret_message);
}

static int open_plain(struct policy_sections *sections, struct policy_place place, const char *name,
		      char **ret_message)
{
	for (int i = 0; i < POLICY_SECTIONS; i++)
		if (!strcmp(name, policy_section_name(i))) {
			sections->current = i;
			sections->domain_section = POLICY_NO_DOMAIN_SECTION;
			return open_once(sections, place, &sections->section_lines[i], name,
					 ret_message);
		}
	return refuse_unknown(place, name, ret_message);
}

static int open_profile(struct policy_sections *sections, struct policy_draft *draft,
			struct policy_place place, const char *name, char **ret_message)
{
	struct policy_profiles *profiles = &draft->profiles;
	struct policy_profile *profile;
	const char *own = name + strlen(PROFILE_PREFIX);
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

/* inih ignores text behind the bracket; a key there would be lost. */
static int check_header(struct policy_place place, const char *header, const char *end,
			char **ret_message)
{
	char shown[POLICY_TEXT_SIZE];

	if (end) {
		end++;
		end += strspn(end, " \t");
		if (!*end || *end == ';')
			return 0;
	}
	policy_text_escape(header, shown);
	return policy_error_set(ret_message, -EINVAL, place,
				"found '%s', expected a [section] alone on its line", shown);
}

int policy_section_open(struct policy_sections *sections, struct policy_draft *draft,
			struct policy_place place, const char *header, char **ret_message)
{
	const char *end = strchr(header, ']');
	_cleanup_free_ char *name = NULL;
	int r;

	r = check_header(place, header, end, ret_message);
	if (r < 0)
		return r;

	name = strndup(header + 1, end - header - 1);
	if (!name)
		return -ENOMEM;
	if (!strncmp(name, DOMAIN_PREFIX, strlen(DOMAIN_PREFIX)))
		return open_domain_section(sections, draft, place, name, ret_message);
	if (!strncmp(name, PROFILE_PREFIX, strlen(PROFILE_PREFIX)))
		return open_profile(sections, draft, place, name, ret_message);
	if (policy_rules_is_section(name))
		return policy_rules_open(sections, draft, place, name, ret_message);
	return open_plain(sections, place, name, ret_message);
}
