/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What people and programs are given for a while: overrides (override_table.c), and hints, in the
 * table of the rules (rules/hints.h).
 *
 * A grant ends at its time, with its task, when the policy no longer has its rule or class, when it
 * is cancelled, or, as a hint, with the client that holds it. It outlasts a restart of the daemon
 * in a file.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/input.h"
#include "core/settings.h"
#include "core/topology.h"
#include "daemon/module.h"
#include "rules/rules.h"

struct query_peer;
struct subscription;

/*
 * override_table.c: the overrides, by id. The limits of one of a domain are an input of the core.
 * One of a task or of a rule becomes a rule at the end of the policy in force (core/settings.h), so
 * that it behaves as rules do.
 */

#define OVERRIDES_MAX	   64 /* of domains */
#define TASK_OVERRIDES_MAX 32

enum override_end {
	OVERRIDE_HOLDS,
	OVERRIDE_TASK_GONE,
	OVERRIDE_RULE_GONE,
	OVERRIDE_NO_ROOM, /* the policy's rules leave no room for it */
};

struct override {
	uint32_t id;
	uint32_t uid;	 /* user who asked for it */
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	enum override_end ended;
	bool of_domain; /* or of a task or a rule */
	uint32_t domain;
	uint32_t min_khz, max_khz, frozen_khz; /* of a domain; 0: not given */
	struct policy_override target;
	struct policy_properties properties;
	char comm[16]; /* name of the task at first */
};

struct overrides {
	struct override entries[OVERRIDES_MAX + TASK_OVERRIDES_MAX]; /* by id, ascending */
	uint32_t n;
};

#define overrides_each(_overrides, _one)                   \
	for (__auto_type _one = &(_overrides)->entries[0]; \
	     _one < (_overrides)->entries + (_overrides)->n; _one++)

/* Adds one with another id. Returns false when there is no room for more of its kind. */
bool overrides_insert(struct overrides *overrides, const struct override *override);

/* The override or NULL. Borrowed until the table changes. */
struct override *overrides_find(struct overrides *overrides, uint32_t id);
void overrides_remove(struct overrides *overrides, struct override *override);

/* The number of overrides of domains, or of those of tasks and rules. */
uint32_t overrides_count(const struct overrides *overrides, bool of_domain);
/* How many there may be: of domains, or of tasks and rules beside the rules of the policy. */
uint32_t overrides_room(const struct policy *policy, bool of_domain);

/* What those of the domain ask together: the newest that gives a limit gives it. */
struct override_limits overrides_limits(const struct overrides *overrides, uint32_t domain);

/* Marks the overrides that end under this policy; its own overrides do not matter. */
void overrides_check(struct overrides *overrides, const struct policy *policy);

/* Replaces the policy's overrides by those of tasks and rules that have not ended. */
void overrides_fill(const struct overrides *overrides, struct policy *policy);

/*
 * Ends the overrides of a task that has ended; another start_ns means that another task has its
 * pid.
 */
void overrides_end_task(struct overrides *overrides, uint32_t pid, uint64_t start_ns);

/* When the first override ends: 0 when one has already, UINT64_MAX when there is none. */
uint64_t overrides_next_ns(const struct overrides *overrides);

/* grants.c */

extern const struct module grants_module;

struct grants {
	struct core *core;
	struct overrides overrides;
	struct hint_hold *holds;
	uint64_t hints_end_ns; /* when the first hint ends; UINT64_MAX: none ends */
	uint64_t save_ns;      /* when to save hints; UINT64_MAX: the file is up to date */
	bool unsaved;	       /* saving failed, which was logged */
	bool started;	       /* the tables are those of the file, or newer */
};

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
int overrides_add(struct grants *grants, const struct override_request *request, uint32_t *ret_id,
		  const char **ret_wrong);

/* Ends an override. Returns 0, or -ENOENT: there is none with this id. */
int overrides_cancel(struct grants *grants, uint32_t id);

