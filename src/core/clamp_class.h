/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamp sets: tasks that match the same rules with a cap or a floor, and ask for the same clamps
 * themselves, are one class, so that the kernel side has a small number for what it need not
 * understand. Set 0 are the tasks that have neither.
 *
 * What a task asks for itself narrows what rules give it, as the kernel does it: the higher floor
 * and the lower cap hold, and the cap wins where they cross. Anybody may ask for anything, so what
 * is asked for is rounded up to 64 of 1024, and such sets never take the room of the rules'.
 *
 * A rule may say how long bursts may take instead of a floor. The kernel side learns how long they
 * are at full capacity, nine of ten of them, and what is told of that makes the floor:
 *
 *	floor = 1024 · length at full capacity / response
 *
 * and a 16th more, since it tells of what is longer by more than that.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/settings.h"
#include "core/topology.h"

#define CLAMP_CLASSES_MAX     64
#define CLAMP_CLASSES_OWN_MAX 32 /* with clamps of the tasks' own */
#define CLAMP_CAP_NONE	      UINT32_MAX

struct clamp_classes {
	uint64_t clamping; /* bit i: rules[i] gives a cap or a floor */
	bool follows_own;  /* what tasks ask for themselves counts */
	uint64_t matched[CLAMP_CLASSES_MAX];
	uint32_t own[CLAMP_CLASSES_MAX]; /* wakegov/own.h */
	uint64_t
		burst_ns[CLAMP_CLASSES_MAX]; /* at full capacity; 0: not known, or of no interest */
	uint32_t n;			     /* 1 when no task has a clamp */
	uint32_t n_own;
	/* tasks whose class would be one too many: they are in that of their rules, or in class 0
	 */
	uint64_t refused;
	uint32_t epoch;	  /* one more: the numbers mean others */
	uint32_t version; /* one more: something about them changed */
};

/* No class but 0, for the rules of this policy. Begins a new epoch. */
void clamp_classes_reset(struct clamp_classes *classes, const struct policy *policy);

/* The class of tasks that match these rules and ask for this, a new one if need be. */
uint32_t clamp_classes_take(struct clamp_classes *classes, uint64_t matched, uint32_t own);

/*
 * What a class means in a domain. The floor is never above the cap: an override's floor raises a
 * rule's cap, and any other floor gives way.
 */
struct class_clamp {
	uint32_t cap;	  /* 0…1024; CLAMP_CAP_NONE: none */
	uint32_t floor;	  /* 0: none */
	int32_t cap_rule; /* index; -1: none, the task asks for it */
	int32_t floor_rule;
	uint32_t response_us; /* what floor_rule asks of bursts; 0: nothing */
};

/*
 * The capacity by which bursts of that length at full capacity take no longer than the response;
 * above 1024 where no frequency is high enough, 0 where they are not known. Any two numbers do.
 */
uint64_t clamp_response_cap(uint64_t burst_ns, uint32_t response_us);

/* Narrows what rules give by what tasks ask for themselves: wakegov/own.h. */
void clamp_merge_own(uint32_t own, struct class_clamp *clamp);

void clamp_classes_in(const struct clamp_classes *classes, const struct policy *policy,
		      uint32_t class, const struct topology_domain *domain,
		      struct class_clamp *ret);

/*
 * What tasks that match these rules, with bursts of that length, are given where domains cannot be
 * told apart: the weakest of what it is in each.
 */
void clamp_of_rules(const struct policy *policy, uint64_t matched, uint64_t burst_ns,
		    const struct topology *topology, struct class_clamp *ret);
