/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Finds the rules that each task matches. The caller passes the facts of one thread at a time, when
 * it is new or changed, and learns whether its matches have changed. Tasks without matches are not
 * stored.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/pid_index.h"
#include "core/rule.h"
#include "core/settings.h"
#include "core/topology.h"
#include "wakegov/abi.h"

struct match_shown;

/* One task that matches rules, or did. */
struct rules_task {
	uint32_t pid;
	uint32_t tgid;
	uint64_t start_ns;
	uint64_t matched; /* bit i: rules[i] of the policy; 0: no match any more */
	uint64_t before;  /* the same before; 0: new, or without matches */
	uint64_t cgroup_id;
	uint32_t ends; /* as in its facts */
};

struct rules_count {
	uint32_t tasks;	  /* tasks that match now */
	uint64_t matches; /* number of times that a task began to match */
};

#define RULES_CGROUPS_MAX 1024 /* cached; further ones are read again each time */
#define RULES_TEXT_SIZE	  4096

/*
 * The textual facts of a task: program, command line, cgroup. The path of a cgroup is read once,
 * unless there are too many; the program of a process is read once for consecutive threads of it.
 *
 * Nothing here reads a process's memory, as reading /proc/PID/cmdline does: that takes its mmap
 * lock and may wait for its pages, perhaps in a file system of the process's owner.
 */
struct rules_texts {
	struct {
		uint64_t id; /* 0: free */
		char *path;
	} cgroups[RULES_CGROUPS_MAX];
	process_facts_t read_process; /* may be NULL if no rule has exe or command */
	void *userdata;
	uint32_t tgid; /* process of `process`; 0: none was read, or it may have changed */
	struct process_facts process;
	char path[RULES_TEXT_SIZE]; /* path of a cgroup that is not cached */
};

/* The state of a rule besides the policy. */
struct ruled {
	char name[POLICY_NAME_SIZE];
	uint32_t uid;  /* uid of its user, or MATCH_NO_UID */
	int condition; /* the rule that must have a task; -1: no condition */
	struct rules_count count;
};

struct rules_known {
	struct rules_task task;
	uint64_t counted;   /* rules that counted it, by their present numbers */
	uint64_t hint;	    /* id of the hint; 0: none … */
	uint32_t hinted_by; /* … and the uid that gave it */
	uint32_t scan;	    /* the last scan that updated it */
};

struct rules {
	const struct policy *policy; /* NULL: no rules yet */
	struct ruled ruled[POLICY_RULES_MAX];
	struct pid_index *index;
	struct rules_known *tasks;
	struct rules_texts texts;
	struct hints *hints;	      /* after changing one, every task is updated, or those of
					 rules_next_rehinted() */
	struct wakegov_shares hinted; /* threads with a hint, by the uid that gave it */
	uint32_t scan;
	uint32_t scan_place;
	bool conditions_changed;
};

/*
 * max_tasks is the number of tasks that may match at a time. There are no rules at first.
 * read_process may be NULL if no rule has exe or command. Returns NULL without memory.
 */
struct rules *rules_new(uint32_t max_tasks, process_facts_t read_process, void *userdata);
struct rules *rules_free(struct rules *rules);

/*
 * Sets new rules; policy is borrowed until the next ones. A task keeps its matches until it is
 * updated: the caller scans all tasks before the new policy decides anything. Rules that keep their
 * name keep their counts.
 */
void rules_set_policy(struct rules *rules, const struct policy *policy);

/* The keys that the rules use, as bits of enum policy_match_key. */
uint32_t rules_keys(const struct rules *rules);

/*
 * Compares the rules with a task's present facts. Returns whether its matches changed, with *ret;
 * if matched is 0, the task is dropped. A task for which there is no room is counted.
 */
bool rules_update(struct rules *rules, const struct task_facts *facts, struct rules_task *ret);

/* The task exited. Returns whether it matched rules. */
bool rules_end(struct rules *rules, uint32_t pid);

/* The hint by which the rule of a class matches the task; NULL: it does not match. */
const struct hint *rules_hint_of(const struct rules *rules, uint32_t rule, uint32_t pid);

/*
 * The next process at or behind *place that inherited its hint: returns true, with *place behind
 * it, or false when there is no more.
 */
bool rules_next_heir(const struct rules *rules, uint32_t *place, struct rules_task *ret,
		     const struct hint **ret_hint);
/* Gives such a process its hint again after a restart, as its parent may be gone. */
void rules_add_heir(struct rules *rules, uint32_t pid, uint64_t start_ns, const struct hint *hint);

/*
 * The next task at or behind *place whose hint has changed since its last update: returns true with
 * *ret as of rules_update() and *place behind it, or false when there is no more.
 */
bool rules_next_rehinted(struct rules *rules, uint32_t *place, struct rules_task *ret);

/*
 * Whether a rule that is a condition got its first task or lost its last since the last call: then
 * all tasks must be updated.
 */
bool rules_pop_conditions(struct rules *rules);

/* Begins a scan: the caller updates all present tasks, and then calls rules_pop_missing(). */
void rules_begin_scan(struct rules *rules);
/*
 * Drops a task that the scan did not update: returns true and its pid, or false when there is no
 * more and the scan has ended.
 */
bool rules_pop_missing(struct rules *rules, uint32_t *ret_pid);

/* Call this between events: the program of a process may have changed since the last update. */
void rules_expect_change(struct rules *rules);

/*
 * The first task at or behind the place `from` that matches the rule, or NULL. *ret_place is its
 * place, which it keeps until it ends. Borrowed.
 */
