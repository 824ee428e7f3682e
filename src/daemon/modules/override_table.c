// SPDX-License-Identifier: GPL-2.0-only
/* The overrides that are in force, as a table in memory. */
#include "daemon/modules/grants.h"

#include <stdio.h>
#include <string.h>

#include "core/rule.h"

uint32_t overrides_count(const struct overrides *overrides, bool of_domain)
{
	uint32_t n = 0;

	overrides_each(overrides, override)
		n += override->of_domain == of_domain;
	return n;
}

bool overrides_insert(struct overrides *overrides, const struct override *override)
{
	struct override *at = overrides->entries, *end = at + overrides->n;

	if (overrides_count(overrides, override->of_domain) ==
	    (override->of_domain ? OVERRIDES_MAX : TASK_OVERRIDES_MAX))
		return false;
	while (at < end && at->id < override->id)
		at++;
	memmove(at + 1, at, (end - at) * sizeof(*at));
	*at = *override;
	overrides->n++;
	return true;
}

struct override *overrides_find(struct overrides *overrides, uint32_t id)
{
	overrides_each(overrides, override)
		if (override->id == id)
			return override;
	return NULL;
}

void overrides_remove(struct overrides *overrides, struct override *override)
{
	struct override *end = overrides->entries + overrides->n;

	memmove(override, override + 1, (end - override - 1) * sizeof(*override));
	overrides->n--;
}

uint32_t overrides_room(const struct policy *policy, bool of_domain)
{
	uint32_t room = POLICY_RULES_MAX - policy->n_rules;

	if (of_domain)
		return OVERRIDES_MAX;
	return room < TASK_OVERRIDES_MAX ? room : TASK_OVERRIDES_MAX;
}

struct override_limits overrides_limits(const struct overrides *overrides, uint32_t domain)
{
	struct override_limits limits = { 0 };

	overrides_each(overrides, override) {
		if (!override->of_domain || override->domain != domain)
			continue;
		if (override->min_khz) {
			limits.min_khz = override->min_khz;
			limits.min_id = override->id;
		}
		if (override->max_khz) {
			limits.max_khz = override->max_khz;
			limits.max_id = override->id;
		}
		if (override->frozen_khz) {
			limits.frozen_khz = override->frozen_khz;
			limits.frozen_id = override->id;
		}
	}
	return limits;
}

void overrides_check(struct overrides *overrides, const struct policy *policy)
{
	uint32_t room = overrides_room(policy, false);

	overrides_each(overrides, override) {
		if (override->ended || override->of_domain)
			continue;
		if (!override->target.pid && rule_named(policy, override->target.rule) < 0)
			override->ended = OVERRIDE_RULE_GONE;
		else if (!room)
			override->ended = OVERRIDE_NO_ROOM;
		else
			room--;
	}
}

void overrides_fill(const struct overrides *overrides, struct policy *policy)
{
	policy->n_overrides = 0;
	overrides_each(overrides, override) {
		int rule = rule_named(policy, override->target.rule);
		struct policy_rule *added;

		if (override->ended || override->of_domain)
			continue;
		added = &policy->rules[POLICY_RULES_MAX - ++policy->n_overrides];
		*added = (struct policy_rule){
			.domain_cpu = rule < 0 ? POLICY_ANY_DOMAIN : policy->rules[rule].domain_cpu,
			.properties = override->properties,
			.override = override->target,
		};
		added->override.id = override->id;
		snprintf(added->name, sizeof(added->name), "override-%u", override->id);
	}
}

void overrides_end_task(struct overrides *overrides, uint32_t pid, uint64_t start_ns)
{
	overrides_each(overrides, override) {
		if (override->target.pid == pid && override->target.start_ns != start_ns &&
		    !override->ended)
			override->ended = OVERRIDE_TASK_GONE;
	}
}

uint64_t overrides_next_ns(const struct overrides *overrides)
{
	uint64_t next_ns = UINT64_MAX;

	overrides_each(overrides, override) {
		if (override->ended)
			return 0;
		if (override->end_ns < next_ns)
			next_ns = override->end_ns;
	}
	return next_ns;
}
