/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Parses the text of one file into a draft: inih splits the lines, this file applies the strict
 * rules.
 */

#include <stddef.h>

#include "config/draft.h"

/* The longest line, without its end, that every build of inih takes whole. */
#define POLICY_LINE_MAX 197

/*
 * Parses size bytes of text, which need not end with a NUL, over draft. file is the name for
 * messages and must live as long as draft. Returns 0; or the negative errno of the first fault with
 * *ret_message, a line for each fault, and an unusable draft.
 */
int policy_parse(struct policy_draft *draft, const char *file, const char *text, size_t size,
		 char **ret_message);

/* Parses a profile's setting over the draft. Returns 0, or a negative errno and *ret_message. */
int policy_parse_setting(struct policy_draft *draft, const struct policy_setting *setting,
			 char **ret_message);