const struct rules_task *rules_next_task(const struct rules *rules, uint32_t rule, uint32_t from,
					 uint32_t *ret_place);

/* The task if it matches any rule, or NULL. Borrowed. */
const struct rules_task *rules_find(const struct rules *rules, uint32_t pid);

/* match.c: whether a rule matches the task, and why. */
struct rules_explanation {
	bool matches;
	bool holds;		 /* the rule's own condition */
	bool is_met;		 /* the task's part */
	uint32_t keys;		 /* the conditions that are met, or the first that is not */
	const struct hint *hint; /* the task's, if the rule is of its class; borrowed */
	bool is_inherited;	 /* from the task that started it */
};

void rules_explain(struct rules *rules, uint32_t rule, const struct task_facts *facts,
		   struct rules_explanation *ret);

/* One of the conditions. */
void rules_show(struct rules *rules, uint32_t rule, uint32_t key, const struct task_facts *facts,
		struct match_shown *ret);

/*
 * check.c: warnings about valid but doubtful rules. The rules are applied. Each warning is a line,
 * given once: "FILE:LINE: [rule NAME] …", with the line of the key that it is about, or of the
 * section.
 *
 * Warns of each rule that can never match, is never reached, gives nothing, has a second rule of
 * its name, a cap below the lowest OPP or a floor above the cap. topology is NULL for a policy that
 * is only checked, without the machine. Returns the number of rules and patterns that can never
 * match on any machine, or not by unit and cgroup on this one.
 */
uint32_t rules_check(const struct policy *policy, const struct topology *topology,
		     void (*warn)(void *userdata, const char *line), void *userdata);

/*
 * Finds a domain where the task's floor is above its cap, from two rules: returns the index of the
 * rule with the floor, or -1. *ret_cap is the rule with the cap. The cap wins.
 */
int rules_find_crossed(const struct policy *policy, const struct topology *topology,
		       uint64_t matched, uint32_t *ret_cap);

/*
 * Hints: the class that a program gave a process or a thread. A table of fixed size, by thread id:
 * each task has at most one of its own, which its children may inherit.
 *
 * Each class with a hint becomes a rule behind those of the policy, so that a hint only gives what
 * no rule of the administrator does.
 */

#define HINTS_MAX 16384

struct hint {
	uint64_t id;	/* unique; 0: none */
	uint32_t pid;	/* a process with all its threads, or … */
	bool is_thread; /* … one thread */
	bool children;	/* its children inherit the hint */
	bool any_user;	/* … also when their user changes, as for a setuid program */
	bool held;	/* it ends with its client, not with its tasks */
	uint32_t uid;	/* effective user of the task when the hint was given */
	uint32_t by_uid;
	uint64_t start_ns; /* start of the task, since boot */
	uint64_t since_ns; /* since boot: children that started before do not inherit it */
	uint64_t end_ns;   /* CLOCK_MONOTONIC; UINT64_MAX: no end */
	uint32_t n_tasks;  /* number of threads with the hint now; rules.c counts them */
	char class[POLICY_NAME_SIZE];
	char comm[TASK_COMM_SIZE]; /* name of the task at that time */
};

struct hints {
	struct pid_index *index;
	struct hint *entries;
	uint64_t given;	  /* number of hints ever given */
	uint64_t refused; /* threads whose hint found no place: rules.c counts them */
	bool has_unused;  /* set when the last task of a hint exits; the caller clears it */
};

/* NULL without memory. Unused entries take none. */
struct hints *hints_new(void);
struct hints *hints_free(struct hints *hints);

/*
 * Adds a hint for a task without one, and sets its id. NULL when the table is full. Borrowed until
 * it is removed.
 */
struct hint *hints_add(struct hints *hints, const struct hint *hint);
void hints_remove(struct hints *hints, struct hint *hint);

/* The task's own hint; NULL: it has none. Borrowed. */
struct hint *hints_find(const struct hints *hints, uint32_t pid);
/* The hint, or NULL when it has ended. Borrowed. */
struct hint *hints_find_id(const struct hints *hints, uint64_t id);
/* Walks them: NULL gives the first, NULL is returned after the last. */
struct hint *hints_next(const struct hints *hints, const struct hint *after);

/* The number of hints that the user gave. */
uint32_t hints_count_of(const struct hints *hints, uint32_t uid);

/*
 * The hint of a task: its own, its process's, or `inherited`, the id of its parent's or its former
 * one (0: none). NULL: none. Borrowed.
 */
struct hint *hints_of(const struct hints *hints, const struct task_facts *facts,
		      uint64_t inherited);

/* The rule of the class, as an index; -1: none. */
int hints_rule(const struct policy *policy, const char *class);

/*
 * Replaces the rules of hinted classes, which follow those of the policy. Leaves out classes that
 * do not exist or find no room. Returns whether the rules changed.
 */
bool hints_fill(const struct hints *hints, struct policy *policy);

/* match.c: finds the rules of a task. */

/* NULL: the task has no entry. */
struct rules_known *rules_find_known(const struct rules *rules, uint32_t pid);

/* The rules that match the task, as bits. hint: from rules_find_hint(). */
uint64_t rules_find_matches(struct rules *rules, const struct task_facts *facts,
			    const struct hint *hint);

/* The task's own hint or the inherited one; NULL: it has none, or there is no room for one. */
const struct hint *rules_find_hint(struct rules *rules, const struct task_facts *facts);

/* The bit of the rule of the hint's class; 0 for NULL. */
uint64_t rules_hint_bit(const struct rules *rules, const struct hint *hint);
