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

static void note_limit(struct policy_draft *draft, const struct policy_key *key, uint32_t override,
		       const char *text, struct policy_place place)
{
	struct policy_limits *limits = override == POLICY_NO_OVERRIDE
					       ? &draft->domain_limits
					       : &draft->override_limits[override];
	struct policy_limit *limit = key->domain_field == POLICY_DOMAIN_MIN ? &limits->min
									    : &limits->max;

	limit->place = place;
	limit->override = override;
	limit->order = ++draft->n_limits;
	snprintf(limit->text, sizeof(limit->text), "%s", text);
}

void policy_draft_set(struct policy_draft *draft, const struct policy_key *key, uint32_t override,
		      const struct policy_value *value, const char *text, struct policy_place place)
{
	void *base = &draft->policy;

	if (key->section == POLICY_SECTION_DOMAIN && override == POLICY_NO_OVERRIDE) {
		base = &draft->policy.domain;
	} else if (key->section == POLICY_SECTION_DOMAIN) {
		draft->policy.overrides[override].given |= key->domain_field;
		base = &draft->policy.overrides[override].values;
	}

	key->store((char *)base + key->offset, value);
	if (key->domain_field & (POLICY_DOMAIN_MIN | POLICY_DOMAIN_MAX))
		note_limit(draft, key, override, text, place);
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
	bool is_override = later->override != POLICY_NO_OVERRIDE;

	return policy_error_set(
		ret_message, -EINVAL, later->place,
		"[domain%s%s] %s: found '%s', expected at %s the %s of %s, given at %s:%u",
		is_override ? " " : "",
		is_override ? draft->policy.overrides[later->override].name : "",
		min_is_later ? "min-frequency" : "max-frequency", later->text,
		min_is_later ? "most" : "least", min_is_later ? "max-frequency" : "min-frequency",
		earlier->text, earlier->place.file, earlier->place.line);
}

static int check_override(const struct policy_draft *draft, uint32_t i, char **ret_message)
{
	const struct policy_domain_override *override = &draft->policy.overrides[i];
	const struct policy_limits *own = &draft->override_limits[i];
	const struct policy_limits *all = &draft->domain_limits;
	struct policy_domain domain;

	policy_domain_for(&draft->policy, override->name, &domain);
	if (!is_crossed(&domain))
		return 0;
	return refuse_crossed(draft, override->given & POLICY_DOMAIN_MIN ? &own->min : &all->min,
			      override->given & POLICY_DOMAIN_MAX ? &own->max : &all->max,
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
	for (uint32_t i = 0; i < draft->policy.n_overrides; i++) {
		int r;

		message = NULL;
		r = check_override(draft, i, &message);
		policy_error_append(ret_message, message);
		error = error ?: r;
	}
	return error;
}
