/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Gives and ends overrides: of domains, which the core keeps (core/override.h), and of tasks and
 * rules (override_table.c), each of which is a change of the policy in force. An override ends at
 * its time, with its task, or by a reload without its rule. It outlasts a restart of the daemon.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/override.h"
#include "core/settings.h"
#include "core/topology.h"
#include "daemon/module.h"

extern const struct module overrides_module;
struct overrides;

/* overrides.c */

/*
 * A request for an override: at least one limit, and one of domain, pid and rule. kHz: 0 is not
 * given. Levels are as in a policy, NULL: not given.
 */
struct override_request {
	const char *domain;
	uint32_t pid;
	const char *rule;
	bool children; /* for a task: include its later children */
	uint32_t min_khz;
	uint32_t max_khz;
	bool freeze; /* at its present OPP */
	const char *floor;
	const char *cap;
	const char *io_boost;
	const char *idle_latency;
	uint32_t uid; /* user who asks for it */
	uint64_t for_us;
};

/*
 * Adds an override and sets its id. Returns 0; -ENODEV: no such domain; -ESRCH: no such task;
 * -ENOENT: no such rule; -ENOSPC; -EINVAL, with the invalid parameter in *ret_wrong.
 */
int overrides_add(struct overrides *overrides, const struct override_request *request,
		  uint32_t *ret_id, const char **ret_wrong);

/* Ends an override. Returns 0, or -ENOENT: there is none with this id. */
int overrides_cancel(struct overrides *overrides, uint32_t id);

/*
 * override_table.c: the overrides of tasks and of rules, a table of fixed size, whose entries
 * become rules at the end of the policy in force (core/settings.h), so that they behave as rules
 * do.
 */

#define TASK_OVERRIDES_MAX 32

enum task_override_end {
	TASK_OVERRIDE_HOLDS,
	TASK_OVERRIDE_TASK_GONE,
	TASK_OVERRIDE_RULE_GONE,
	TASK_OVERRIDE_NO_ROOM, /* the policy's rules leave no room for it */
};

struct task_override {
	struct policy_override target;
	struct policy_properties properties;
	char comm[16];	 /* name of the task at first */
	uint32_t uid;	 /* user who asked for it */
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	enum task_override_end ended;
};

struct task_overrides {
	struct task_override entries[TASK_OVERRIDES_MAX]; /* by id, ascending */
	uint32_t n;
};

struct overrides {
	struct core *core;
	struct task_overrides tasks;
	bool unsaved; /* saving failed, which was logged */
};

/* Adds one whose id is above all others. Returns false when the table is full. */
bool task_overrides_add(struct task_overrides *overrides, const struct task_override *override);

/* The override or NULL. Borrowed until the table changes. */
struct task_override *task_overrides_find(struct task_overrides *overrides, uint32_t id);
void task_overrides_remove(struct task_overrides *overrides, struct task_override *override);

/* The number of overrides that fit beside the rules of the policy. */
uint32_t task_overrides_room(const struct policy *policy);

/* Marks the overrides that end under this policy; its own overrides do not matter. */
void task_overrides_check(struct task_overrides *overrides, const struct policy *policy);

/* Replaces the policy's overrides by those in the table that have not ended. */
void task_overrides_fill(const struct task_overrides *overrides, struct policy *policy);

/*
 * Ends the overrides of a task that has ended; another start_ns means that another task has its
 * pid.
 */
void task_overrides_end_task(struct task_overrides *overrides, uint32_t pid, uint64_t start_ns);

/* When the first override ends: 0 when one has already, UINT64_MAX when there is none. */
uint64_t task_overrides_next_ns(const struct task_overrides *overrides);

/*
 * The overrides in force, in DIRECTORY/overrides (see shared/statefile.h). Each line begins with
 * the override's id, the user who gave it, and its end on CLOCK_MONOTONIC in nanoseconds:
 *
 *	domain 3 0 5214000000000 policy0 1200000 0 0	min, max, frozen kHz
 *	task 4 0 5214000000000 2 30 0 0 0 0 812 5040000000 1 make
 *	rule 5 0 5214000000000 2 30 0 0 0 0 backup
 *
 * For a task or a rule, the cap, the floor and the I/O boost follow, each as kind and value (see
 * core/settings.h); then a rule's name, or a task's pid, start, whether its children are included,
 * and its name.
 */

#define OVERRIDE_FILE "overrides"

/* Writes the tables, or removes the file when they are empty. 0 or a negative errno. */
int override_file_save(const char *directory, const struct topology *topology,
		       const struct override_table *table, const struct task_overrides *overrides);

/*
 * Fills *ret with the overrides of existing domains that have not ended at now_ns, and
 * *ret_overrides with those of tasks and rules; none without a file. Returns 0, or a negative errno
 * as statefile_open() does, with both empty.
 */
int override_file_load(const char *directory, const struct topology *topology, uint64_t now_ns,
		       struct override_table *ret, struct task_overrides *ret_overrides);
