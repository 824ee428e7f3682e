// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which rule gives a task each property: the first that matches and gives it; overrides come
 * before. And what the policy gives a domain.
 */
#include "core/rule.h"

#include <stddef.h>
#include <string.h>

#include "core/opp.h"
#include "core/settings.h"

const struct policy_level *rule_level(const struct policy_properties *properties,
				      enum rule_property property)
{
	switch (property) {
	case RULE_CAP:
		return &properties->cap;
	case RULE_FLOOR:
		return &properties->floor;
	case RULE_WAITING:
		return &properties->waiting;
	case RULE_PLACEMENT:
		return &properties->placement;
	case RULE_IDLE_LATENCY:
		return &properties->idle_latency;
	default:
		return &properties->io_boost;
	}
}

static uint64_t lowest_bits(uint32_t n)
{
	return n == POLICY_RULES_MAX ? UINT64_MAX : (1ULL << n) - 1;
}

uint64_t rule_overrides(const struct policy *policy)
{
	return ~lowest_bits(POLICY_RULES_MAX - policy->n_overrides);
}

uint64_t rule_all(const struct policy *policy)
{
	return lowest_bits(policy->n_rules) | rule_overrides(policy);
}

bool rule_exists(const struct policy *policy, int64_t i)
{
	return i >= 0 && i < POLICY_RULES_MAX && rule_all(policy) >> i & 1;
}

bool rule_is_override(const struct policy *policy, int64_t i)
{
	return rule_exists(policy, i) && rule_overrides(policy) >> i & 1;
}

int rule_named(const struct policy *policy, const char *name)
{
	for (uint32_t i = 0; i < policy->n_rules; i++)
		if (!strcmp(policy->rules[i].name, name))
			return i;
	return -1;
}

int rule_class_named(const struct policy *policy, const char *name)
{
	for (uint32_t i = 0; i < policy->n_classes; i++)
		if (!strcmp(policy->classes[i].name, name))
			return i;
	return -1;
}

/* domain is NULL for properties that do not depend on a domain. */
static int first_that_gives(const struct policy *policy, uint64_t matched,
			    enum rule_property property, const struct topology_domain *domain)
{
	for (; matched; matched &= matched - 1) {
		uint32_t i = __builtin_ctzll(matched);
		const struct policy_rule *rule = &policy->rules[i];

		if (rule->domain_cpu != POLICY_ANY_DOMAIN &&
		    (!domain || rule->domain_cpu != domain->first_cpu))
			continue;
		if (rule_level(&rule->properties, property)->kind != POLICY_LEVEL_NONE)
			return i;
	}
	return -1;
}

int rule_that_gives(const struct policy *policy, uint64_t matched, enum rule_property property,
		    const struct topology_domain *domain)
{
	uint64_t overrides = rule_overrides(policy);
	int i = first_that_gives(policy, matched & overrides, property, domain);

	if (i >= 0)
		return i;
	return first_that_gives(policy, matched & rule_all(policy) & ~overrides, property, domain);
}

int rule_that_gives_anywhere(const struct policy *policy, uint64_t matched,
			     enum rule_property property)
{
	return rule_that_gives(policy, matched, property, NULL);
}

uint32_t rule_level_cap(const struct policy_level *level, const struct topology_domain *domain)
{
	uint32_t max_khz = topology_domain_max_khz(domain);

	switch (level->kind) {
	case POLICY_LEVEL_PERCENT:
		return (level->value * TOPOLOGY_CAPACITY_MAX + 50) / 100;
	case POLICY_LEVEL_KHZ:
		return opp_cap_at_khz(domain, level->value < max_khz ? level->value : max_khz);
	case POLICY_LEVEL_RESPONSE:
		return 0;
	default:
		return level->value;
	}
}

/* "none" and "off" do nothing. */
static bool does_something(const struct policy_level *level)
{
	switch (level->kind) {
	case POLICY_LEVEL_NONE:
		return false;
	case POLICY_LEVEL_PLACEMENT:
		return level->value == POLICY_PLACEMENT_FORK_SPREAD;
	case POLICY_LEVEL_IDLE_LATENCY:
		return level->value != POLICY_IDLE_LATENCY_NONE;
	default:
		return level->value;
	}
}

bool rule_any_gives(const struct policy *policy, enum rule_property property)
{
	for (uint64_t bits = rule_all(policy); bits; bits &= bits - 1) {
		const struct policy_rule *rule = &policy->rules[__builtin_ctzll(bits)];

		if (does_something(rule_level(&rule->properties, property)))
			return true;
	}
	return false;
}

/* What the sections and overrides of a policy give one domain. */

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
