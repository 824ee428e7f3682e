/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The table of the keys of [rule NAME], and of [class NAME], which has some of them. */

#include <stdbool.h>
#include <stddef.h>

#include "core/settings.h"

struct policy_rule_key {
	const char *name;
	const char *expected; /* for messages: what the value must be */
	/* Parses text into the rule; a class is parsed as a rule's properties. 0 or -EINVAL. */
	int (*store)(struct policy_rule *rule, const char *text);
	enum {
		POLICY_KEY_OF_RULE,
		POLICY_KEY_OF_BOTH,
		POLICY_KEY_OF_CLASS,
	} is_for;
	bool is_list; /* words or patterns divided by blanks */
	bool is_level;
};

/* All keys, in the order of the manual page; fewer than POLICY_KEYS_MAX. */
const struct policy_rule_key *policy_rule_keys_get(size_t *ret_n);
/* NULL if there is no such key. */
const struct policy_rule_key *policy_rule_keys_find(const char *name);

/*
 * The names of scheduling policies, one for each used bit of policy_match.schedulers; NULL for the
 * others and past the last. Static strings.
 */
#define POLICY_SCHEDULERS 8
const char *policy_scheduler_name(uint32_t scheduler);

/*
 * Takes the next pattern, shorter than POLICY_PATTERN_SIZE, off *list, whose patterns are divided
 * by blanks without a backslash before them: "steam wine*". False: none is left.
 */
bool policy_patterns_next(const char **list, char ret[static POLICY_PATTERN_SIZE]);
