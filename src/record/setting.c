// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/keys.h"
#include "core/rule.h"
#include "record/body.h"
#include "shared/cleanup.h"

#define KEY_NAME_SIZE 32

void record_topology_put(struct record_out *out, const struct topology *topology)
{
	record_put_varint(out, topology->n_cpus);
	record_put_varint(out, topology->n_domains);
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		record_put_varint(out, topology->cpu_domain[cpu]);
}

int record_topology_get(struct record_in *in, struct topology **ret)
{
	uint32_t n_cpus = record_get_number(in, TOPOLOGY_CPUS_MAX);
	uint32_t n_domains = record_get_number(in, TOPOLOGY_DOMAINS_MAX);
	_cleanup_free_ struct topology *topology =
		calloc(1, sizeof(*topology) + n_domains * sizeof(topology->domains[0]));

	if (!topology)
		return -ENOMEM;
	topology->n_cpus = n_cpus;
	topology->n_domains = n_domains;
	for (uint32_t cpu = 0; cpu < n_cpus && !in->bad; cpu++) {
		topology->cpu_domain[cpu] = record_get_number(in, TOPOLOGY_NO_DOMAIN);
		if (topology->cpu_domain[cpu] != TOPOLOGY_NO_DOMAIN &&
		    topology->cpu_domain[cpu] >= n_domains)
			return -EBADMSG;
	}
	if (in->bad || !n_cpus)
		return -EBADMSG;
	if (in->at < in->end)
		return -EPROTONOSUPPORT;
	*ret = take_ptr(topology);
	return 0;
}

void record_domain_put(struct record_out *out, const struct topology_domain *domain)
{
	uint32_t below_khz = 0;

	record_put_text(out, domain->name);
	record_put_varint(out, domain->first_cpu);
	record_put_varint(out, domain->capacity);
	record_put_varint(out, domain->transition_latency_ns);
	record_put_varint(out, domain->n_opps);
	for (uint32_t i = 0; i < domain->n_opps; i++) {
		record_put_varint(out, domain->opp_khz[i] - below_khz);
		below_khz = domain->opp_khz[i];
	}
	record_put_varint(out, domain->reference_khz);
	for (uint32_t i = 0; domain->opp_power[0] && i < domain->n_opps; i++)
		record_put_varint(out, domain->opp_power[i]);
}

int record_domain_get(struct record_in *in, const struct topology *topology,
		      struct topology_domain *ret)
{
	uint32_t step_khz, below_khz = 0;

	*ret = (struct topology_domain){};
	record_get_text(in, ret->name, sizeof(ret->name));
	ret->first_cpu = record_get_number(in, topology->n_cpus - 1);
	ret->capacity = record_get_number(in, TOPOLOGY_CAPACITY_MAX);
	ret->transition_latency_ns = record_get_varint(in);
	ret->n_opps = record_get_number(in, DOMAIN_OPPS_MAX);
	for (uint32_t i = 0; i < ret->n_opps; i++) {
		step_khz = record_get_number(in, UINT32_MAX - below_khz);
		if (!step_khz)
			return -EBADMSG;
		below_khz += step_khz;
		ret->opp_khz[i] = below_khz;
	}
	if (in->at < in->end)
		ret->reference_khz = record_get_number(in, UINT32_MAX);
	for (uint32_t i = 0; in->at < in->end && i < ret->n_opps; i++)
		ret->opp_power[i] = record_get_number(in, UINT32_MAX);
	if (in->bad || !ret->capacity || !ret->n_opps)
		return -EBADMSG;
	return in->at < in->end ? -EPROTONOSUPPORT : 0;
}

/* Writes each key of the section that `given` names; one without a domain field is always given. */
static void put_keys(struct record_out *out, bool of_domain, const void *base, uint32_t given)
{
	struct policy_value value;
	const struct policy_key *keys;
	size_t n, n_put = 0;

	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++)
		n_put += of_domain == !!keys[i].domain_bit && !(keys[i].domain_bit & ~given);
	record_put_varint(out, n_put);
	for (size_t i = 0; i < n; i++) {
		if (of_domain != !!keys[i].domain_bit || keys[i].domain_bit & ~given)
			continue;
		policy_key_load(&keys[i], base, &value);
		record_put_text(out, policy_section_name(keys[i].section));
		record_put_text(out, keys[i].name);
		record_put_varint(out, value.kind);
		record_put_varint(out, value.number);
	}
}

