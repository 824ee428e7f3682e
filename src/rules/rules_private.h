/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Shared by the files of this folder. */

#include "config/match.h"
#include "core/pid_index.h"
#include "rules/rules.h"
#include "wakegov/abi.h"

#define CGROUPS_MAX 1024 /* cached; further ones are read again each time */
#define TEXT_SIZE   4096

/*
 * The textual facts of a task: program, command line, cgroup. The path of a cgroup is read once,
 * unless there are too many; the program of a process is read once for consecutive threads of it.
 *
 * Nothing here reads a process's memory, as reading /proc/PID/cmdline does: that takes its mmap
 * lock and may wait for its pages, perhaps in a file system of the process's owner.
 */
struct texts {
	struct {
		uint64_t id; /* 0: free */
		char *path;
	} cgroups[CGROUPS_MAX];
	process_facts_t read_process; /* may be NULL if no rule has exe or command */
	void *userdata;
	uint32_t tgid; /* process of `process`; 0: none was read, or it may have changed */
	struct process_facts process;
	char path[TEXT_SIZE]; /* path of a cgroup that is not cached */
};

/* The state of a rule besides the policy. */
struct ruled {
	char name[POLICY_NAME_SIZE];
	uint32_t uid;  /* uid of its user, or MATCH_NO_UID */
	int condition; /* the rule that must have a task; -1: no condition */
	struct rules_count count;
};

struct known_task {
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
	struct known_task *tasks;
	struct texts texts;
	struct hints *hints;
	struct wakegov_shares hinted; /* threads with a hint, by the uid that gave it */
	uint32_t scan;
	uint32_t scan_place;
	bool conditions_changed;
};

/* match.c: finds the rules of a task. */

/* NULL: the task has no entry. */
struct known_task *rules_find_known(const struct rules *rules, uint32_t pid);

/* The rules that match the task, as bits. hint: from rules_find_hint(). */
uint64_t rules_find_matches(struct rules *rules, const struct task_facts *facts,
			    const struct hint *hint);

/* The task's own hint or the inherited one; NULL: it has none, or there is no room for one. */
const struct hint *rules_find_hint(struct rules *rules, const struct task_facts *facts);

/* The bit of the rule of the hint's class; 0 for NULL. */
uint64_t rules_hint_bit(const struct rules *rules, const struct hint *hint);
