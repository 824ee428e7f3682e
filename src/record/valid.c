// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the engine trusts, since its callers take it from the machine, and a recording must be
 * checked for: flags, enums, indices and the ends of texts. Of a policy, what no file could give.
 */
#include "config/keys.h"
#include "core/field.h"
#include "core/rule.h"
#include "record/record.h"
#include "shared/cleanup.h"

#define FLAG(_struct, _member)	 FIELD(_struct, _member, 1)
#define TEXT(_struct, _member)	 FIELD(_struct, _member[TASK_COMM_SIZE - 1], 0)
#define DEVICE(_struct, _member) FIELD(_struct, _member, INPUT_DEVICES_MAX - 1)
#define ROW(_type, _subject, ...)                               \
	{                                                       \
		sizeof(_type), _subject, (const struct field[]) \
		{                                               \
			__VA_ARGS__ __VA_OPT__(, ) FIELD_END    \
		}                                               \
	}

static const struct {
	size_t size;
	enum { ANY, DOMAIN, TASK } subject; /* the first number is a domain, or a pid */
	const struct field *bounds;
} inputs[] = {
	[INPUT_CPU] = ROW(struct input_cpu, ANY, FLAG(input_cpu, running)),
	[INPUT_TASK] = ROW(struct input_task, TASK, FLAG(input_task, watched),
			   TEXT(input_task, comm), FIELD(input_task, n_ios, TASK_IOS_MAX),
			   DEVICE(input_task, ios[0].device), DEVICE(input_task, ios[1].device),
			   DEVICE(input_task, ios[2].device), DEVICE(input_task, ios[3].device)),
	[INPUT_TASK_END] = ROW(uint32_t, ANY),
	[INPUT_DEVICE] = ROW(struct input_device, ANY, DEVICE(input_device, device)),
	[INPUT_DEVICE_END] = ROW(uint32_t, ANY, { 0, sizeof(uint32_t), INPUT_DEVICES_MAX - 1 }),
	[INPUT_LIMITS] = ROW(struct input_limits, DOMAIN),
	[INPUT_DOMAIN] = ROW(struct input_domain, DOMAIN, FLAG(input_domain, active),
			     FLAG(input_domain, driven), FLAG(input_domain, clamps)),
	[INPUT_TASK_RULES] = ROW(struct input_task_rules, TASK, TEXT(input_task_rules, comm)),
	[INPUT_CLASS_RUN] = ROW(struct input_class_run, ANY),
	[INPUT_CO_RUNNER] = ROW(struct input_co_runner, TASK),
	[INPUT_REFERENCE] = ROW(struct input_reference, DOMAIN),
	[INPUT_OWN_CLAMPS] = ROW(struct input_own_clamps, TASK),
	[INPUT_BURSTS] = ROW(struct input_bursts, ANY),
	[INPUT_OPP] = ROW(struct input_opp, DOMAIN),
	[INPUT_WAITED] = ROW(struct input_waited, TASK, FLAG(input_waited, keeps)),
};

_Static_assert(ARRAY_SIZE(inputs) == INPUT_LAST + 1, "each type of input has a row");
_Static_assert(TASK_IOS_MAX == 4, "the row of INPUT_TASK lists its devices");

static bool is_within(const void *of, const struct field *bounds)
{
	while (bounds->size && field_load(bounds, of) <= bounds->most)
		bounds++;
	return !bounds->size;
}

static bool is_text(const char *text, size_t size)
{
	return memchr(text, 0, size);
}

size_t record_input_size(uint32_t type)
{
	return type < ARRAY_SIZE(inputs) ? inputs[type].size : 0;
}

bool record_input_is_valid(const struct input *input, const struct topology *topology)
{
	const uint32_t *first = &input->ended_pid;

	if (inputs[input->type].subject == DOMAIN && *first >= topology->n_domains)
		return false;
	if (inputs[input->type].subject == TASK && !*first)
		return false;
	return is_within(&input->cpu, inputs[input->type].bounds);
}

bool record_decision_is_valid(const struct decision *decision, const struct topology *topology)
{
	static const struct field bounds[] = {
		FIELD(decision, reason, REASON_LAST),
		FIELD(decision, limiter, LIMITER_LAST),
		FIELD(decision, timing, TIMING_RATE_LIMITED),
		TEXT(decision, comm),
		FIELD_END,
	};

	return decision->domain < topology->n_domains && is_within(decision, bounds);
}

static bool is_domain(const struct topology_domain *domain, const struct topology *topology)
{
	if (!is_text(domain->name, sizeof(domain->name)) || domain->first_cpu >= topology->n_cpus ||
	    !domain->capacity || domain->capacity > TOPOLOGY_CAPACITY_MAX || !domain->n_opps ||
	    domain->n_opps > DOMAIN_OPPS_MAX || !domain->opp_khz[0])
		return false;
	for (uint32_t i = 1; i < domain->n_opps; i++)
		if (domain->opp_khz[i] <= domain->opp_khz[i - 1])
			return false;
	return true;
}

/* Its n_domains has been checked, as the size depends on it. */
bool record_topology_is_valid(const struct topology *topology)
{
	if (!topology->n_cpus || topology->n_cpus > TOPOLOGY_CPUS_MAX)
		return false;
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		if (topology->cpu_domain[cpu] != TOPOLOGY_NO_DOMAIN &&
		    topology->cpu_domain[cpu] >= topology->n_domains)
			return false;
	for (uint32_t i = 0; i < topology->n_domains; i++)
		if (!is_domain(&topology->domains[i], topology))
			return false;
	return true;
}

/* The keys of a section that `given` names, or those of no domain. */
static bool are_keys(bool of_domain, const void *base, uint32_t given)
{
	const struct policy_key *keys;
	size_t n;

	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++)
		if (of_domain == !!keys[i].domain_bit && !(keys[i].domain_bit & ~given) &&
		    !policy_key_is_valid(&keys[i], base))
			return false;
	return true;
}

static bool is_rule(const struct policy_rule *rule)
{
	for (int i = 0; i < RULE_PROPERTIES; i++) {
		const struct policy_level *level = rule_level(&rule->properties, i);

		if ((uint32_t)level->kind > POLICY_LEVEL_IDLE_LATENCY ||
		    level->value > policy_level_most(level->kind))
			return false;
	}
	return is_text(rule->name, sizeof(rule->name)) && is_text(rule->file, sizeof(rule->file));
}

static bool are_sections(const struct policy_domain_section *sections, uint32_t n, uint32_t most)
{
	if (n > most)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!is_text(sections[i].name, sizeof(sections[i].name)) ||
		    !are_keys(true, &sections[i].values, sections[i].given))
			return false;
	return true;
}

bool record_policy_is_valid(const struct policy *policy)
{
	if (!are_sections(policy->domain_sections, policy->n_domain_sections,
			  POLICY_DOMAIN_SECTIONS_MAX) ||
	    !are_sections(policy->domain_overrides, policy->n_domain_overrides,
			  POLICY_OVERRIDES_MAX) ||
	    policy->n_rules > POLICY_RULES_MAX ||
	    policy->n_overrides > POLICY_RULES_MAX - policy->n_rules ||
	    !are_keys(false, policy, 0) || !are_keys(true, &policy->domain, UINT32_MAX))
		return false;
	for (uint32_t i = 0; i < policy->n_rules; i++)
		if (!is_rule(&policy->rules[i]))
			return false;
	for (uint32_t i = POLICY_RULES_MAX - policy->n_overrides; i < POLICY_RULES_MAX; i++)
		if (!is_rule(&policy->rules[i]))
			return false;
	return true;
}
