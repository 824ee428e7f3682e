/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Which tasks match which rules. Facts come in, one thread at a time, when the thread is new or
 * changed; what comes out is whether its matches are others than before. Tasks that match nothing
 * are not kept.
 */

#include <stdio.h>

#include "core/settings.h"
#include "rules/hints.h"
#include "tracer/facts.h"

struct rules;

/*
 * NULL without memory. max_tasks is how many may match at a time. Without rules at first.
 * read_process may be NULL where no rule goes by exe or command.
 */
struct rules *rules_new(uint32_t max_tasks, process_facts_t read_process, void *userdata);
struct rules *rules_free(struct rules *rules);

/*
 * New rules; policy is borrowed until the next ones. Matches stay as they were until each task is
 * taken again: a scan of all is to follow, before anything is decided by the new policy. Counts of
 * rules that keep their name go on.
 */
void rules_set_policy(struct rules *rules, const struct policy *policy);

/* The keys that rules go by, as bits of enum policy_match_key. */
uint32_t rules_keys(const struct rules *rules);

/* One task that matches rules, or did. */
struct rules_task {
	uint32_t pid;
	uint32_t tgid;
	uint64_t start_ns;
	uint64_t matched; /* bit i: rules[i] of the policy; 0: none any more */
	uint64_t before;  /* of it until now; 0: it is new, or had no rules */
	uint64_t cgroup_id;
	bool moved; /* it was in another cgroup until now */
};

/*
 * Takes a task's present facts. Returns whether it matches other rules now: *ret says which; 0 in
 * matched: none any more, and it is forgotten. One for which there is no room is counted.
 */
bool rules_take(struct rules *rules, const struct task_facts *facts, struct rules_task *ret);

/* The task exited. Returns whether it matched rules. */
bool rules_end(struct rules *rules, uint32_t pid);

/*
 * The hints that there are, borrowed. Who changes one has every task taken again, or those of
 * rules_next_rehinted().
 */
struct hints *rules_hints(const struct rules *rules);

/* The hint by which the rule, which stands for a class, is for the task; NULL: it is not. */
const struct hint *rules_hint_of(const struct rules *rules, uint32_t rule, uint32_t pid);

/*
 * A process at or behind *place that has its hint from its parent: true, and *place is the next
 * one. False: there is none left.
 */
bool rules_next_heir(const struct rules *rules, uint32_t *place, struct rules_task *ret,
		     const struct hint **ret_hint);
/* Such a one, before it is taken for the first time: else its parent could be gone by now. */
void rules_add_heir(struct rules *rules, uint32_t pid, uint64_t start_ns, const struct hint *hint);

/*
 * The first task at or behind *place that has another hint than it was taken with, or none any
 * more: true, *ret as of rules_take(), and *place is the next one. False: there is none left.
 */
bool rules_next_rehinted(struct rules *rules, uint32_t *place, struct rules_task *ret);

/*
 * Whether a rule that another waits for has got its first task, or lost its last one, since this
 * was asked last: then all tasks are to be taken again.
 */
bool rules_take_conditions(struct rules *rules);

/* Between these all tasks that there are were taken. */
void rules_begin_scan(struct rules *rules);
/* One that was not: true, and its pid; it is forgotten. False: there is none left, the scan ends.
 */
bool rules_take_missing(struct rules *rules, uint32_t *ret_pid);

/* What a process runs may have changed since the last task was taken: to be called between events.
 */
void rules_expect_change(struct rules *rules);

/*
 * A task that the rule is for, at the place from or behind it: NULL when there is none. *ret_place
 * is where it stands; a place is a task's until the task ends. Borrowed.
 */
const struct rules_task *rules_next_task(const struct rules *rules, uint32_t rule, uint32_t from,
					 uint32_t *ret_place);

/* The task, if it matches anything: NULL else. Borrowed. */
const struct rules_task *rules_find(const struct rules *rules, uint32_t pid);

struct rules_count {
	uint32_t tasks;	  /* that match now */
	uint64_t matches; /* how often a task came to match */
};

struct rules_count rules_count(const struct rules *rules, uint32_t rule);
uint32_t rules_n_tasks(const struct rules *rules);
uint64_t rules_refused(const struct rules *rules);

/* Whether there is room for one that is not known. */
bool rules_are_full(const struct rules *rules);

/* The path of the task's cgroup; NULL: not known. Borrowed until the next task is looked at. */
const char *rules_cgroup_of(struct rules *rules, const struct rules_task *task);

/*
 * Why the i-th rule of the policy is for the task, or is not: a sentence, allocated; NULL without
 * memory. *ret_matches says which of the two.
 */
char *rules_explain(struct rules *rules, uint32_t rule, const struct task_facts *facts,
		    bool *ret_matches);

/* What the rule goes by: "comm = fi*, user = joe". */
void rules_say_match(FILE *out, const struct policy_rule *rule);
