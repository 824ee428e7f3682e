/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamp sets: tasks that match the same rules with a cap or a floor are one set, so that the kernel
 * side has a small number for what it need not understand. Set 0 are the tasks that have neither.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/policy.h"
#include "core/topology.h"

#define CLAMP_SETS_MAX 64
#define CLAMP_CAP_NONE UINT32_MAX

struct clamp_sets {
	uint64_t clamping; /* bit i: rules[i] gives a cap or a floor */
	uint64_t matched[CLAMP_SETS_MAX];
	uint32_t n;	  /* 1 when no task has a clamp */
	uint64_t refused; /* tasks whose set would be one too many: they are in set 0 */
	uint32_t epoch;	  /* one more: the numbers mean others */
	uint32_t version; /* one more: something about them changed */
};

/* No set but 0, for the rules of this policy. Begins a new epoch. */
void clamp_sets_reset(struct clamp_sets *sets, const struct policy *policy);

/* The set of tasks that match these rules, a new one if need be. */
uint32_t clamp_sets_take(struct clamp_sets *sets, uint64_t matched);

/*
 * What a set means in a domain. The floor is never above the cap: a lease's floor lifts a rule's
 * cap, and any other floor gives way.
 */
struct set_clamp {
	uint32_t cap;	  /* 0…1024; CLAMP_CAP_NONE: none */
	uint32_t floor;	  /* 0: none */
	int32_t cap_rule; /* index; -1: none */
	int32_t floor_rule;
};

void clamp_sets_in(const struct clamp_sets *sets, const struct policy *policy, uint32_t set,
		   const struct topology_domain *domain, struct set_clamp *ret);

/*
 * What tasks that match these rules have where domains cannot be told apart: the weakest of what it
 * is in each.
 */
void clamp_of_rules(const struct policy *policy, uint64_t matched, const struct topology *topology,
		    struct set_clamp *ret);
