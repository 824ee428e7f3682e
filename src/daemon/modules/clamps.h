/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Clamps where the kernel's governor drives: of tasks, and of cgroups where that is right. Its row
 * also sends the clamp classes to the kernel side, before the tasks that have them.
 */

#include "actuator/uclamp_groups.h"
#include "actuator/uclamps.h"
#include "daemon/module.h"

#define GROUPING_SEEN	  256
#define GROUPING_LEFT_MAX 64  /* with more, the rule is clamped by no cgroup */
#define GROUPING_WHY_SIZE 384 /* for cap and floor */

struct grouping {
	bool active;	   /* a domain is driven by clamps */
	struct grouped by; /* rules that are clamped by group, but for groups left out */
	bool reapply;	   /* clamps of tasks must be applied again */
	struct grouping_seen {
		uint64_t cgroup_id;
		uint64_t matched;
	} seen[GROUPING_SEEN]; /* groups done: nothing to do for a task in it that matches these
				  rules */
	struct grouping_left {
		uint32_t rule;
		enum uclamp_group_end end;
		uint64_t inode; /* of the cgroup's directory */
	} left[GROUPING_LEFT_MAX];
	uint32_t n_left;
	char why_not[POLICY_RULES_MAX][GROUPING_WHY_SIZE]; /* the reason for the first group of each
							      rule that was left out */
};

struct clamps {
	struct core *core;
	struct uclamps *tasks;
	uint64_t n_escapes;	  /* of tasks that set their clamps above their cap */
	uint64_t escaped_ns;	  /* when a task last did so */
	uint32_t classes_version; /* of the clamp classes that the tracer has */
	struct uclamp_groups *groups;
	struct grouping grouping;
};

extern const struct module clamps_module;

/*
 * cgroup_clamps.c: clamps of whole cgroups, where rules/cgroups.c allows it, domains are driven by
 * clamps, and the kernel has the files. A group is found by its tasks: a group that is created
 * again is clamped as soon as it has a task. If a group cannot be clamped, its tasks get the clamp
 * themselves until the next reload; this is logged for the first group of each rule's cap and
 * floor.
 */

/* Returns 0 or a negative errno. */
int grouping_start(struct clamps *clamps);
/* Restores the cgroups' own clamps. */
void grouping_release(struct clamps *clamps);

/* The policy has changed: all tasks follow. */
void grouping_set_policy(struct clamps *clamps);

/* Takes a task that matches rules: clamps its group if need be. */
void grouping_take_task(struct clamps *clamps, const struct rules_task *task);

/* Checks whether domains are driven by clamps. If they are from now on, all tasks are scanned. */
void grouping_follow(struct clamps *clamps);

/* Whether a cgroup has the rule's cap or floor now; whether the task's own has it. */
bool grouping_has_rule(const struct clamps *clamps, uint32_t rule);
bool grouping_covers(const struct clamps *clamps, uint32_t pid, enum uclamp_group_end end,
		     uint32_t rule);
