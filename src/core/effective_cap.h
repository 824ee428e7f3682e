/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "core/domain.h"

struct engine;

/* The caps and floors of the tasks at work in a domain. The highest of each wins. */
struct effective_cap {
	struct clamp_at_work bound; /* the effective cap: the most that its CPUs may ask for */
	struct clamp_at_work long_running; /* the highest of long-running tasks, capped or not */
	struct clamp_at_work capped; /* the highest cap of capped tasks, long-running or not */
	struct clamp_at_work floor;
	uint32_t lowest_cap;
};

void effective_cap_find(const struct engine *engine, uint32_t domain, uint64_t now_ns,
			struct effective_cap *ret);
/* Stores the new effective cap, and the task that raised it if one did. */
void effective_cap_set(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns);
/* For the end of a decision: sets what the kernel side watches for, and when to decide again. */
void effective_cap_watch(const struct engine *engine, struct domain *domain,
			 const struct effective_cap *cap);
void effective_cap_plan(struct domain *domain, const struct effective_cap *cap, uint64_t now_ns);
