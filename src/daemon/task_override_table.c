// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/task_override_table.h"

#include <stdio.h>
#include <string.h>

#include "core/rule.h"

bool task_overrides_add(struct task_overrides *overrides, const struct task_override *override)
{
	if (overrides->n == TASK_OVERRIDES_MAX)
		return false;
	overrides->entries[overrides->n++] = *override;
	return true;
}

struct task_override *task_overrides_find(struct task_overrides *overrides, uint32_t id)
{
	for (uint32_t i = 0; i < overrides->n; i++)
		if (overrides->entries[i].target.id == id)
			return &overrides->entries[i];
	return NULL;
}

void task_overrides_remove(struct task_overrides *overrides, struct task_override *override)
{
	struct task_override *end = overrides->entries + overrides->n;

	memmove(override, override + 1, (end - override - 1) * sizeof(*override));
	overrides->n--;
}

uint32_t task_overrides_room(const struct policy *policy)
{
	uint32_t room = POLICY_RULES_MAX - policy->n_rules;

	return room < TASK_OVERRIDES_MAX ? room : TASK_OVERRIDES_MAX;
}

void task_overrides_check(struct task_overrides *overrides, const struct policy *policy)
{
	uint32_t room = task_overrides_room(policy);

	for (uint32_t i = 0; i < overrides->n; i++) {
		struct task_override *override = &overrides->entries[i];

		if (override->ended)
			continue;
		if (!override->target.pid && rule_named(policy, override->target.rule) < 0)
			override->ended = TASK_OVERRIDE_RULE_GONE;
		else if (!room)
			override->ended = TASK_OVERRIDE_NO_ROOM;
		else
			room--;
	}
}

static void fill_one(const struct task_override *override, const struct policy *policy,
		     struct policy_rule *ret)
{
	int rule = rule_named(policy, override->target.rule);

	*ret = (struct policy_rule){
		.domain_cpu = rule < 0 ? POLICY_ANY_DOMAIN : policy->rules[rule].domain_cpu,
		.properties = override->properties,
		.override = override->target,
	};
	snprintf(ret->name, sizeof(ret->name), "override-%u", override->target.id);
}

void task_overrides_fill(const struct task_overrides *overrides, struct policy *policy)
{
	policy->n_overrides = 0;
	for (uint32_t i = 0; i < overrides->n; i++)
		if (!overrides->entries[i].ended)
			fill_one(&overrides->entries[i], policy,
				 &policy->rules[POLICY_RULES_MAX - ++policy->n_overrides]);
}

void task_overrides_end_task(struct task_overrides *overrides, uint32_t pid, uint64_t start_ns)
{
	for (uint32_t i = 0; i < overrides->n; i++) {
		struct task_override *override = &overrides->entries[i];

		if (override->target.pid == pid && override->target.start_ns != start_ns &&
		    !override->ended)
			override->ended = TASK_OVERRIDE_TASK_GONE;
	}
}

uint64_t task_overrides_next_ns(const struct task_overrides *overrides)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < overrides->n; i++) {
		if (overrides->entries[i].ended)
			return 0;
		if (overrides->entries[i].end_ns < next_ns)
			next_ns = overrides->entries[i].end_ns;
	}
	return next_ns;
}
