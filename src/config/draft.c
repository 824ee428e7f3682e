// SPDX-License-Identifier: GPL-2.0-only
#include "config/draft.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void policy_draft_init(struct policy_draft *draft)
{
	memset(draft, 0, sizeof(*draft));
	policy_init(&draft->policy);
}

static void note_limit(struct policy_draft *draft, const struct policy_key *key,
		       uint32_t domain_section, const char *text, struct policy_place place)
{
	struct policy_limits *limits = domain_section == POLICY_NO_DOMAIN_SECTION
					       ? &draft->domain_limits
					       : &draft->section_limits[domain_section];
	struct policy_limit *limit = key->domain_field == POLICY_DOMAIN_MIN ? &limits->min
									    : &limits->max;

	limit->place = place;
	limit->domain_section = domain_section;
	limit->order = ++draft->n_limits;
	snprintf(limit->text, sizeof(limit->text), "%s", text);
}

void policy_draft_set(struct policy_draft *draft, const struct policy_key *key,
		      uint32_t domain_section, const struct policy_value *value, const char *text,
		      struct policy_place place)
{
	void *base = &draft->policy;

	if (key->section == POLICY_SECTION_DOMAIN && domain_section == POLICY_NO_DOMAIN_SECTION) {
		base = &draft->policy.domain;
	} else if (key->section == POLICY_SECTION_DOMAIN) {
		draft->policy.domain_sections[domain_section].given |= key->domain_field;
		base = &draft->policy.domain_sections[domain_section].values;
	}

	key->store((char *)base + key->offset, value);
	if (key->domain_field & (POLICY_DOMAIN_MIN | POLICY_DOMAIN_MAX))
		note_limit(draft, key, domain_section, text, place);
}

static bool is_crossed(const struct policy_domain *domain)
{
	return domain->min.kind == domain->max.kind && domain->min.kind != POLICY_FREQUENCY_NONE &&
	       domain->min.value > domain->max.value;
}

static int refuse_crossed(const struct policy_draft *draft, const struct policy_limit *min,
			  const struct policy_limit *max, char **ret_message)
{
	bool min_is_later = min->order > max->order;
	const struct policy_limit *later = min_is_later ? min : max;
	const struct policy_limit *earlier = min_is_later ? max : min;
	bool is_domain_section = later->domain_section != POLICY_NO_DOMAIN_SECTION;

	return policy_error_set(
		ret_message, -EINVAL, later->place,
		"[domain%s%s] %s: found '%s', expected at %s the %s of %s, given at %s:%u",
		is_domain_section ? " " : "",
		is_domain_section ? draft->policy.domain_sections[later->domain_section].name : "",
		min_is_later ? "min-frequency" : "max-frequency", later->text,
		min_is_later ? "most" : "least", min_is_later ? "max-frequency" : "min-frequency",
		earlier->text, earlier->place.file, earlier->place.line);
}

static int check_domain_section(const struct policy_draft *draft, uint32_t i, char **ret_message)
{
	const struct policy_domain_section *section = &draft->policy.domain_sections[i];
	const struct policy_limits *own = &draft->section_limits[i];
	const struct policy_limits *all = &draft->domain_limits;
	struct policy_domain domain;

	policy_domain_for(&draft->policy, section->name, &domain);
	if (!is_crossed(&domain))
		return 0;
	return refuse_crossed(draft, section->given & POLICY_DOMAIN_MIN ? &own->min : &all->min,
			      section->given & POLICY_DOMAIN_MAX ? &own->max : &all->max,
			      ret_message);
}

int policy_draft_check(const struct policy_draft *draft, char **ret_message)
{
	const struct policy_limits *limits = &draft->domain_limits;
	char *message = NULL;
	int error = 0;

	if (is_crossed(&draft->policy.domain)) {
		error = refuse_crossed(draft, &limits->min, &limits->max, &message);
		policy_error_append(ret_message, message);
		return error;
	}
	for (uint32_t i = 0; i < draft->policy.n_domain_sections; i++) {
		int r;

		message = NULL;
		r = check_domain_section(draft, i, &message);
		policy_error_append(ret_message, message);
		error = error ?: r;
	}
	return error;
}
