/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The sections of one file: which one is open, and which came before. */

#include <string.h>

#include "config/draft.h"

struct policy_sections {
	bool is_open;
	bool is_refused; /* the open section has a fault; its keys are ignored */
	enum policy_section current;
	uint32_t domain_section; /* of POLICY_SECTION_DOMAIN, or POLICY_NO_DOMAIN_SECTION */

	/* The open section if it is of these kinds, in the draft; all NULL: it is another. */
	struct policy_rule *rule;
	struct policy_class *class;
	struct policy_profile *profile;
	bool has_powers;	     /* the open section has an opp-power already */
	struct policy_rule left_out; /* a second [rule NAME] is parsed into this */

	/* The line that gave each, 0: none; keys are those of the open section. */
	unsigned int section_lines[POLICY_SECTIONS];
	unsigned int domain_section_lines[POLICY_DOMAIN_SECTIONS_MAX];
	unsigned int rule_lines[POLICY_RULES_MAX];
	unsigned int class_lines[POLICY_CLASSES_MAX];
	unsigned int profile_lines[POLICY_PROFILES_MAX];
	unsigned int key_lines[POLICY_KEYS_MAX];
};

/* Another section is open now, without keys so far. */
static inline void policy_section_begin(struct policy_sections *sections)
{
	memset(sections->key_lines, 0, sizeof(sections->key_lines));
	sections->rule = NULL;
	sections->class = NULL;
	sections->profile = NULL;
	sections->has_powers = false;
	sections->is_open = true;
}

/*
 * Opens the section that header names, a line that starts with '[' and has no blanks around it.
 * [domain policyN] gets its place in draft. Returns 0, or a negative errno and *ret_message.
 */
int policy_section_open(struct policy_sections *sections, struct policy_draft *draft,
			struct policy_place place, const char *header, char **ret_message);
