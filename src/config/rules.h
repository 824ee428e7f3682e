/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The sections [rule NAME] and [class NAME]. A later file's section of the same name continues the
 * rule or class, key by key; its place in the order is that of the first. A second [rule NAME] in
 * one file is parsed and left out, and the first remembers its line (again_line).
 */

#include "config/section.h"

/* Whether name, from between the brackets, is one of these sections. */
bool policy_rules_is_section(const char *name);

/* Opens the section. Returns 0, or a negative errno and *ret_message. */
int policy_rules_open(struct policy_sections *sections, struct policy_draft *draft,
		      struct policy_place place, const char *name, char **ret_message);

/* Takes a key of the open section. Returns as policy_assign(). */
int policy_rules_assign(struct policy_sections *sections, struct policy_place place,
			const char *name, const char *text, char **ret_message);

/* The rule with this name; NULL: there is none. */
struct policy_rule *policy_rules_find(struct policy *policy, const char *name);

/*
 * Gives each rule the properties of its class that it does not have. Returns 0, or -EINVAL and adds
 * to *ret_message a line for each missing class.
 */
int policy_rules_finish(struct policy *policy, char **ret_message);

/* The i-th key of a rule, in the order of the manual page; NULL past the last. */
const char *policy_rules_key(size_t i);
