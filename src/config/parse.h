/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* One file's text into a draft: inih splits the lines, this holds it to the strict rules. */

#include <stddef.h>

#include "config/draft.h"

/* The longest line, without its end: what every build of inih takes in whole. */
#define POLICY_LINE_MAX 197

/*
 * Parses size bytes of text, which need not end in NUL, over draft. file is the name for messages
 * and must live as long as draft. Returns 0; or the negative errno of the first fault with
 * *ret_message, a line for each fault, and draft is then of no use.
 */
int policy_parse(struct policy_draft *draft, const char *file, const char *text, size_t size,
		 char **ret_message);

/* A profile's setting over the draft. Returns 0, or a negative errno and *ret_message. */
int policy_parse_setting(struct policy_draft *draft, const struct policy_setting *setting,
			 char **ret_message);
