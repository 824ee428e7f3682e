/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The cgroups of the unified hierarchy, and the rules whose caps and floors can be set on a cgroup
 * as a whole.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/settings.h"
#include "core/topology.h"

bool cgroups_have_path(const char *path);

/*
 * Whether the unit has a directory in the hierarchy. True without a hierarchy, as it is not known
 * then.
 */
bool cgroups_have_unit(const char *unit);

/*
 * A clamp of a cgroup limits every task in it, whatever other rules give the task. So it can take
 * the place of clamps of the tasks only
 *
 *	for a rule whose only condition is cgroup or unit, in every domain and at any time,
 *	as long as no task that it matches gets a higher cap or a lower floor from another rule.
 */

/* Bit i: rules[i] of the policy. */
struct grouped {
	uint64_t caps;
	uint64_t floors;
};

/* The rules whose form allows it and that give a cap or a floor. */
struct grouped grouped_find(const struct policy *policy, const struct topology *topology);

/*
 * Those of them that would restrict a task that matches these rules too much, because the first
 * rule that gives it the property gives a wider clamp.
 */
struct grouped grouped_find_wrong(const struct grouped *grouped, const struct policy *policy,
				  const struct topology *topology, uint64_t matched);

/*
 * The cgroup that such a rule names, for a task in path: the length of its part of path, the
 * shortest that matches. 1: the root. 0: the rule does not match.
 */
size_t grouped_length(const struct policy_match *match, const char *path);
