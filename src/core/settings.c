// SPDX-License-Identifier: GPL-2.0-only
/* Applies the sections and overrides of a policy to one domain. */
#include "core/settings.h"

#include <stddef.h>
#include <string.h>

/* Applies those of the n sections that are of the domain called name. */
static void apply_sections(struct policy_domain *domain, const char *name,
			   const struct policy_domain_section *sections, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (size_t at = 0; at < sizeof(*domain); at += POLICY_DOMAIN_FIELD_BYTES)
			if (sections[i].given >> at / POLICY_DOMAIN_FIELD_BYTES & 1 &&
			    !strcmp(sections[i].name, name))
				memcpy((char *)domain + at, (const char *)&sections[i].values + at,
				       POLICY_DOMAIN_FIELD_BYTES);
}

void policy_copy(struct policy *to, const struct policy *from)
{
	uint32_t first_override = POLICY_RULES_MAX - from->n_overrides;

	memcpy(to, from, offsetof(struct policy, rules));
	memcpy(to->rules, from->rules, from->n_rules * sizeof(from->rules[0]));
	memcpy(&to->rules[first_override], &from->rules[first_override],
	       from->n_overrides * sizeof(from->rules[0]));
}

void policy_domain_for(const struct policy *policy, const char *name, struct policy_domain *ret)
{
	*ret = policy->domain;
	apply_sections(ret, name, policy->domain_sections, policy->n_domain_sections);
	apply_sections(ret, name, policy->domain_overrides, policy->n_domain_overrides);
}

uint32_t policy_powers_section(const struct policy *policy, const char *name)
{
	for (uint32_t i = 0; i < policy->n_opp_powers; i++) {
		uint32_t section = policy->opp_powers[i].section;

		if (section && !strcmp(policy->domain_sections[section - 1].name, name))
			return section;
	}
	return 0;
}

uint32_t policy_power_at(const struct policy *policy, uint32_t section, uint32_t khz)
{
	for (uint32_t i = 0; i < policy->n_opp_powers; i++)
		if (policy->opp_powers[i].section == section && policy->opp_powers[i].khz == khz)
			return policy->opp_powers[i].uw;
	return 0;
}