static const enum rule_property properties[] = { RULE_CAP, RULE_FLOOR, RULE_IO_BOOST };

/* Writes the properties of a rule; inputs tell which tasks match it. */
static void put_rule(struct record_out *out, const struct policy_rule *rule)
{
	record_put_text(out, rule->name);
	record_put_varint(out, rule->domain_cpu);
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		const struct policy_level *level = rule_level(&rule->properties, properties[i]);

		record_put_varint(out, level->kind);
		record_put_varint(out, level->value);
	}
}

void record_policy_put(struct record_out *out, const struct policy *policy)
{
	put_keys(out, false, policy, 0);
	put_keys(out, true, &policy->domain, UINT32_MAX);
	record_put_varint(out, policy->n_domain_sections);
	for (uint32_t i = 0; i < policy->n_domain_sections; i++) {
		record_put_text(out, policy->domain_sections[i].name);
		put_keys(out, true, &policy->domain_sections[i].values,
			 policy->domain_sections[i].given);
	}
	record_put_varint(out, policy->n_rules);
	for (uint32_t i = 0; i < policy->n_rules; i++)
		put_rule(out, &policy->rules[i]);
	record_put_varint(out, policy->n_overrides);
	for (uint32_t i = POLICY_RULES_MAX - policy->n_overrides; i < POLICY_RULES_MAX; i++)
		put_rule(out, &policy->rules[i]);
}

static void get_rule(struct record_in *in, struct policy_rule *ret)
{
	record_get_text(in, ret->name, sizeof(ret->name));
	ret->domain_cpu = record_get_number(in, POLICY_ANY_DOMAIN);
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		struct policy_level *level = (struct policy_level *)rule_level(&ret->properties,
									       properties[i]);

		level->kind = record_get_number(in, POLICY_LEVEL_RESPONSE);
		level->value = record_get_number(in, policy_level_most(level->kind));
	}
}

static int get_keys(struct record_in *in, bool of_domain, void *base, uint32_t *ret_given)
{
	char section[KEY_NAME_SIZE], name[KEY_NAME_SIZE];
	uint32_t n = record_get_number(in, POLICY_KEYS_MAX);
	struct policy_value value;

	*ret_given = 0;
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		const struct policy_key *key = NULL; /* if this build does not have it */

		record_get_text(in, section, sizeof(section));
		record_get_text(in, name, sizeof(name));
		for (int j = 0; j < POLICY_SECTIONS && !key; j++)
			if (!strcmp(section, policy_section_name(j)))
				key = policy_keys_find(j, name);
		value.kind = record_get_number(in, POLICY_VALUE_SHARE);
		value.number = record_get_varint(in);
		if (in->bad)
			break;
		if (!key)
			return -EPROTONOSUPPORT;
		if (of_domain != !!key->domain_bit || !policy_value_allowed(key, &value))
			return -EBADMSG;
		policy_key_store(key, base, &value);
		*ret_given |= key->domain_bit;
	}
	return in->bad ? -EBADMSG : 0;
}

int record_policy_get(struct record_in *in, struct policy *ret)
{
	uint32_t given;
	int r;

	policy_init(ret);
	r = get_keys(in, false, ret, &given);
	if (r == 0)
		r = get_keys(in, true, &ret->domain, &given);
	if (r < 0)
		return r;
	ret->n_domain_sections = record_get_number(in, POLICY_DOMAIN_SECTIONS_MAX);
	for (uint32_t i = 0; i < ret->n_domain_sections; i++) {
		struct policy_domain_section *section = &ret->domain_sections[i];

		record_get_text(in, section->name, sizeof(section->name));
		r = get_keys(in, true, &section->values, &section->given);
		if (r < 0)
			return r;
	}
	/* A recording from before rules ends here, and one from before overrides after the rules.
	 */
	if (!in->bad && in->at < in->end)
		ret->n_rules = record_get_number(in, POLICY_RULES_MAX);
	for (uint32_t i = 0; i < ret->n_rules && !in->bad; i++)
		get_rule(in, &ret->rules[i]);
	if (!in->bad && in->at < in->end)
		ret->n_overrides = record_get_number(in, POLICY_RULES_MAX - ret->n_rules);
	for (uint32_t i = 0; i < ret->n_overrides && !in->bad; i++)
		get_rule(in, &ret->rules[POLICY_RULES_MAX - ret->n_overrides + i]);
	if (in->bad)
		return -EBADMSG;
	return in->at < in->end ? -EPROTONOSUPPORT : 0;
}
