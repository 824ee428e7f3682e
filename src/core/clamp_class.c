// SPDX-License-Identifier: GPL-2.0-only
#include "core/clamp_class.h"

#include "core/rule.h"
#include "wakegov/own.h"

/* A power of two. Halved, more sets are needed for tasks that ask for nearly the same. */
#define OWN_STEP_CAP 64

void clamp_sets_reset(struct clamp_sets *sets, const struct policy *policy)
{
	*sets = (struct clamp_sets){
		.follows_own = policy->caps.application_clamps,
		.n = 1,
		.refused = sets->refused,
		.epoch = sets->epoch + 1,
		.version = sets->version + 1,
	};
	for (uint64_t bits = rule_all(policy); bits; bits &= bits - 1) {
		uint32_t i = __builtin_ctzll(bits);
		const struct policy_properties *properties = &policy->rules[i].properties;

		if (properties->cap.kind != POLICY_LEVEL_NONE ||
		    properties->floor.kind != POLICY_LEVEL_NONE)
			sets->clamping |= 1ULL << i;
	}
}

static uint32_t round_up(uint32_t cap)
{
	return (cap + OWN_STEP_CAP - 1) & -OWN_STEP_CAP;
}

/* A floor that is rounded up is one that holds, and so is a cap. */
static uint32_t round_own(uint32_t own)
{
	return wakegov_own(round_up(wakegov_own_min(own)), round_up(wakegov_own_max(own)));
}

static bool has_room(const struct clamp_sets *sets, uint32_t own)
{
	return sets->n < CLAMP_SETS_MAX && (!own || sets->n_own < CLAMP_SETS_OWN_MAX);
}

uint32_t clamp_sets_take(struct clamp_sets *sets, uint64_t matched, uint32_t own)
{
	uint32_t i;

	matched &= sets->clamping;
	own = sets->follows_own ? round_own(own) : 0;
	for (i = 0; i < sets->n; i++)
		if (sets->matched[i] == matched && sets->own[i] == own)
			return i;
	if (!has_room(sets, own)) {
		sets->refused++;
		return own ? clamp_sets_take(sets, matched, 0) : 0;
	}
	sets->matched[i] = matched;
	sets->own[i] = own;
	sets->n++;
	sets->n_own += own != 0;
	sets->version++;
	return i;
}

static void work_out(const struct policy *policy, uint64_t matched,
		     const struct topology_domain *domain, struct set_clamp *ret)
{
	ret->cap = CLAMP_CAP_NONE;
	ret->floor = 0;
	ret->cap_rule = rule_that_gives(policy, matched, RULE_CAP, domain);
	ret->floor_rule = rule_that_gives(policy, matched, RULE_FLOOR, domain);
	if (ret->cap_rule >= 0)
		ret->cap = rule_level_cap(&policy->rules[ret->cap_rule].properties.cap, domain);
	/* "No cap, whatever later rules say." */
	if (ret->cap >= TOPOLOGY_CAPACITY_MAX)
		ret->cap = CLAMP_CAP_NONE;
	if (ret->floor_rule >= 0)
		ret->floor = rule_level_cap(&policy->rules[ret->floor_rule].properties.floor,
					    domain);
	/* An override wins over a rule, and else the cap over the floor. */
	if (ret->floor > ret->cap && rule_is_override(policy, ret->floor_rule) &&
	    !rule_is_override(policy, ret->cap_rule))
		ret->cap = ret->floor < TOPOLOGY_CAPACITY_MAX ? ret->floor : CLAMP_CAP_NONE;
	if (ret->floor > ret->cap)
		ret->floor = ret->cap;
}

void clamp_merge_own(uint32_t own, struct set_clamp *clamp)
{
	uint32_t min_cap = wakegov_own_min(own), max_cap = wakegov_own_max(own);

	if (min_cap > clamp->floor) {
		clamp->floor = min_cap;
		clamp->floor_rule = -1;
	}
	if (max_cap < TOPOLOGY_CAPACITY_MAX && max_cap < clamp->cap) {
		clamp->cap = max_cap;
		clamp->cap_rule = -1;
	}
	if (clamp->floor > clamp->cap)
		clamp->floor = clamp->cap;
}

void clamp_sets_in(const struct clamp_sets *sets, const struct policy *policy, uint32_t set,
		   const struct topology_domain *domain, struct set_clamp *ret)
{
	work_out(policy, sets->matched[set], domain, ret);
	clamp_merge_own(sets->own[set], ret);
}

void clamp_of_rules(const struct policy *policy, uint64_t matched, const struct topology *topology,
		    struct set_clamp *ret)
{
	struct set_clamp clamp;

	*ret = (struct set_clamp){ .cap = CLAMP_CAP_NONE, .cap_rule = -1, .floor_rule = -1 };
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		work_out(policy, matched, &topology->domains[i], &clamp);
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
