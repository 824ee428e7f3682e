// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clamp classes: which numbers of class are in use, with which clamps, and which class the
 * rules and own clamps of a task come to.
 */
#include "core/clamp_class.h"

#include "core/rule.h"
#include "shared/time.h"
#include "wakegov/abi.h"

/* A power of two. Half the step means more classes for tasks that ask for nearly the same. */
#define OWN_STEP_CAP 64
/* Above every allowed response; bounds what a recording may contain. */
#define BURST_MOST_NS (1000 * NS_PER_S)

void clamp_classes_reset(struct clamp_classes *classes, const struct policy *policy)
{
	*classes = (struct clamp_classes){
		.follows_own = policy->caps.application_clamps,
		.n = 1,
		.refused = classes->refused,
		.epoch = classes->epoch + 1,
		.version = classes->version + 1,
	};
	for (uint64_t bits = rule_all(policy); bits; bits &= bits - 1) {
		uint32_t i = __builtin_ctzll(bits);
		const struct policy_properties *properties = &policy->rules[i].properties;

		if (properties->cap.kind != POLICY_LEVEL_NONE ||
		    properties->floor.kind != POLICY_LEVEL_NONE)
			classes->clamping |= 1ULL << i;
	}
}

static uint32_t round_up(uint32_t cap)
{
	return (cap + OWN_STEP_CAP - 1) & -OWN_STEP_CAP;
}

uint32_t clamp_classes_find_or_add(struct clamp_classes *classes, uint64_t matched, uint32_t own)
{
	uint32_t i;

	matched &= classes->clamping;
	/* Rounds up: the higher floor still suffices, and the higher cap only allows more. */
	own = classes->follows_own ? wakegov_own(round_up(wakegov_own_min(own)),
						 round_up(wakegov_own_max(own))) |
					     (own & WAKEGOV_OWN_GROUP)
				   : 0;
	for (i = 0; i < classes->n; i++)
		if (classes->matched[i] == matched && classes->own[i] == own)
			return i;
	if (classes->n >= CLAMP_CLASSES_MAX || (own && classes->n_own >= CLAMP_CLASSES_OWN_MAX)) {
		classes->refused++;
		return own ? clamp_classes_find_or_add(classes, matched, 0) : 0;
	}
	classes->matched[i] = matched;
	classes->own[i] = own;
	classes->n++;
	classes->n_own += own != 0;
	classes->version++;
	return i;
}

uint64_t clamp_response_cap(uint64_t burst_ns, uint32_t response_us)
{
	uint64_t most_ns = burst_ns < BURST_MOST_NS ? burst_ns + burst_ns / 16 : BURST_MOST_NS;
	uint64_t response_ns = (response_us ?: 1) * NS_PER_US;

	return (most_ns * TOPOLOGY_CAPACITY_MAX + response_ns - 1) / response_ns;
}

static void set_floor(const struct policy_level *level, uint64_t burst_ns,
		      const struct topology_domain *domain, struct class_clamp *ret)
{
	uint64_t cap;

	if (level->kind != POLICY_LEVEL_RESPONSE) {
		ret->floor = rule_level_cap(level, domain);
		return;
	}
	cap = clamp_response_cap(burst_ns, level->value);
	ret->response_us = level->value;
	ret->floor = cap < TOPOLOGY_CAPACITY_MAX ? cap : TOPOLOGY_CAPACITY_MAX;
}

static void work_out(const struct policy *policy, uint64_t matched, uint64_t burst_ns,
		     const struct topology_domain *domain, struct class_clamp *ret)
{
	ret->cap = CLAMP_CAP_NONE;
	ret->floor = 0;
	ret->response_us = 0;
	ret->cap_rule = rule_that_gives(policy, matched, RULE_CAP, domain);
	ret->floor_rule = rule_that_gives(policy, matched, RULE_FLOOR, domain);
	if (ret->cap_rule >= 0)
		ret->cap = rule_level_cap(&policy->rules[ret->cap_rule].properties.cap, domain);
	/* "No cap, whatever later rules say." */
	if (ret->cap >= TOPOLOGY_CAPACITY_MAX)
		ret->cap = CLAMP_CAP_NONE;
	if (ret->floor_rule >= 0)
		set_floor(&policy->rules[ret->floor_rule].properties.floor, burst_ns, domain, ret);
	/* An override wins over a rule, and else the cap over the floor. */
	if (ret->floor > ret->cap && rule_is_override(policy, ret->floor_rule) &&
	    !rule_is_override(policy, ret->cap_rule))
		ret->cap = ret->floor < TOPOLOGY_CAPACITY_MAX ? ret->floor : CLAMP_CAP_NONE;
	if (ret->floor > ret->cap)
		ret->floor = ret->cap;
}

void clamp_merge_own(uint32_t own, struct class_clamp *clamp)
{
	uint32_t min_cap = wakegov_own_min(own), max_cap = wakegov_own_max(own);

	if (min_cap > clamp->floor) {
		clamp->floor = min_cap;
		clamp->floor_rule = -1;
	}
	if (max_cap < TOPOLOGY_CAPACITY_MAX && max_cap < clamp->cap) {
		clamp->cap = max_cap;
		clamp->cap_rule = own & WAKEGOV_OWN_GROUP ? CLAMP_BY_GROUP : -1;
	}
	if (clamp->floor > clamp->cap)
		clamp->floor = clamp->cap;
}

void clamp_classes_in(const struct clamp_classes *classes, const struct policy *policy,
		      uint32_t class, const struct topology_domain *domain, struct class_clamp *ret)
{
	work_out(policy, classes->matched[class], classes->burst_ns[class], domain, ret);
	clamp_merge_own(classes->own[class], ret);
}

void clamp_of_rules(const struct policy *policy, uint64_t matched, uint64_t burst_ns,
		    const struct topology *topology, struct class_clamp *ret)
{
	struct class_clamp clamp;

	*ret = (struct class_clamp){ .cap = CLAMP_CAP_NONE, .cap_rule = -1, .floor_rule = -1 };
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		work_out(policy, matched, burst_ns, &topology->domains[i], &clamp);
		if (!i) {
			*ret = clamp;
			continue;
		}
		if (clamp.cap > ret->cap) {
			ret->cap = clamp.cap;
			ret->cap_rule = clamp.cap_rule;
		}
		if (clamp.floor < ret->floor) {
			ret->floor = clamp.floor;
			ret->floor_rule = clamp.floor_rule;
		}
	}
}
