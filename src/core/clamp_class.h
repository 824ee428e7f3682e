/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * A clamp class holds the tasks that match the same rules with a cap or a floor and ask for the
 * same clamps themselves. The kernel side sees only its number. Class 0 has the tasks with neither.
 *
 * A task's own clamps narrow those of the rules, as in the kernel: the higher floor and the lower
 * cap hold, and the cap wins where they cross. Any task may ask for any clamp, so own clamps are
 * rounded up to multiples of 64 of 1024, and classes with own clamps cannot take the places of the
 * rules' classes.
 *
 * A rule may give a response time instead of a floor. The kernel side measures the 90th percentile
 * of the bursts at full capacity, and reports changes; the floor is
 *
 *	floor = 1024 · length at full capacity / response
 *
 * and a 16th more, as only a length that is greater by more than that is reported.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/settings.h"
#include "core/topology.h"

#define CLAMP_CLASSES_MAX     64
#define CLAMP_CLASSES_OWN_MAX 32 /* classes with own clamps of tasks */
#define CLAMP_CAP_NONE	      UINT32_MAX
#define CLAMP_BY_GROUP	      (-2) /* in place of a rule's index */

struct clamp_classes {
	uint64_t clamping; /* bit i: rules[i] gives a cap or a floor */
	bool follows_own;  /* own clamps of tasks count */
	uint64_t matched[CLAMP_CLASSES_MAX];
	uint32_t own[CLAMP_CLASSES_MAX];      /* wakegov_own() */
	uint64_t burst_ns[CLAMP_CLASSES_MAX]; /* at full capacity; 0: not known or not needed */
	uint32_t n;			      /* 1 when no task has a clamp */
	uint32_t n_own;
	/* tasks without room for their class: they get that of their rules alone, or class 0 */
	uint64_t refused;
	uint32_t epoch;	  /* incremented when the numbers get new meanings */
	uint32_t version; /* incremented on every change of a class */
};

/* Leaves class 0 only, for the rules of this policy. Begins a new epoch. */
void clamp_classes_reset(struct clamp_classes *classes, const struct policy *policy);

/* The class of tasks with these rules and own clamps, a new one if need be. */
uint32_t clamp_classes_find_or_add(struct clamp_classes *classes, uint64_t matched, uint32_t own);

/*
 * The clamps of a class in a domain. The floor is never above the cap: an override's floor raises a
 * rule's cap, every other floor is lowered to the cap.
 */
struct class_clamp {
	uint32_t cap;	  /* 0…1024; CLAMP_CAP_NONE: none */
	uint32_t floor;	  /* 0: none */
	int32_t cap_rule; /* index; -1: an own clamp of the task; or CLAMP_BY_GROUP */
	int32_t floor_rule;
	uint32_t response_us; /* the response time of floor_rule; 0: none */
};

/*
 * The capacity at which bursts of that length at full capacity take no longer than the response
 * time; above 1024 where no frequency is high enough, 0 where the length is not known. Accepts any
 * two numbers.
 */
uint64_t clamp_response_cap(uint64_t burst_ns, uint32_t response_us);

/* Narrows the clamps of rules by a task's own: wakegov_own(). */
void clamp_merge_own(uint32_t own, struct class_clamp *clamp);

void clamp_classes_in(const struct clamp_classes *classes, const struct policy *policy,
		      uint32_t class, const struct topology_domain *domain,
		      struct class_clamp *ret);

/*
 * The clamps of tasks with these rules and burst lengths where domains cannot be distinguished: the
 * weakest of all domains.
 */
void clamp_of_rules(const struct policy *policy, uint64_t matched, uint64_t burst_ns,
		    const struct topology *topology, struct class_clamp *ret);

/*
 * The utilisation clamps that tasks get where the kernel's own governor sets the frequency
 * (uclamp). Only changes are handed out, so that an unchanged task costs nothing.
 *
 * A clamp holds on the whole machine, as in the kernel: where rules give different clamps in
 * different domains, the weakest is used.
 */
#define CLAMP_MIN_NONE 0
#define CLAMP_MAX_NONE TOPOLOGY_CAPACITY_MAX

/* The reason for a task's lower or upper clamp. */
enum clamp_why {
	CLAMP_NONE,	 /* no clamp */
	CLAMP_RULE,	 /* its floor or cap, by a rule */
	CLAMP_BOOST,	 /* its I/O boost */
	CLAMP_NEIGHBOUR, /* it is a short-running co-runner of a capped task: gets that task's cap
			  */
	CLAMP_CHAIN,	 /* it is of a chain that does not fit a little CPU */
	CLAMP_WAITED,	 /* its pieces are waited for: it keeps a minimum while it sleeps */
	CLAMP_NEED,	 /* its I/O gains nothing from more than its domain needs without boosts */
};

/* min_cap is never above max_cap. If both are none, the task gets its own clamps back. */
struct task_clamp {
	uint32_t pid; /* thread id; it may have exited meanwhile */
	uint32_t min_cap;
	uint32_t max_cap;
	enum clamp_why min_why;
	enum clamp_why max_why;
	int32_t min_rule; /* CLAMP_RULE: index into the policy's rules; else -1 */
	int32_t max_rule; /* the same; CLAMP_NEIGHBOUR: the rule of the capped task */
};

/* Names for people: none, rule, io-boost, neighbour, chain, waited, need. Static strings. */
extern const char *const clamp_why_names[];
