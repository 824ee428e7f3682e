/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What rules give a task. The newest override, or else the first rule of those that it matches
 * wins, for each property: one that does not give the property, or is for another domain, leaves it
 * to the next.
 */

#include "core/settings.h"
#include "core/topology.h"

/* The rules that there are, and those of them that are overrides, as bits. */
uint64_t rule_all(const struct policy *policy);
uint64_t rule_overrides(const struct policy *policy);

/* Whether i, of any value, is the number of a rule, and of one that is an override. */
bool rule_exists(const struct policy *policy, int64_t i);
bool rule_is_override(const struct policy *policy, int64_t i);

enum rule_property {
	RULE_CAP,
	RULE_FLOOR,
	RULE_IO_BOOST,
	RULE_PLACEMENT,
	RULE_PROPERTIES,
};

/*
 * The one of the rules matched (bit i: policy->rules[i]) that gives the property in the domain, as
 * an index; -1: none.
 */
int rule_that_gives(const struct policy *policy, uint64_t matched, enum rule_property property,
		    const struct topology_domain *domain);
/* Likewise of what is no domain's: a rule that is for one domain gives none of it. */
int rule_that_gives_anywhere(const struct policy *policy, uint64_t matched,
			     enum rule_property property);

/* Whether any task may have an I/O boost: by the policy, or because a rule says so. */
bool rule_any_io_boost(const struct policy *policy);

/* What properties say; kind POLICY_LEVEL_NONE: nothing. Borrowed. */
const struct policy_level *rule_level(const struct policy_properties *properties,
				      enum rule_property property);

/*
 * A level that is given, as capacity in the domain: 0…1024. A frequency is worth what a CPU of the
 * domain does at it, and no more than at the highest. A response is worth what its bursts need,
 * which is not known here: 0.
 */
uint32_t rule_level_cap(const struct policy_level *level, const struct topology_domain *domain);
