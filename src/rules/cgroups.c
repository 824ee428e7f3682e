// SPDX-License-Identifier: GPL-2.0-only
#include "rules/rules.h"

#include <limits.h>
#include <string.h>

#include "config/patterns.h"
#include "core/clamp_class.h"
#include "rules/rules_private.h"

struct grouped grouped_find(const struct policy *policy, const struct topology *topology)
{
	struct grouped found = { 0 };
	struct class_clamp clamp;

	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if ((rule->match.given != POLICY_MATCH_CGROUP &&
		     rule->match.given != POLICY_MATCH_UNIT) ||
		    rule->domain_cpu != POLICY_ANY_DOMAIN || rule->when[0])
			continue;
		clamp_of_rules(policy, 1ULL << i, 0, topology, &clamp);
		found.caps |= (uint64_t)(clamp.cap != CLAMP_CAP_NONE) << i;
		found.floors |= (uint64_t)(clamp.floor != 0) << i;
	}
	return found;
}

struct grouped grouped_find_wrong(const struct grouped *grouped, const struct policy *policy,
				  const struct topology *topology, uint64_t matched)
{
	struct grouped wrong = { 0 };
	struct class_clamp due, own;

	clamp_of_rules(policy, matched, 0, topology, &due);
	for (uint64_t bits = matched & (grouped->caps | grouped->floors); bits; bits &= bits - 1) {
		uint32_t i = __builtin_ctzll(bits);

		clamp_of_rules(policy, 1ULL << i, 0, topology, &own);
		wrong.caps |= (uint64_t)(due.cap > own.cap) << i;
		wrong.floors |= (uint64_t)(due.floor < own.floor) << i;
	}
	wrong.caps &= grouped->caps;
	wrong.floors &= grouped->floors;
	return wrong;
}

size_t grouped_length(const struct policy_match *match, const char *path)
{
	char part[PATH_MAX];
	size_t length = 1;

	if (path[0] != '/' || strlen(path) >= sizeof(part))
		return 0;
	for (;;) {
		memcpy(part, path, length);
		part[length] = '\0';
		if (match->given == POLICY_MATCH_CGROUP ? match_cgroup(match->cgroup, part)
							: match_unit(match->unit, part))
			return length;
		if (!path[length])
			return 0;
		length += path[length] == '/';
		length += strcspn(path + length, "/");
	}
}