/* Puts all of them into force, at the start. */
void overrides_resume(struct grants *grants);

/* Removes and reports those that are over. */
void overrides_end_over(struct grants *grants, uint64_t now_ns);

/* hinting.c */

struct hint_request {
	uint32_t pid;	   /* a process or one of its threads; 0: the caller itself */
	uint64_t pidfd_id; /* inode number of a pidfd of the process; 0: not known */
	const char *class; /* borrowed */
	int children;	   /* whether its children get the hint; negative: as the class says */
	uint64_t for_us;
	const struct query_peer *peer; /* the caller; borrowed */
};

/*
 * Gives a hint, in place of the task's present one. *ret is borrowed until the next event. Returns
 * 0 or
 *
 *	-ESRCH		there is no such task, or it is not the one of pidfd_id
 *	-EPERM		it is another user's, or another user gave it the hint that it has
 *	-EOPNOTSUPP	it is a kernel thread
 *	-ENODATA	the policy has no such class
 *	-EBUSY		a client holds the one that it has, and the caller may not change that
 *	-EDQUOT		the user has as many as one may have
 *	-ENOSPC		there is no room for one more, or for its class beside the policy's rules
 */
int hinting_give(struct grants *grants, const struct hint_request *request, struct hint **ret);

/* Ends the task's own hint. Returns as above, or -ENOENT: it has none. */
int hinting_end(struct grants *grants, const struct hint_request *request);

/*
 * Makes the hint last until the client ends the subscription, which is made here. Returns 0, or
 * -ENOMEM with the hint ended.
 */
int hinting_hold(struct grants *grants, struct hint *hint, struct subscription *subscription);

/* Hints were added, changed or removed: the rules of classes follow, and the tasks. */
void hinting_apply(struct grants *grants);

/* Removes the hints that are over: by their time, or as no task has them any more. */
void hinting_end_over(struct grants *grants, uint64_t now_ns);
/* Frees what is left of clients that held a hint. */
void hinting_free_unsubscribed(struct grants *grants);

/*
 * grant_file.c: the grants in force, in DIRECTORY/grants (see shared/statefile.h). A line of an
 * override begins with its id, the user who gave it, and its end on CLOCK_MONOTONIC in nanoseconds:
 *
 *	domain 3 0 5214000000000 policy0 1200000 0 0	min, max, frozen kHz
 *	task 4 0 5214000000000 30% - off 50us 812 5040000000 1 make
 *	rule 5 0 5214000000000 30% - - - backup
 *
 * For a task or a rule, the cap, the floor, the I/O boost and the idle latency follow, each as in a
 * policy, - where it is not given; then a rule's name, or a task's pid, start, whether its children
 * are included, and its name.
 *
 *	hint PID IS_THREAD CHILDREN ANY_USER UID BY_UID START_NS SINCE_NS END_NS CLASS COMM
 *	heir PID START_NS PID_OF_HINT
 *
 * A hint that a client holds is left out: it ends with the daemon. Processes that inherited a hint
 * are saved too, as their parents may be gone at the next start.
 */

#define GRANT_FILE "grants"

struct grant_tables {
	const struct topology *topology;
	struct overrides *overrides;
	struct rules *rules; /* with the hints */
};

/* Writes the tables, or removes the file when they are empty. 0 or a negative errno. */
int grant_file_save(const char *directory, const struct grant_tables *tables);

/*
 * Fills empty tables with what has not ended at now_ns, overrides only of domains that exist.
 * Returns 0, also without a file, or a negative errno as statefile_open() does, with all of them
 * empty.
 */
int grant_file_load(const char *directory, uint64_t now_ns, const struct grant_tables *ret);

/* The tables of the daemon. */
struct grant_tables grants_tables(struct grants *grants);

/* Saves all grants, at once, or together with what else changes within a second. */
void grants_save(struct grants *grants);
void grants_save_soon(struct grants *grants);
