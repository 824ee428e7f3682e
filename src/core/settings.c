// SPDX-License-Identifier: GPL-2.0-only
#include "core/settings.h"

#include <stddef.h>
#include <string.h>

static void apply_section(struct policy_domain *domain, const struct policy_domain_section *section)
{
	if (section->given & POLICY_DOMAIN_MIN)
		domain->min = section->values.min;
	if (section->given & POLICY_DOMAIN_PREFERENCE)
		domain->preference = section->values.preference;
	if (section->given & POLICY_DOMAIN_MAX)
		domain->max = section->values.max;
	if (section->given & POLICY_DOMAIN_HEADROOM)
		domain->headroom_percent = section->values.headroom_percent;
	if (section->given & POLICY_DOMAIN_RATE_LIMIT)
		domain->rate_limit_ns = section->values.rate_limit_ns;
	if (section->given & POLICY_DOMAIN_DOWN_HOLD)
		domain->down_hold_ns = section->values.down_hold_ns;
	if (section->given & POLICY_DOMAIN_REFERENCE)
		domain->reference = section->values.reference;
	if (section->given & POLICY_DOMAIN_RISE_TIME)
		domain->rise_time_ns = section->values.rise_time_ns;
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
