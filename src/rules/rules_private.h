/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of this folder share. */

#include "core/pid_index.h"
#include "rules/rules.h"
#include "rules/texts.h"

/* What there is about a rule besides the policy. */
struct ruled {
	char name[POLICY_NAME_SIZE];
	uint32_t uid;  /* of its user; MATCH_NO_UID */
	int condition; /* the rule that has a task while this one holds; -1: it holds at any time */
	struct rules_count count;
};

struct known_task {
	struct rules_task task;
	uint64_t counted; /* what it matched, as the rules are numbered now */
	uint64_t hint;	  /* its id; 0: it has none */
	uint32_t scan;	  /* the last one that it was seen in */
};

struct rules {
	const struct policy *policy; /* NULL: no rules yet */
	struct ruled ruled[POLICY_RULES_MAX];
	struct pid_index *index;
	struct known_task *tasks;
	struct texts *texts;
	struct hints *hints;
	uint32_t scan;
	uint32_t scan_place;
	bool conditions_changed;
};

/* Whether the task was, when it was last taken, among those that the override is for. */
bool rules_was_overridden(const struct rules *rules, uint32_t rule, uint32_t pid);

/* Whether the rule holds now, for whomever it is. */
bool rules_holds(const struct rules *rules, uint32_t rule);

/* The first key of the rule that does not hold for the task; 0: the rule matches. */
uint32_t rules_find_mismatch(struct rules *rules, uint32_t rule, const struct task_facts *facts);
