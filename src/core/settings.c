// SPDX-License-Identifier: GPL-2.0-only
/* Applies the sections of a policy to one domain. */
#include "core/settings.h"

#include <stddef.h>
#include <string.h>

static void apply_section(struct policy_domain *domain, const struct policy_domain_section *section)
{
	for (size_t at = 0; at < sizeof(*domain); at += POLICY_DOMAIN_FIELD_BYTES)
		if (section->given >> at / POLICY_DOMAIN_FIELD_BYTES & 1)
			memcpy((char *)domain + at, (const char *)&section->values + at,
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
	for (uint32_t i = 0; i < policy->n_domain_sections; i++)
		if (!strcmp(policy->domain_sections[i].name, name))
			apply_section(ret, &policy->domain_sections[i]);
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
