/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which caps and floors can be those of a cgroup as a whole, in place of each of its tasks. A group
 * limits all that is in it, whatever other rules say of a task: so it can be only
 *
 *	for a rule that goes by cgroup or by unit and by nothing else, in every domain and at any
 *	time,
 *	as long as no task that it is for is to have more than its cap or less than its floor.
 */

#include <stddef.h>

#include "core/settings.h"
#include "core/topology.h"

/* Bit i: rules[i] of the policy. */
struct grouped {
	uint64_t caps;
	uint64_t floors;
};

/* The rules whose form allows it, and that give a cap or a floor. */
struct grouped grouped_find(const struct policy *policy, const struct topology *topology);

/*
 * Those of them that would be wrong for a task that matches these rules, because the first that
 * gives it the property gives it more freedom.
 */
struct grouped grouped_find_wrong(const struct grouped *grouped, const struct policy *policy,
				  const struct topology *topology, uint64_t matched);

/*
 * The cgroup that such a rule means, of a task in path: the length of its part of path, which is
 * the shortest that matches. 1: the root. 0: the rule does not match.
 */
size_t grouped_length(const struct policy_match *match, const char *path);
