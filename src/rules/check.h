/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Warnings about valid but doubtful rules. The rules are applied; each warning is given once, with
 * the rule's file and line.
 */

#include "core/settings.h"
#include "core/topology.h"

typedef void (*rules_warn_t)(void *userdata, const struct policy_rule *rule, const char *what);

/*
 * Warns of each rule that can never match, is never reached, gives nothing, has a second rule of
 * its name, a cap below the lowest OPP or a floor above the cap. topology is NULL where the machine
 * is not to be asked: for a policy that is only checked.
 */
void rules_check(const struct policy *policy, const struct topology *topology, rules_warn_t warn,
		 void *userdata);

/*
 * A task has its cap from one rule and its floor from another, in some domain: the index of the one
 * whose floor is above the other's cap there, or -1. *ret_cap is the other. The cap wins.
 */
int rules_find_crossed(const struct policy *policy, const struct topology *topology,
		       uint64_t matched, uint32_t *ret_cap);
