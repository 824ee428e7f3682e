/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * One cpufreq policy domain: from the demand that won its merge to the OPP.
 *
 *	want = clamp(demand, policy min/max, scaling_min/max) → next OPP at or above
 *
 * A rise waits for the rate limit only. A fall waits until less was wanted for down_hold. A limit
 * below the present target takes effect at once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/clamp_class.h"
#include "core/decision.h"
#include "core/input.h"
#include "core/settings.h"
#include "core/topology.h"

/* The result of the merge over the CPUs and tasks of a domain. */
struct demand {
	uint32_t cap;	       /* after the caps of tasks … */
	uint32_t uncapped_cap; /* … and before */
	uint32_t floor_cap;    /* the highest of boosts, floors and chains, whatever won; 0: none */
	uint32_t own_cap;      /* what its CPUs ask for by their own utilisation */
	enum reason reason;
	uint32_t cpu; /* CPU of the demand */
	uint32_t pid; /* task of the demand, else 0 */
	const char *comm;
	int32_t rule;		/* rule whose floor it is, or to whose cap it was cut; -1: none */
	uint32_t capped_pid;	/* task of that cap; 0: not cut */
	uint64_t idle_since_ns; /* since when every CPU is idle; UINT64_MAX: one is running */
	bool is_waited_for;	/* it is a chain's that is waited for */
	struct explanation *explanation; /* notes every contender; NULL: no explanation is wanted */
};

/* The cap or floor of a task at work. */
struct clamp_at_work {
	uint32_t cap; /* 0…1024, or CLAMP_CAP_NONE */
	uint32_t cpu;
	uint32_t pid;
	int32_t rule;	   /* index; -1: none gave it */
	uint64_t until_ns; /* end, unless the task runs again; 0: none */
};

struct domain {
	/* Read in each round: kept together, so that a pass over a thousand domains is short. */
	bool active; /* decisions are made for it: neither offline nor taken over by another program
		      */
	bool driven; /* decisions are written */
	bool clamps; /* driven by the clamps of its tasks: core/clamp_class.h */
	bool due;
	bool falls_at_once; /* an experiment took a boost away, or what was waited for is done: the
			     * next fall is not held */
	uint32_t trial;	    /* group whose experiment has the domain, + 1; 0: none */
	uint64_t next_ns;   /* when to decide again without an event; UINT64_MAX: never */

	uint32_t first_cpu; /* first of its CPUs in struct engine; ENGINE_NO_CPU: none */
	uint32_t scaling_min_khz;
	uint32_t scaling_max_khz;
	uint32_t effective_cap;	    /* at the last decision; CLAMP_CAP_NONE: none */
	uint32_t floor_khz;	    /* of boosts and floors, at the last decision; 0: none */
	struct clamp_at_work uncap; /* the task that raised it; it gets its whole cap at once */
	uint64_t watch_ran;	    /* clamp classes, as bits: see struct engine_band */
	uint64_t watch_long_running;
	uint64_t changed_ns;	 /* time of the last change of the target */
	uint64_t lower_since_ns; /* since when a lower OPP is wanted; 0: it is not */
	uint64_t full_since_ns;	 /* at the last decision: domain_full_since_ns() */
	uint64_t less_since_ns;	 /* since when it takes less; 0: it does not */
	uint64_t chain_gap_ns;	 /* between the last looks at a chain that stays */
	struct decision last;

	/* Decisions change none of the following. */
	struct policy_domain policy;
	struct topology_domain info;
};

/* info is copied. */
void domain_init(struct domain *domain, uint32_t index, const struct topology_domain *info);

/* Least time between two changes: the policy's, never below twice the transition latency. */
uint64_t domain_rate_limit_ns(const struct domain *domain);

/* The effective limits: the policy's, within scaling_min/max; min is never above max. */
void domain_limits(const struct domain *domain, uint32_t *ret_min_khz, uint32_t *ret_max_khz);

/*
 * Since when its own utilisation takes the highest OPP, but for moments; 0: it does not. A domain
 * with less to do is perhaps not decided for again.
 */
uint64_t domain_full_since_ns(const struct domain *domain, uint64_t now_ns);

/* Adds the limits to the explanation. */
void domain_explain(const struct domain *domain, struct explanation *ret);

/* Decides at now_ns; sets domain->last and domain->next_ns. */
void domain_decide(struct domain *domain, const struct demand *demand, uint64_t now_ns);
