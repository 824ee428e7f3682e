/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of this folder share. */

#include "core/pid_index.h"
#include "rules/rules.h"
#include "rules/texts.h"

/* The state of a rule besides the policy. */
struct ruled {
	char name[POLICY_NAME_SIZE];
	uint32_t uid;  /* uid of its user, or MATCH_NO_UID */
	int condition; /* the rule that must have a task; -1: no condition */
	struct rules_count count;
};

struct known_task {
	struct rules_task task;
	uint64_t counted; /* rules for which it was counted, by their present numbers */
	uint64_t hint;	  /* id of the hint; 0: none */
	uint32_t scan;	  /* last scan in which it was taken */
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

/* Whether the task was among those of the override when it was last taken. */
bool rules_was_overridden(const struct rules *rules, uint32_t rule, uint32_t pid);

/* Whether the rule's condition holds now. */
bool rules_holds(const struct rules *rules, uint32_t rule);

/* The first key of the rule that does not match the task; 0: the rule matches. */
uint32_t rules_find_mismatch(struct rules *rules, uint32_t rule, const struct task_facts *facts);
