/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The utilisation clamps that tasks get where the kernel's own governor sets the frequency
 * (uclamp). Only changes are handed out, so that an unchanged task costs nothing.
 *
 * A clamp holds on the whole machine, as in the kernel: where rules give different clamps in
 * different domains, the weakest is used.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/topology.h"

#define CLAMP_MIN_NONE 0
#define CLAMP_MAX_NONE TOPOLOGY_CAPACITY_MAX

/* The reason for a task's lower or upper clamp. */
enum clamp_why {
	CLAMP_NONE,	 /* no clamp */
	CLAMP_RULE,	 /* its floor or cap, by a rule */
	CLAMP_BOOST,	 /* its I/O boost */
	CLAMP_NEIGHBOUR, /* it is a short-running co-runner of a capped task: gets that task's cap
			  */
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

/* Names for people: none, rule, io-boost, neighbour, need. Static strings. */
const char *clamp_why_name(enum clamp_why why);
