/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What clamps tasks are to carry where the kernel's own governor sets the clock (uclamp): only what
 * changed is handed out, so that a task that stays as it is costs nothing.
 *
 * A clamp is of the whole machine, as the kernel's is: where rules say different things for
 * different domains, the weakest of them is given.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/topology.h"

#define CLAMP_MIN_NONE 0
#define CLAMP_MAX_NONE TOPOLOGY_CAPACITY_MAX

/* What a task has its lower or its upper clamp from. */
enum clamp_why {
	CLAMP_NONE,	 /* it has none */
	CLAMP_RULE,	 /* its own floor or cap, by a rule */
	CLAMP_BOOST,	 /* its I/O boost */
	CLAMP_NEIGHBOUR, /* it runs for short beside a capped task: that one's cap */
};

/* min_cap is never above max_cap. Where both are none, the task is to be as it was before. */
struct task_clamp {
	uint32_t pid; /* thread id; it may have exited meanwhile */
	uint32_t min_cap;
	uint32_t max_cap;
	enum clamp_why min_why;
	enum clamp_why max_why;
	int32_t min_rule; /* CLAMP_RULE: index into the policy's rules; else -1 */
	int32_t max_rule; /* likewise; CLAMP_NEIGHBOUR: of the capped task */
};

/* The names that people read: none, rule, io-boost, neighbour. Static strings. */
const char *clamp_why_name(enum clamp_why why);
