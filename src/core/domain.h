/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * One cpufreq policy domain: from the demand that won its merge to the OPP that it is to run at.
 *
 *	want = clamp(demand, override or policy min/max, scaling_min/max) → next OPP at or above
 *
 * Up is urgent and waits for the rate limit only. Down waits until less was wanted for down_hold.
 * A limit that forbids the present target is obeyed without the hold.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/clamp_class.h"
#include "core/decision.h"
#include "core/explanation.h"
#include "core/override.h"
#include "core/settings.h"
#include "core/topology.h"

/* What the merge over the CPUs and tasks of a domain found. */
struct demand {
	uint32_t cap;	       /* after the caps of tasks … */
	uint32_t uncapped_cap; /* … and before */
	enum reason reason;
	uint32_t cpu; /* whose demand it is */
	uint32_t pid; /* of a task that asks for it, else 0 */
	const char *comm;
	int32_t rule;		/* whose floor it is, or whose cap it was cut down to; -1: none */
	uint32_t capped_pid;	/* the task of that cap; 0: it was not cut down */
	uint64_t idle_since_ns; /* since when every CPU is idle; UINT64_MAX: one is running */
	struct explanation
		*explanation; /* where all who ask are noted; NULL: nobody wants to know */
};

/* A cap or a floor of a task that is at work. */
struct clamp_at_work {
	uint32_t cap; /* 0…1024, or CLAMP_CAP_NONE */
	uint32_t cpu;
	uint32_t pid;
	int32_t rule;	   /* index; -1: none gave it */
	uint64_t until_ns; /* unless it runs again; 0: there is none */
};

struct domain {
	/* Looked at in each round: beside each other, so that a thousand domains are soon done. */
	bool active; /* decided for: neither offline nor somebody else's */
	bool driven; /* what is decided is written */
	bool clamps; /* by the clamps of its tasks: core/clamp.h */
	bool due;
	bool falls_at_once; /* an experiment took a boost away: the next fall is not held */
	uint32_t trial;	    /* the group whose experiment has it, + 1; 0: none */
	uint64_t next_ns;   /* when to decide again though nothing happens; UINT64_MAX: never */

	uint32_t first_cpu; /* of its CPUs in struct engine; ENGINE_NO_CPU: it has none */
	uint32_t scaling_min_khz;
	uint32_t scaling_max_khz;
	uint32_t effective_cap;	    /* as of the last decision; CLAMP_CAP_NONE: none */
	struct clamp_at_work uncap; /* the task that raised it, and gets its whole cap at once */
	uint64_t watch_ran;	    /* clamp classes, as bits: see struct engine_band */
	uint64_t watch_long_running;
	uint64_t changed_ns;	 /* of the last change of the target */
	uint64_t lower_since_ns; /* since when less is wanted; 0: it is not */
	struct decision last;

	/* From here on no decision changes anything. */
	struct override_limits override;
	struct policy_domain policy;
	struct topology_domain info;
};

/* info is copied. */
void domain_init(struct domain *domain, uint32_t index, const struct topology_domain *info);

/* Least time between two changes: the policy's, never below twice the transition latency. */
uint64_t domain_rate_limit_ns(const struct domain *domain);

/* The effective limits: policy, overrides, both within scaling_min/max; min never above max. */
void domain_limits(const struct domain *domain, uint32_t *ret_min_khz, uint32_t *ret_max_khz);

/* The clamps, into the explanation. */
void domain_explain(const struct domain *domain, struct explanation *ret);

/* Decides at now_ns; sets domain->last and domain->next_ns. */
void domain_decide(struct domain *domain, const struct demand *demand, uint64_t now_ns);
