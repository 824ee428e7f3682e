// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/task_override_table.h"

#include <stdio.h>
#include <string.h>

bool leases_add(struct leases *leases, const struct lease *lease)
{
	if (leases->n == LEASES_MAX)
		return false;
	leases->entries[leases->n++] = *lease;
	return true;
}

struct lease *leases_find(struct leases *leases, uint32_t id)
{
	for (uint32_t i = 0; i < leases->n; i++)
		if (leases->entries[i].target.id == id)
			return &leases->entries[i];
	return NULL;
}

void leases_remove(struct leases *leases, struct lease *lease)
{
	struct lease *end = leases->entries + leases->n;

	memmove(lease, lease + 1, (end - lease - 1) * sizeof(*lease));
	leases->n--;
}

uint32_t leases_room(const struct policy *policy)
{
	uint32_t room = POLICY_RULES_MAX - policy->n_rules;

	return room < LEASES_MAX ? room : LEASES_MAX;
}

static const struct policy_rule *find_rule(const struct policy *policy, const char *name)
{
	for (uint32_t i = 0; i < policy->n_rules; i++)
		if (!strcmp(policy->rules[i].name, name))
			return &policy->rules[i];
	return NULL;
}

void leases_check(struct leases *leases, const struct policy *policy)
{
	uint32_t room = leases_room(policy);

	for (uint32_t i = 0; i < leases->n; i++) {
		struct lease *lease = &leases->entries[i];

		if (lease->ended)
			continue;
		if (!lease->target.pid && !find_rule(policy, lease->target.rule))
			lease->ended = LEASE_RULE_GONE;
		else if (!room)
			lease->ended = LEASE_NO_ROOM;
		else
			room--;
	}
}

static void fill_one(const struct lease *lease, const struct policy *policy,
		     struct policy_rule *ret)
{
	const struct policy_rule *rule = find_rule(policy, lease->target.rule);

	*ret = (struct policy_rule){
		.domain_cpu = rule ? rule->domain_cpu : POLICY_ANY_DOMAIN,
		.properties = lease->properties,
		.lease = lease->target,
	};
	snprintf(ret->name, sizeof(ret->name), "override-%u", lease->target.id);
}

void leases_fill(const struct leases *leases, struct policy *policy)
{
	policy->n_leases = 0;
	for (uint32_t i = 0; i < leases->n; i++)
		if (!leases->entries[i].ended)
			fill_one(&leases->entries[i], policy,
				 &policy->rules[POLICY_RULES_MAX - ++policy->n_leases]);
}

void leases_end_task(struct leases *leases, uint32_t pid, uint64_t start_ns)
{
	for (uint32_t i = 0; i < leases->n; i++) {
		struct lease *lease = &leases->entries[i];

		if (lease->target.pid == pid && lease->target.start_ns != start_ns && !lease->ended)
			lease->ended = LEASE_TASK_GONE;
	}
}

uint64_t leases_next_ns(const struct leases *leases)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < leases->n; i++) {
		if (leases->entries[i].ended)
			return 0;
		if (leases->entries[i].end_ns < next_ns)
			next_ns = leases->entries[i].end_ns;
	}
	return next_ns;
}
